package portal_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/storage"
)

// keyed is a draft with an idempotency key.
func (s *service) keyed(value, body string) portal.Draft {
	return s.draft(1, func(d *portal.Draft) { d.Key = &portal.DraftKey{Value: value, Fingerprint: body} })
}

// planning is a service of signatures that says what happens while the places are looked for.
type planning struct {
	portal.Signing
	meanwhile func(ctx context.Context) error
}

func (p *planning) Plan(ctx context.Context, document string, page int, c stamp.Corner, signers int) ([]*signing.Stamp, error) {
	if p.meanwhile != nil {
		if err := p.meanwhile(ctx); err != nil {
			return nil, err
		}
	}
	return p.Signing.Plan(ctx, document, page, c, signers)
}

func newPlanning(t *testing.T, w wiring) (*service, *planning) {
	p := new(planning)
	w.signing = func(real portal.Signing) portal.Signing {
		p.Signing = real
		return p
	}
	return newService(t, w), p
}

// While a process is being made, however long that takes, its key makes no other; of another body it
// is refused for that.
func TestKeyIsReserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := newPlanning(t, wiring{})
		long := make(chan struct{})
		p.meanwhile = func(context.Context) error {
			<-long
			return nil
		}
		var first portal.ProcessView
		var made sync.WaitGroup
		d := s.keyed("a key", "a body")
		made.Go(func() { first = s.mustCreate(d) })
		synctest.Wait()
		for range 5 {
			_, err := s.Create(t.Context(), s.keyed("a key", "a body"))
			s.wants(portal.ErrKeyInUse, err)
			_, err = s.Create(t.Context(), s.keyed("a key", "another body"))
			s.wants(portal.ErrKeyReused, err)
			time.Sleep(7 * time.Second)
		}
		close(long)
		made.Wait()
		if again := s.mustCreate(s.keyed("a key", "a body")); again.ID != first.ID {
			t.Error("another process")
		}
	})
}

// A key whose process could not be made is free at once.
func TestKeyOfARefusedCreation(t *testing.T) {
	s, p := newPlanning(t, wiring{})
	refusal := errors.New("refused")
	p.meanwhile = func(context.Context) error { return refusal }
	_, err := s.Create(t.Context(), s.keyed("a key", "a body"))
	s.wants(refusal, err)
	p.meanwhile = nil
	s.mustCreate(s.keyed("a key", "another body"))
}

// Whoever was making a process and has died is waited for ten seconds. Should it have been alive after
// all, it comes too late, and takes nothing from who has taken its key over.
func TestKeyOfTheDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dead := new(deaf)
		s, p := newPlanning(t, wiring{store: func(store portal.Store) portal.Store {
			dead.Store = store
			return dead
		}})
		waits := func(until chan struct{}) func(context.Context) error {
			return func(context.Context) error {
				<-until
				return nil
			}
		}
		firstPlans, secondPlans := make(chan struct{}), make(chan struct{})
		p.meanwhile = waits(firstPlans)
		var first, second sync.WaitGroup
		d := s.keyed("a key", "a body")
		first.Go(func() {
			_, err := s.Create(t.Context(), d)
			s.wants(portal.ErrKeyInUse, err)
		})
		synctest.Wait()
		p.meanwhile = waits(secondPlans)
		dead.keys.Store(true) // its renewals do not arrive
		time.Sleep(10*time.Second - time.Nanosecond)
		_, err := s.Create(t.Context(), s.keyed("a key", "a body"))
		s.wants(portal.ErrKeyInUse, err)
		time.Sleep(time.Nanosecond)
		dead.keys.Store(false)
		var made portal.ProcessView
		again := s.keyed("a key", "a body")
		second.Go(func() { made = s.mustCreate(again) })
		synctest.Wait()
		close(firstPlans)
		first.Wait()
		close(secondPlans)
		second.Wait()
		if repeated := s.mustCreate(s.keyed("a key", "a body")); repeated.ID != made.ID {
			t.Error("another process")
		}
		waiting, err := s.db.Processes().Waiting(t.Context(), s.account, time.Now(), 9)
		if len(waiting) != 1 || err != nil || s.unkept() != 0 {
			t.Error(len(waiting), err)
		}
	})
}

// deaf is a store that takes no keys for a while.
type deaf struct {
	portal.Store
	keys atomic.Bool
}

func (d *deaf) UpdateKey(ctx context.Context, k portal.Key) error {
	if d.keys.Load() {
		return storage.ErrUnavailable
	}
	return d.Store.UpdateKey(ctx, k)
}

// A clock that was wrong holds no key for long.
func TestKeyOfAWrongClock(t *testing.T) {
	s := newService(t, wiring{})
	ahead := portal.Key{Client: "a client", Value: "a key", Fingerprint: "a body", CreatedAt: time.Now(), Until: time.Now().Add(time.Hour)}
	s.must(s.db.InTx(t.Context(), func(ctx context.Context) error { return s.db.Processes().CreateKey(ctx, ahead) }))
	s.mustCreate(s.keyed("a key", "a body"))
}

// Of many calls with one key at once, one makes the process; the others hear of it, then or when they
// call again.
func TestManyWithOneKey(t *testing.T) {
	s := newService(t, wiring{})
	var all sync.WaitGroup
	ids := make([]string, 8)
	for i := range ids {
		d := s.keyed("a key", "a body")
		all.Go(func() {
			v, err := s.Create(t.Context(), d)
			if err != nil {
				s.wants(portal.ErrKeyInUse, err)
			}
			ids[i] = v.ID
		})
	}
	all.Wait()
	want := s.mustCreate(s.keyed("a key", "a body")).ID
	for _, id := range ids {
		if id != "" && id != want {
			t.Error(ids)
		}
	}
	if n := s.unkept(); n != 0 {
		t.Errorf("%d documents are left", n)
	}
}

// An account that is being deleted gets no process and no idempotency key, and its participants begin no signature. What
// a key made before stays to be had.
func TestClosedAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, wiring{})
		v := s.mustCreate(s.keyed("old", "body"))
		s.login(v, 0, s.person("Anna", "0101302989", "1"))
		s.must(s.accounts.CloseAccount(t.Context(), s.account))
		if _, err := s.sign(v, 0); !errors.Is(err, account.ErrClosed) {
			t.Errorf("Sign: %v", err)
		}
		for what, d := range map[string]portal.Draft{"no key": s.draft(1), "a key": s.keyed("new", "body")} {
			if _, err := s.Create(t.Context(), d); !errors.Is(err, account.ErrClosed) {
				t.Errorf("Create with %s: %v", what, err)
			}
		}
		again := s.mustCreate(s.keyed("old", "body"))
		if again.ID != v.ID || s.show(v.ID).Turn != nil {
			t.Errorf("%+v", again)
		}
		for r, err := range s.db.AllRequests(t.Context()) {
			t.Errorf("request %s, %v", r.ID, err)
		}
		for k, err := range s.db.AllKeys(t.Context()) {
			if k.Value != "old" || err != nil {
				t.Errorf("key %q, %v", k.Value, err)
			}
		}
	})
}
