package signing_test

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
)

// What a start of the account clears is told of, unless it is known what came of it.
func TestEvidenceOfWhatIsCleared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPhone(t)
		s := newService(t, p, signing.Options{})
		waiting, expired, undelivered := s.mustStart(), s.mustStart(), s.mustStart()
		_ = s.Poll(t.Context(), account, undelivered, func(signing.Answer) error { return io.ErrClosedPipe })
		p.poll = waits
		time.Sleep(6 * time.Minute)
		if r := s.poll(expired); r.Code != idp.ExpiredToken {
			t.Fatalf("%+v", r)
		}
		time.Sleep(16 * time.Minute)
		s.mustStart()
		s.tells(waiting, "signature.asked", "signature.prepared", "signature.abandoned")
		s.tells(undelivered, "signature.asked", "signature.prepared", "signature.made", "signature.completed", "signature.abandoned")
		s.tells(expired, "signature.asked", "signature.prepared", "signature.failed")
		for id, phase := range map[string]string{waiting: "waiting", undelivered: "complete"} {
			if diff := cmp.Diff(facts{"phase": phase}, s.facts(id)["signature.abandoned"]); diff != "" {
				t.Error(diff)
			}
		}
	})
}

// A phone may have rung although the call that was to make it ring failed, or the process died
// in it.
func TestEvidenceOfAStartThatFailed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPhone(t)
		s := newService(t, p, signing.Options{})
		p.begin = func() (idp.Event, error) { return nil, io.ErrUnexpectedEOF }
		if _, err := s.start(); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Error(err)
		}
		if diff := cmp.Diff([]string{"signature.asked", "signature.failed"}, s.allKinds()); diff != "" {
			t.Error(diff)
		}
		died := make(chan struct{})
		p.begin = func() (idp.Event, error) { <-died; return nil, io.ErrUnexpectedEOF }
		go func() { _, _ = s.start() }()
		synctest.Wait()
		id := s.lives()
		s.tells(id, "signature.asked")
		other := onStore(t, s.db, newPhone(t), signing.Options{SingleProcess: true}) // to which all others are dead
		time.Sleep(16 * time.Minute)
		other.mustStart()
		s.tells(id, "signature.asked", "signature.abandoned")
		close(died)
		synctest.Wait()
		s.tells(id, "signature.asked", "signature.abandoned")
	})
}

// lives is the only request that has not ended.
func (s service) lives() string {
	s.t.Helper()
	all, err := s.db.Requests().Unfinished(s.t.Context(), time.Now().Add(time.Second), 2)
	if err != nil || len(all) != 1 {
		s.t.Fatalf("%d requests, %v", len(all), err)
	}
	return all[0].ID
}
