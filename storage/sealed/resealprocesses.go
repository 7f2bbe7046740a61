package sealed

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

// ResealProcesses seals with the first key the tokens of the processes in a list, as far as they are
// sealed with another, or not at all, and says of how many processes. store is the backend's own, and
// the list has all of its processes with links that were not opened. Of one that does not open it is
// the error: what another key sealed needs that key for as long as its link is valid.
//
// Several servers may do it at once, and while others serve: each process takes a transaction.
func ResealProcesses(ctx context.Context, tx storage.Transactor, store portal.Store, list iter.Seq2[portal.Process, error], keys *Keys) (n int, err error) {
	s := processes{store, keys}
	for p, err := range list {
		if err != nil {
			return n, resealing(err)
		}
		if s.current(p) {
			continue
		}
		err := tx.InTx(ctx, func(ctx context.Context) error {
			now, err := s.store.Process(ctx, p.ID)
			if err == nil {
				err = s.allOpen(now)
			}
			if err != nil {
				return err
			}
			return s.store.UpdateProcess(ctx, s.sealed(s.open(now)))
		})
		if errors.Is(err, storage.ErrNotFound) {
			continue // it was deleted meanwhile
		}
		if err != nil {
			return n, resealing(err)
		}
		n++
	}
	return n, nil
}

func resealing(err error) error {
	return fmt.Errorf("sealing the links of processes with the first master key: %w", err)
}

// allOpen is nil if all tokens of a process open.
func (s processes) allOpen(p portal.Process) error {
	for _, one := range p.Participants {
		if _, err := s.keys.open(linkToken, linkOf(p, one), one.Link.Token); err != nil {
			return err
		}
	}
	return nil
}

// current says whether all tokens of a process are as the first key would seal them.
func (s processes) current(p portal.Process) bool {
	for _, one := range p.Participants {
		if !s.keys.current(one.Link.Token) {
			return false
		}
	}
	return true
}
