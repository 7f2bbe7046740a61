package portal_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

// A change that cannot be told of is not made.
func TestChangesAndNewsAreOne(t *testing.T) {
	broken := errors.New("no news today")
	s := newService(t, wiring{})
	v := s.mustCreate(s.draft(2))
	s.news.broken = broken
	for what, call := range map[string]func() error{
		"create":  func() error { _, err := s.Create(t.Context(), s.draft(1)); return err },
		"decline": func() error { return s.DeclineAs(t.Context(), s.account, v.ID, v.Participants[0].ID, "") },
		"resend":  func() error { _, err := s.Resend(t.Context(), v.ID); return err },
		"delete":  func() error { return s.Delete(t.Context(), s.account, v.ID) },
	} {
		s.wants(broken, call(), what)
		got, err := s.Process(t.Context(), s.account, v.ID)
		s.must(err)
		if d := cmp.Diff(v, got); d != "" {
			t.Error(what, d)
		}
	}
	s.stores(int64(len(s.read(v.ID))))
	s.recorded(v.ID, "process.created")
	if s.news.types() != nil || s.unkept() != 0 {
		t.Error(s.news.events)
	}
}

// A signature that cannot be told of lands as soon as it can.
func TestSignatureWaitsForItsNews(t *testing.T) {
	s := newService(t, wiring{})
	anna := s.person("Anna", "0101302989", "1")
	v := s.mustCreate(s.draft(1))
	s.news.broken = errors.New("no news today")
	s.wants(s.news.broken, s.SignAs(t.Context(), s.account, v.ID, v.Participants[0].ID, anna.ID))
	got := s.show(v.ID)
	if got.Status != portal.Waiting || got.Turn == nil || s.news.types() != nil {
		t.Fatal(got.Status, s.news.types())
	}
	s.signedTimes(v.ID, 0)
	s.news.broken = nil
	s.drive(got.Turn.Request, "")
	s.is(v.ID, portal.Completed)
	s.signedTimes(v.ID, 1)
	if d := cmp.Diff([]string{portal.SignedEvent, portal.CompletedEvent}, s.news.types()); d != "" {
		t.Error(d)
	}
}

// A store that went away may have committed without a word. Then the document is not thrown away, and
// the same call with its key finds the process.
func TestCreationOfWhichNothingIsHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, wiring{})
		d := s.keyed("a key", "a body")
		s.news.lost = 2
		_, err := s.Create(t.Context(), d)
		s.wants(storage.ErrUnavailable, err)
		v := s.mustCreate(s.keyed("a key", "a body"))
		if v.Document != d.Document || len(s.read(v.ID)) == 0 {
			t.Error(v.Document)
		}
		s.stores(int64(len(s.read(v.ID))))

		s.news.lost = 1 // the key is reserved, and nobody uses it
		_, err = s.Create(t.Context(), s.keyed("another key", "a body"))
		s.wants(storage.ErrUnavailable, err)
		_, err = s.Create(t.Context(), s.keyed("another key", "a body"))
		s.wants(portal.ErrKeyInUse, err)
		time.Sleep(10 * time.Second)
		s.mustCreate(s.keyed("another key", "a body"))
	})
}

// The document is there at any time, also while somebody signs and after expiry.
func TestDocumentAtAnyTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, wiring{})
		anna, jon := s.person("Anna", "0101302989", "1", takesAMinute), s.person("Jón", "0202302129", "2")
		v := s.mustCreate(s.draft(2))
		s.signedTimes(v.ID, 0)
		s.must(s.SignAs(t.Context(), s.account, v.ID, v.Participants[1].ID, jon.ID))
		s.login(v, 0, anna)
		started, err := s.sign(v, 0)
		s.must(err)
		s.signedTimes(v.ID, 1)
		s.drive(started.ID, "")
		s.signedTimes(v.ID, 2)
		time.Sleep(2 * portal.InvitationTime)
		s.signedTimes(v.ID, 2)
		name, blob, err := s.Document(t.Context(), s.account, v.ID)
		s.must(err)
		defer blob.Close()
		if name != "Contract.pdf" {
			t.Error(name)
		}
		_, _, err = s.Document(t.Context(), s.newAccount(true), v.ID)
		s.wants(portal.ErrNotFound, err)
		_, err = s.Process(t.Context(), s.newAccount(true), v.ID)
		s.wants(portal.ErrNotFound, err)
	})
}
