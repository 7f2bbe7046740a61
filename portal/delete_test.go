package portal_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// gone says that nothing is left of a process (spec 4.4).
func (s *service) gone(v portal.ProcessView) {
	s.t.Helper()
	ctx := s.t.Context()
	_, err := s.Process(ctx, s.account, v.ID)
	s.wants(portal.ErrNotFound, err)
	_, err = s.db.Processes().Process(ctx, v.ID)
	s.wants(storage.ErrNotFound, err)
	_, _, err = s.Document(ctx, s.account, v.ID)
	s.wants(portal.ErrNotFound, err)
	s.wants(portal.ErrNotFound, s.Delete(ctx, s.account, v.ID))
	s.wants(portal.ErrNotFound, s.Decline(ctx, v.ID, v.Participants[0].ID, ""))
	_, err = s.sign(v, 0)
	s.wants(portal.ErrNotFound, err)
	_, _, err = s.Login(ctx, strings.TrimPrefix(v.Participants[0].Path, "/sign/"), portal.Person{Kennitala: "0101302989"})
	s.wants(portal.ErrNotFound, err)
	_, err = s.db.Documents().Open(ctx, v.Document)
	s.wants(storage.ErrNotFound, err)
	if letters := s.news.letters("invitation"); len(letters) > 0 {
		s.t.Error(letters)
	}
	s.stores(0)
}

// What has happened before a process is deleted stays told and counted; all else is gone.
func TestDelete(t *testing.T) {
	s := newService(t, wiring{})
	anna := s.person("Anna", "0101302989", "1")
	v := s.mustCreate(s.draft(2))
	s.wants(portal.ErrNotFound, s.Delete(t.Context(), s.newAccount(true), v.ID))
	s.must(s.SignAs(t.Context(), s.account, v.ID, v.Participants[0].ID, anna.ID))
	s.must(s.Delete(t.Context(), s.account, v.ID))
	s.gone(v)
	a, err := s.accounts.Account(t.Context(), s.account)
	s.must(err)
	if got := s.news.types(); len(got) != 1 || a.Signatures != 1 {
		t.Error(got, a.Signatures)
	}
	s.recorded(v.ID, "process.created", "signature.begun", "participant.signed", "process.deleted")
}

// A signature under way ends with the process, and nothing of it remains.
func TestDeleteWhileSigning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, wiring{})
		anna := s.person("Anna", "0101302989", "1", takesAMinute)
		v := s.mustCreate(s.draft(1))
		s.login(v, 0, anna)
		started, err := s.sign(v, 0)
		s.must(err)
		driven := make(chan error)
		go func() {
			_, err := s.signing.Drive(t.Context(), started.ID)
			driven <- err
		}()
		time.Sleep(time.Second)
		s.must(s.Delete(t.Context(), s.account, v.ID))
		s.wants(signing.ErrFinished, <-driven)
		s.gone(v)
		_, err = s.db.Requests().Request(t.Context(), started.ID)
		s.wants(storage.ErrNotFound, err)
		a, err := s.accounts.Account(t.Context(), s.account)
		s.must(err)
		if got := s.news.types(); got != nil || a.Signatures != 0 {
			t.Error(got, a.Signatures)
		}
	})
}

// A deletion starts over when a turn has come between reading the process and removing it: then the
// signature of that turn is ended too.
func TestDeleteAfterATurnHasBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		racy := new(reading)
		s := newService(t, wiring{store: func(store portal.Store) portal.Store {
			racy.Store = store
			return racy
		}})
		anna := s.person("Anna", "0101302989", "1", takesAMinute)
		v := s.mustCreate(s.draft(1))
		s.login(v, 0, anna)
		var started signing.Started
		racy.once = func() {
			var err error
			started, err = s.sign(v, 0)
			s.must(err)
		}
		s.must(s.Delete(t.Context(), s.account, v.ID))
		s.gone(v)
		_, err := s.db.Requests().Request(t.Context(), started.ID)
		s.wants(storage.ErrNotFound, err)
	})
}

// reading is a store at which something happens right after a process was read.
type reading struct {
	portal.Store
	once func()
}

func (r *reading) Process(ctx context.Context, id string) (portal.Process, error) {
	p, err := r.Store.Process(ctx, id)
	if once := r.once; once != nil {
		r.once = nil
		once()
	}
	return p, err
}
