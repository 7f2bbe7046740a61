package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/innsigli/innsigli/internal/durable"
	"github.com/innsigli/innsigli/storage/bolt"
)

type backupCommand struct {
	storeFlag
	Out string `short:"o" required:"" placeholder:"FILE" help:"File to write. The documents of a store with a folder of them go to the folder FILE.documents. What is there is not overwritten."`
}

func (backupCommand) Help() string {
	return "The copy is the store as it was at one moment, and can be used in its place, with the master key of the store, OLD.key: --store bolt:FILE --master-key-file OLD.key. It works while a server runs, and holds up nobody. Secrets in it are sealed: keep a copy of the master key, too, at another place. A database is copied with pg_dump.\n\nExample: innsigli backup --store bolt:innsigli.db -o innsigli-2026-06-17.db"
}

// documentsSuffix is what the folder of documents has behind the name of a backup.
const documentsSuffix = ".documents"

func (c backupCommand) Run(ctx context.Context, s streams) error {
	in, err := parseStore(c.Store)
	if err != nil {
		return err
	}
	if in.inPostgres() {
		return fmt.Errorf("%w: a database is copied with pg_dump, such as: pg_dump --format=custom --file=%s innsigli", errUsage, c.Out)
	}
	for _, path := range []string{c.Out, c.Out + documentsSuffix} {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is there already, and is not overwritten", path)
		}
	}
	return withOperator(ctx, c.Store, func(o operator) error { return c.copy(ctx, s, o) })
}

// copy copies the file to its folder and gives it its name when all is there.
func (c backupCommand) copy(ctx context.Context, s streams, o operator) error {
	documents, release, err := o.Hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	if documents != "" { // which fails when another backup has made it
		if err := os.Mkdir(c.Out+documentsSuffix, 0o700); err != nil {
			return fmt.Errorf("copying the store to %s: %w", c.Out, err)
		}
	}
	temporary := fmt.Sprintf("%s.%s.tmp", c.Out, rand.Text())
	defer os.Remove(temporary)
	size, err := c.copyFile(ctx, s, o, temporary)
	if err == nil && documents != "" {
		_, err = bolt.CopyDocuments(ctx, temporary, documents, c.Out+documentsSuffix)
	}
	if err == nil {
		err = durable.Rename(temporary, c.Out)
	}
	if err != nil {
		if documents != "" {
			os.RemoveAll(c.Out + documentsSuffix)
		}
		return fmt.Errorf("copying the store to %s: %w", c.Out, err)
	}
	fmt.Fprintf(s.talk, "Wrote %s (%d bytes)", c.Out, size)
	if documents != "" {
		fmt.Fprintf(s.talk, " and the documents in %s", c.Out+documentsSuffix)
	}
	fmt.Fprintln(s.talk, ". Keep the master key, too, at another place.")
	return nil
}

func (c backupCommand) copyFile(ctx context.Context, s streams, o operator, path string) (size int64, err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	shown := newProgress(s.talk, "bytes")
	err = o.Backup(ctx, writing{ctx, file, func(n int) { size += int64(n); shown.show(size) }})
	shown.end()
	return size, errors.Join(err, file.Sync(), file.Close())
}

// writing tells how much is written, and ends with its context.
type writing struct {
	ctx context.Context
	io.Writer
	wrote func(n int)
}

func (w writing) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := w.Writer.Write(p)
	w.wrote(n)
	return n, err
}

// bolt is the store of a command or server that has a file.
func (d direct) bolt() *bolt.DB { return d.db.(*bolt.DB) }

// Hold implements [operator].
func (d direct) Hold(context.Context) (documents string, release func(), err error) {
	if d.documents != "" { // seen from the folder of whoever asks
		if documents, err = filepath.Abs(d.documents); err != nil {
			return "", nil, err
		}
	}
	return documents, d.bolt().HoldDeletions(), nil
}

// Backup implements [operator].
func (d direct) Backup(_ context.Context, w io.Writer) error {
	b, err := d.bolt().Backup()
	if err != nil {
		return err
	}
	_, err = b.WriteTo(w)
	return errors.Join(err, b.Close())
}

// Hold implements [operator]: for as long as the connection lasts.
func (c socketClient) Hold(ctx context.Context) (documents string, release func(), err error) {
	response, err := c.post(ctx, "hold", nothing{})
	if err != nil {
		return "", nil, err
	}
	if err := json.NewDecoder(response.Body).Decode(&documents); err != nil {
		response.Body.Close()
		return "", nil, err
	}
	return documents, func() { response.Body.Close() }, nil
}

// Backup implements [operator].
func (c socketClient) Backup(ctx context.Context, w io.Writer) error {
	response, err := c.post(ctx, "backup", nothing{})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(w, response.Body) // the length is announced: less is an error
	return err
}
