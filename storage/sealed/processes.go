package sealed

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

const linkToken kind = "link of a process"

// Processes returns a store that seals the tokens of participants' links. A process can be read and updated even if a
// token does not open: the link is returned without the token, and an update of the process leaves the stored token
// unchanged, until the link is replaced or used up.
func Processes(store portal.Store, keys *Keys) portal.Store { return processStore{store, keys} }

type processStore struct {
	store portal.Store
	keys  *Keys
}

var _ portal.Store = processStore{}

func (s processStore) CreateProcess(ctx context.Context, p portal.Process) error {
	return s.store.CreateProcess(ctx, s.seal(p))
}

func (s processStore) UpdateProcess(ctx context.Context, p portal.Process) error {
	p = s.seal(p)
	if slices.ContainsFunc(p.Participants, lacksToken) {
		stored, err := s.store.Process(ctx, p.ID)
		if err != nil {
			return err
		}
		restoreTokens(p, stored)
	}
	return s.store.UpdateProcess(ctx, p)
}

func (s processStore) DeleteProcess(ctx context.Context, id string) error {
	return s.store.DeleteProcess(ctx, id)
}

func (s processStore) Process(ctx context.Context, id string) (portal.Process, error) {
	return s.openResult(s.store.Process(ctx, id))
}

func (s processStore) ProcessByLink(ctx context.Context, hash []byte) (portal.Process, error) {
	return s.openResult(s.store.ProcessByLink(ctx, hash))
}

func (s processStore) Waiting(ctx context.Context, account string, after time.Time, limit int) ([]portal.Process, error) {
	list, err := s.store.Waiting(ctx, account, after, limit)
	return s.openAll(list), err
}

func (s processStore) Unopened(ctx context.Context, until time.Time, limit int) ([]portal.Process, error) {
	list, err := s.store.Unopened(ctx, until, limit)
	return s.openAll(list), err
}

func (s processStore) ListProcesses(ctx context.Context, of portal.Listing, after portal.Position, limit int) ([]portal.Process, error) {
	list, err := s.store.ListProcesses(ctx, of, after, limit)
	return s.openAll(list), err
}

func (s processStore) Overdue(ctx context.Context, account string, before time.Time) iter.Seq2[portal.Process, error] {
	return func(yield func(portal.Process, error) bool) {
		for p, err := range s.store.Overdue(ctx, account, before) {
			if !yield(s.openResult(p, err)) {
				return
			}
		}
	}
}

func (s processStore) Ended(ctx context.Context, before time.Time, limit int) ([]portal.Process, error) {
	list, err := s.store.Ended(ctx, before, limit)
	return s.openAll(list), err
}

func (s processStore) CreateKey(ctx context.Context, k portal.Key) error {
	return s.store.CreateKey(ctx, k)
}

func (s processStore) UpdateKey(ctx context.Context, k portal.Key) error {
	return s.store.UpdateKey(ctx, k)
}

func (s processStore) Key(ctx context.Context, client, value string) (portal.Key, error) {
	return s.store.Key(ctx, client, value)
}

func (s processStore) DeleteKey(ctx context.Context, client, value string) error {
	return s.store.DeleteKey(ctx, client, value)
}

func (s processStore) DeleteKeys(ctx context.Context, until time.Time, limit int) (int, error) {
	return s.store.DeleteKeys(ctx, until, limit)
}

// seal returns the process as it is stored.
func (s processStore) seal(p portal.Process) portal.Process {
	return mapTokens(p, func(link string, token []byte) []byte { return s.keys.seal(linkToken, link, token) })
}

func (s processStore) openResult(p portal.Process, err error) (portal.Process, error) {
	if err != nil {
		return p, err
	}
	return s.open(p), nil
}

// open returns the process with its tokens in clear, without those that do not open.
func (s processStore) open(p portal.Process) portal.Process {
	return mapTokens(p, func(link string, token []byte) []byte {
		token, _ = s.keys.open(linkToken, link, token)
		return token
	})
}

func (s processStore) openAll(list []portal.Process) []portal.Process {
	for i, p := range list {
		list[i] = s.open(p)
	}
	return list
}

// mapTokens returns a copy of the process in which f was applied to each token.
func mapTokens(p portal.Process, f func(link string, token []byte) []byte) portal.Process {
	p.Participants = slices.Clone(p.Participants)
	for i := range p.Participants {
		one := &p.Participants[i]
		one.Link.Token = f(linkID(p, *one), one.Link.Token)
	}
	return p
}

// linkID returns the ID that the token of a participant's link is bound to.
func linkID(p portal.Process, one portal.Participant) string { return p.ID + "/" + one.ID }

