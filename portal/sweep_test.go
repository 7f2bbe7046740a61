package portal_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

// Sweep erases the tokens of expired links and forgets old keys, whatever else they belong to.
func TestSweep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, wiring{})
		anna := s.person("Anna", "0101302989", "1")
		swept := func(want int) {
			t.Helper()
			n, err := s.Sweep(t.Context())
			s.must(err)
			if n != want {
				t.Errorf("%d were swept, want %d", n, want)
			}
		}
		first := s.mustCreate(s.keyed("a key", "a body"))
		second := s.mustCreate(s.draft(2))
		s.login(second, 0, anna)
		over := s.mustCreate(s.draft(2))
		s.must(s.DeclineAs(t.Context(), s.account, over.ID, over.Participants[0].ID, ""))
		swept(0)
		time.Sleep(24*time.Hour - 1)
		swept(0)
		time.Sleep(time.Nanosecond)
		swept(1)
		time.Sleep(time.Until(first.CreatedAt.Add(portal.InvitationTime)))
		swept(0)
		time.Sleep(time.Until(over.CreatedAt.Add(portal.InvitationTime + time.Microsecond)))
		swept(3)
		swept(0)
		for _, id := range []string{first.ID, second.ID, over.ID} {
			v := s.show(id)
			for _, one := range v.Participants {
				if one.Link.Token != nil || one.Link.Hash != nil || one.Link.InvitedAt.IsZero() {
					t.Errorf("%+v", one.Link)
				}
			}
		}
	})
}

// A sweep takes a batch, and says that there is more: it notes that 20 have expired as it erases their links, and
// that the 5 others have.
func TestSweepIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, wiring{})
		for range 25 {
			s.mustCreate(s.draft(1))
		}
		time.Sleep(portal.InvitationTime + time.Second)
		var got []int
		for n, err := -1, error(nil); n != 0; got = append(got, n) {
			n, err = s.Sweep(t.Context())
			s.must(err)
		}
		if d := cmp.Diff([]int{25, 5, 0}, got); d != "" {
			t.Error(d)
		}
	})
}

// stubborn is a store in which some processes cannot be changed, and keys cannot be deleted.
type stubborn struct {
	portal.Store
	processes map[string]bool
	keys      error
}

var errStubborn = errors.New("it stays as it is")

func (s *stubborn) UpdateProcess(ctx context.Context, p portal.Process) error {
	if s.processes[p.ID] {
		return errStubborn
	}
	return s.Store.UpdateProcess(ctx, p)
}

func (s *stubborn) DeleteKeys(ctx context.Context, until time.Time, limit int) (int, error) {
	if s.keys != nil {
		return 0, s.keys
	}
	return s.Store.DeleteKeys(ctx, until, limit)
}

// What cannot be swept keeps nothing else from it, however much it is and however early in the row.
func TestSweepGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &stubborn{processes: make(map[string]bool)}
		s := newService(t, wiring{store: func(real portal.Store) portal.Store {
			store.Store = real
			return store
		}})
		for range 25 {
			store.processes[s.mustCreate(s.draft(1)).ID] = true
			time.Sleep(time.Second)
		}
		behind := s.mustCreate(s.keyed("a key", "a body"))
		time.Sleep(portal.InvitationTime + time.Second)
		n, err := s.Sweep(t.Context())
		if s.wants(errStubborn, err); n != 2 || s.show(behind.ID).Participants[0].Link.Hash != nil {
			t.Errorf("%d were swept", n)
		}
		_, err = s.db.Processes().Key(t.Context(), "a client", "a key")
		s.wants(storage.ErrNotFound, err)

		store.keys = errStubborn
		clear(store.processes)
		n, err = s.Sweep(t.Context())
		if s.wants(errStubborn, err); n != 25 { // 20 of which it erased the links
			t.Errorf("%d were swept", n)
		}
	})
}
