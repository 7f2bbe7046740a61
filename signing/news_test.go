package signing_test

import (
	"errors"
	"testing"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
)

func anybody(idp.State) bool { return true }

// With news the provider is asked at once, although it had said that there would be none for
// long, and the signature is there before the client's next poll.
func TestNews(t *testing.T) {
	p := newPhone(t)
	p.sign = func(s idp.State) (idp.State, idp.Event, error) { return s, idp.Waiting{RetryAfter: time.Hour}, nil }
	s := newService(t, p, signing.Options{AnyPace: true})
	id := s.mustStart()
	calls := p.calls
	if r := s.poll(id); r.Code != idp.AuthorizationPending || p.calls != calls {
		t.Fatalf("%+v, %d calls", r, p.calls-calls)
	}
	for range 2 { // a ping may come twice
		if err := s.News(t.Context(), id, anybody); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.work(t.Context()); n != 1 || p.calls != calls+1 {
		t.Errorf("%d jobs, %d calls", n, p.calls-calls)
	}
	p.poll = func(s idp.State) (idp.State, idp.Event, error) {
		t.Error("asked again")
		return s, nil, errors.New("asked again")
	}
	if err := s.News(t.Context(), id, anybody); err != nil || s.work(t.Context()) != 0 {
		t.Errorf("news of what is known: %v", err)
	}
	s.checkSigned(s.poll(id).Document)
	if err := s.News(t.Context(), id, func(state idp.State) bool { return state.Key != "" && state.Secret != nil }); !errors.Is(err, signing.ErrFinished) {
		t.Errorf("after the end: %v", err)
	}
}

func TestNewsThatIsNone(t *testing.T) {
	s := newService(t, newPhone(t), signing.Options{AnyPace: true})
	id := s.mustStart()
	for name, err := range map[string]error{
		"not authentic": s.News(t.Context(), id, func(idp.State) bool { return false }),
		"no request":    s.News(t.Context(), "d1f1e1c6-3a3f-4c62-9d0e-0d3a5d1f0001", anybody),
		"no UUID":       s.News(t.Context(), "../..", anybody),
		"nothing":       s.News(t.Context(), "", anybody),
	} {
		if !errors.Is(err, signing.ErrFinished) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := s.work(t.Context()); n != 0 {
		t.Errorf("%d jobs", n)
	}
}