// lacksToken reports whether a participant has a link whose token did not open.
func lacksToken(one portal.Participant) bool {
	return len(one.Link.Hash) > 0 && len(one.Link.Token) == 0
}

// restoreTokens copies the tokens that did not open from the stored process to the same links of p.
func restoreTokens(p, stored portal.Process) {
	for i := range p.Participants {
		one := &p.Participants[i]
		at := slices.IndexFunc(stored.Participants, func(old portal.Participant) bool {
			return old.ID == one.ID && bytes.Equal(old.Link.Hash, one.Link.Hash)
		})
		if lacksToken(*one) && at >= 0 {
			one.Link.Token = stored.Participants[at].Link.Token
		}
	}
}

// ResealProcesses seals the tokens of the processes in list with the first key, where they are sealed
// with another key, and returns for how many processes it did. store is the backend's store, and list has all of
// its processes with links that were not opened. It returns an error for a sealed token that does not open, since the key
// that sealed it is needed for as long as the link is valid. A token that is not sealed is reported and stays as it is.
//
// Several servers may call it at the same time, and while other servers are running: each process is resealed in a
// transaction of its own.
func ResealProcesses(ctx context.Context, tx storage.Transactor, store portal.Store, list iter.Seq2[portal.Process, error], keys *Keys) (n int, err error) {
	s := processStore{store, keys}
	for p, err := range list {
		if err != nil {
			return n, resealProcessesError(err)
		}
		if s.isCurrent(p) {
			continue
		}
		err := tx.InTx(ctx, func(ctx context.Context) error {
			p, err := s.store.Process(ctx, p.ID) // again, in the transaction
			if err != nil {
				return err
			}
			if p, err = s.reseal(p); err != nil {
				return err
			}
			return s.store.UpdateProcess(ctx, p)
		})
		if errors.Is(err, storage.ErrNotFound) || errors.Is(err, errNothingToSeal) {
			continue // deleted meanwhile, sealed by another server, or reported
		}
		if err != nil {
			return n, resealProcessesError(err)
		}
		n++
	}
	return n, nil
}

// errNothingToSeal: no token of a process opens with another key than the first.
var errNothingToSeal = errors.New("sealed: no token to seal again")

// reseal returns a process as it is stored, with its tokens sealed with the first key, but for those that are not sealed
// at all. The error is that of the first other token that does not open, or errNothingToSeal.
func (s processStore) reseal(p portal.Process) (portal.Process, error) {
	var failed error
	changed := false
	p = mapTokens(p, func(link string, stored []byte) []byte {
		token, err := s.keys.open(linkToken, link, stored)
		switch {
		case err != nil && !errors.Is(err, ErrPlain):
			failed = cmp.Or(failed, err)
			return stored
		case err != nil || s.keys.isCurrent(stored):
			return stored
		}
		changed = true
		return s.keys.seal(linkToken, link, token)
	})
	if failed == nil && !changed {
		failed = errNothingToSeal
	}
	return p, failed
}

func resealProcessesError(err error) error {
	return fmt.Errorf("encrypting the links of processes with the first master key: %w", err)
}

// isCurrent reports whether all tokens of a process are sealed with the first key.
func (s processStore) isCurrent(p portal.Process) bool {
	for _, one := range p.Participants {
		if !s.keys.isCurrent(one.Link.Token) {
			return false
		}
	}
	return true
}

const pageRecord kind = "record of the signing page"

// Pages returns a store that seals the values of the signing page's records.
func Pages(store storage.Records, keys *Keys) storage.Records { return pageStore{store, keys} }

type pageStore struct {
	store storage.Records
	keys  *Keys
}

var _ storage.Records = pageStore{}

func (s pageStore) PutRecord(ctx context.Context, r storage.Record) error {
	r.Value = s.keys.seal(pageRecord, hex.EncodeToString(r.Key), r.Value)
	return s.store.PutRecord(ctx, r)
}

// Record returns storage.ErrNotFound also if none of the keys opens the value. The visitor then logs in again, and
// can sign although a key is missing.
func (s pageStore) Record(ctx context.Context, key []byte) (storage.Record, error) {
	r, err := s.store.Record(ctx, key)
	if err != nil {
		return r, err
	}
	if r.Value, err = s.keys.open(pageRecord, hex.EncodeToString(r.Key), r.Value); err != nil {
		return storage.Record{}, storage.ErrNotFound
	}
	return r, nil
}

func (s pageStore) DeleteRecord(ctx context.Context, key []byte) error {
	return s.store.DeleteRecord(ctx, key)
}

func (s pageStore) DeleteRecords(ctx context.Context, until time.Time, limit int) (int, error) {
	return s.store.DeleteRecords(ctx, until, limit)
}
