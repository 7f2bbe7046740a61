package signing_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/queue"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"
)

// cramped has room for records and none for what a signature appends.
type cramped struct{ *bolt.DB }

func (d cramped) Documents() storage.Documents { return crampedDocuments{d.DB.Documents()} }

type crampedDocuments struct{ storage.Documents }

func (crampedDocuments) Append(context.Context, string, ...storage.Revision) error {
	return fmt.Errorf("%w: test", storage.ErrFull)
}

// What finds no room is not tried again and again: each try asks a timestamp authority.
func TestAFullStoreIsNotPressed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPhone(t)
		var asked atomic.Int64
		s := onStore(t, cramped{newStore(t)}, p, signing.Options{IgnoreInterval: true, Sources: func() ades.Sources {
			asked.Add(1)
			return p.ca.Sources(nil)
		}})
		id := s.mustStart(func(in *signing.Start) { in.Level = ades.T })
		poll := func() error { return s.Poll(t.Context(), account, id, func(signing.Answer) error { return nil }) }
		if err := poll(); !errors.Is(err, storage.ErrFull) {
			t.Errorf("the first poll: %v, want ErrFull", err)
		}
		ctx, stop := context.WithCancel(t.Context())
		r := queue.Runner{Jobs: s.db.Jobs(), Tx: s.db, Kinds: s.works()}
		done := make(chan error)
		go func() { done <- r.Run(ctx) }()
		before := asked.Load()
		for range 60 {
			time.Sleep(time.Second)
			if err := poll(); err != nil && !errors.Is(err, storage.ErrFull) {
				t.Errorf("a poll: %v", err)
			}
		}
		if n := asked.Load() - before; n == 0 || n > 8 {
			t.Errorf("the sources were asked for %d times in a minute", n)
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
