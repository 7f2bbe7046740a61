package main

import (
	"context"
	"crypto"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// files keeps documents as files in a folder. How long each is, and whether it is kept, is in records, which join the
// transactions of the server; a file may have bytes beyond its length, of a transaction that was rolled back.
type files struct {
	folder  string
	tx      storage.Transactor
	records storage.Records
}

type record struct {
	Size int64
	Kept bool
}

func (f files) path(id string) string { return filepath.Join(f.folder, id) }

func (f files) read(ctx context.Context, id string) (r record, err error) {
	stored, err := f.records.Record(ctx, []byte("document "+id))
	if err == nil {
		err = json.Unmarshal(stored.Value, &r)
	}
	return r, err
}

// change reads a record that is to be changed, which takes a transaction.
func (f files) change(ctx context.Context, id string) (record, error) {
	if err := f.Delete(ctx, ""); err != nil { // no document has this ID: outside of a transaction it is storage.ErrNoTx, else nothing
		return record{}, err
	}
	return f.read(ctx, id)
}

func (f files) write(ctx context.Context, id string, r record) error {
	value, err := json.Marshal(r)
	return errors.Join(err, f.records.PutRecord(ctx, storage.Record{Key: []byte("document " + id), Value: value, Expires: time.Now().AddDate(100, 0, 0)}))
}

func (f files) Create(ctx context.Context, r io.Reader, limit int64, hashes ...crypto.Hash) (ref storage.Ref, err error) {
	ref.ID = rand.Text()
	if i := slices.IndexFunc(hashes, func(h crypto.Hash) bool { return !h.Available() }); i >= 0 {
		return ref, fmt.Errorf("there is no hash %v", hashes[i])
	}
	if err := f.tx.InTx(ctx, func(ctx context.Context) error { return f.write(ctx, ref.ID, record{}) }); err != nil {
		return ref, err
	}
	file, err := os.OpenFile(f.path(ref.ID), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return ref, err
	}
	writers, states := []io.Writer{file}, []hash.Hash{}
	for _, h := range hashes {
		states = append(states, h.New())
		writers = append(writers, states[len(states)-1])
	}
	if ref.Size, err = io.CopyN(io.MultiWriter(writers...), bounded{ctx, r}, max(limit, limit+1)); err == io.EOF {
		err = nil
	}
	if err == nil && ref.Size > limit {
		err = storage.ErrTooLarge
	}
	for _, s := range states {
		ref.Sums = append(ref.Sums, s.Sum(nil))
	}
	if stored := errors.Join(file.Sync(), file.Close(), f.syncFolder()); err == nil {
		err = stored
	}
	if err == nil {
		err = f.tx.InTx(ctx, func(ctx context.Context) error {
			if _, err := f.read(ctx, ref.ID); err != nil { // Sweep may have removed it
				return err
			}
			return f.write(ctx, ref.ID, record{Size: ref.Size})
		})
	}
	if err != nil {
		_ = f.tx.InTx(context.WithoutCancel(ctx), func(ctx context.Context) error { return f.Delete(ctx, ref.ID) })
		os.Remove(f.path(ref.ID)) // else Sweep does
		return storage.Ref{}, err // as it is
	}
	return ref, nil
}

// syncFolder makes the name of a new file durable.
func (f files) syncFolder() error {
	folder, err := os.Open(f.folder)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

func (f files) Keep(ctx context.Context, id string) error {
	r, err := f.change(ctx, id)
	if err != nil {
		return err
	}
	return f.write(ctx, id, record{r.Size, true})
}

// bounded ends with its context, and gives up a reader that delivers nothing.
type bounded struct {
	ctx context.Context
	r   io.Reader
}

func (b bounded) Read(p []byte) (int, error) {
	for range 100 {
		if err := b.ctx.Err(); err != nil {
			return 0, err
		}
		if n, err := b.r.Read(p); n > 0 || err != nil {
			return n, err
		}
	}
	return 0, io.ErrNoProgress
}

// blob is an open document, of which nothing is read once it was deleted.
type blob struct {
	*os.File
	of   files
	id   string
	size int64
}

func (b blob) Size() int64 { return b.size }

func (b blob) Hashed() []storage.Midstate { return nil }

func (b blob) ReadAt(p []byte, offset int64) (int, error) {
	if _, err := b.of.read(context.Background(), b.id); err != nil {
		return 0, err
	}
	if offset < 0 {
		return 0, errors.New("the offset is negative")
	}
	return io.NewSectionReader(b.File, 0, b.size).ReadAt(p, offset)
}

func (f files) Open(ctx context.Context, id string) (storage.Blob, error) {
	r, err := f.read(ctx, id)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(f.path(id))
	if err != nil {
		return nil, err
	}
	return blob{file, f, id, r.Size}, nil
}

func (f files) Append(ctx context.Context, id string, revisions ...storage.Revision) error {
	r, err := f.change(ctx, id)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(f.path(id), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	for _, one := range revisions {
		if one.Base != r.Size {
			return storage.ErrMoved
		}
		if _, err := file.WriteAt(one.Bytes, one.Base); err != nil {
			return err
		}
		r.Size += int64(len(one.Bytes))
	}
	return errors.Join(file.Sync(), f.write(ctx, id, r))
}

// Delete leaves the file to Sweep: the transaction may yet be rolled back.
func (f files) Delete(ctx context.Context, id string) error {
	return f.records.DeleteRecord(ctx, []byte("document "+id))
}

func (f files) Sweep(ctx context.Context, before time.Time) (n int, err error) {
	entries, err := os.ReadDir(f.folder)
	for _, e := range entries {
		if info, infoErr := e.Info(); infoErr != nil || !info.ModTime().Before(before) {
			continue
		}
		remove, unkept := false, false
		sweepErr := f.tx.InTx(ctx, func(ctx context.Context) error { // in which no other transaction keeps it
			r, err := f.read(ctx, e.Name())
			if errors.Is(err, storage.ErrNotFound) { // it was deleted
				remove = true
				return nil
			}
			if err != nil || r.Kept {
				return err
			}
			remove, unkept = true, true
			return f.Delete(ctx, e.Name())
		})
		if sweepErr == nil && remove {
			sweepErr = os.Remove(f.path(e.Name()))
		}
		if sweepErr == nil && unkept {
			n++
		}
		err = errors.Join(err, sweepErr)
	}
	return n, err
}
