package signing_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
)

// once is a phone that says what it knows only once, as a token endpoint does: State alone
// has it from then on.
func once(t *testing.T) *phone {
	p := newPhone(t)
	p.poll = func(s idp.State) (idp.State, idp.Event, error) {
		if s.Secret == nil {
			s.Secret = []byte("token")
			return s, idp.Continue{}, nil
		}
		return s, p.signed(), nil
	}
	return p
}

// What a provider says only once is stored before it is asked further.
func TestContinue(t *testing.T) {
	t.Parallel()
	p := once(t)
	s := newService(t, p, signing.Options{IgnoreInterval: true})
	id := s.mustStart()
	further := p.poll
	p.poll = func(state idp.State) (idp.State, idp.Event, error) {
		if stored, err := s.db.Requests().Request(t.Context(), id); err != nil || cmp.Diff(stored.State.Secret, state.Secret) != "" {
			t.Errorf("asked further with %q, stored is %q, %v", state.Secret, stored.State.Secret, err)
		}
		return further(state)
	}
	calls := p.calls
	s.checkSigned(s.poll(id).Document)
	if p.calls != calls+2 {
		t.Errorf("%d calls", p.calls-calls)
	}
}

// A fault after it is no end: the next poll goes on from what is stored.
func TestFaultAfterContinue(t *testing.T) {
	t.Parallel()
	p := once(t)
	s := newService(t, p, signing.Options{IgnoreInterval: true})
	id := s.mustStart()
	further := p.poll
	p.poll = func(state idp.State) (idp.State, idp.Event, error) {
		if state.Secret != nil {
			return state, nil, errors.New("connection reset")
		}
		return further(state)
	}
	for range 2 {
		if r := s.poll(id); r.Code != idp.AuthorizationPending {
			t.Errorf("%+v", r)
		}
	}
	p.poll = func(state idp.State) (idp.State, idp.Event, error) {
		if state.Secret == nil {
			t.Error("what was said once is asked for again")
		}
		return further(state)
	}
	s.checkSigned(s.poll(id).Document)
}

func TestProviderWithoutEnd(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	p.poll = func(s idp.State) (idp.State, idp.Event, error) { return s, idp.Continue{}, nil }
	s := newService(t, p, signing.Options{IgnoreInterval: true})
	id := s.mustStart()
	calls := p.calls
	if err := s.Poll(t.Context(), account, id, func(signing.Answer) error { return nil }); err == nil {
		t.Error("no error")
	}
	if p.calls-calls > 20 {
		t.Errorf("%d calls in one poll", p.calls-calls)
	}
}

// The client hears of a provider that is asked too often, once, and in its words.
func TestProviderSaysSlowDown(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	answers := []idp.Waiting{{SlowDown: true, Description: "too fast"}, {SlowDown: true}, {Description: "not yet"}, {}}
	p.poll = func(s idp.State) (idp.State, idp.Event, error) {
		next := answers[0]
		answers = answers[1:]
		return s, next, nil
	}
	s := newService(t, p, signing.Options{IgnoreInterval: true})
	id := s.mustStart()
	for _, want := range []idp.Failure{
		{Code: idp.SlowDown, OAuth: "slow_down", Description: "too fast"},
		{Code: idp.SlowDown, OAuth: "slow_down", Description: "The identity provider requires longer intervals between requests."},
		{Code: idp.AuthorizationPending, OAuth: "authorization_pending", Description: "not yet"},
		{Code: idp.AuthorizationPending, OAuth: "authorization_pending", Description: "The signer has not answered yet."},
	} {
		err := s.Poll(t.Context(), account, id, func(a signing.Answer) error {
			if diff := cmp.Diff(want, a.Failure); diff != "" {
				t.Error(diff)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}
