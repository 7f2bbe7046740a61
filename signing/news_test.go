package signing_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
)

func allowed(idp.State) bool { return true }

// With news the provider is asked at once, although it had said that there would be none for
// long, and the signature is there before the client's next poll.
func TestNews(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	p.sign = func(s idp.State) (idp.State, idp.Event, error) { return s, idp.Waiting{RetryAfter: time.Hour}, nil }
	s := newService(t, p, signing.Options{IgnoreInterval: true})
	id := s.mustStart()
	calls := p.calls
	if r := s.poll(id); r.Code != idp.AuthorizationPending || p.calls != calls {
		t.Fatalf("%+v, %d calls", r, p.calls-calls)
	}
	for range 2 { // a ping may come twice
		if err := s.Notified(t.Context(), id, allowed); err != nil {
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
	if err := s.Notified(t.Context(), id, allowed); err != nil || s.work(t.Context()) != 0 {
		t.Errorf("news of what is known: %v", err)
	}
	s.checkSigned(s.poll(id).Document)
	if err := s.Notified(t.Context(), id, func(state idp.State) bool { return state.Key != "" && state.Secret != nil }); !errors.Is(err, signing.ErrFinished) {
		t.Errorf("after the end: %v", err)
	}
}

func TestNewsThatIsNone(t *testing.T) {
	t.Parallel()
	s := newService(t, newPhone(t), signing.Options{IgnoreInterval: true})
	id := s.mustStart()
	for name, err := range map[string]error{
		"not authentic": s.Notified(t.Context(), id, func(idp.State) bool { return false }),
		"no request":    s.Notified(t.Context(), "d1f1e1c6-3a3f-4c62-9d0e-0d3a5d1f0001", allowed),
		"no UUID":       s.Notified(t.Context(), "../..", allowed),
		"nothing":       s.Notified(t.Context(), "", allowed),
	} {
		if !errors.Is(err, signing.ErrFinished) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := s.work(t.Context()); n != 0 {
		t.Errorf("%d jobs", n)
	}
}

// News that comes while earlier news is being asked about counts too, and so does news that
// overtakes the end of the start.
func TestNewsThatOvertakes(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	quiet := idp.Waiting{RetryAfter: 30 * time.Second}
	var s service
	news := func(key string) {
		if err := s.Notified(t.Context(), key, allowed); err != nil {
			t.Error(err)
		}
	}
	p.sign = func(st idp.State) (idp.State, idp.Event, error) {
		news(st.Key)
		return st, quiet, nil
	}
	p.poll = func(st idp.State) (idp.State, idp.Event, error) {
		news(st.Key)
		p.poll = func(st idp.State) (idp.State, idp.Event, error) { return st, p.signed(), nil }
		return st, quiet, nil
	}
	s = newService(t, p, signing.Options{IgnoreInterval: true})
	id := s.mustStart()
	s.work(t.Context()) // hears nothing, while there is news
	s.work(t.Context())
	s.checkSigned(s.poll(id).Document)
}

// So does news whose job begins before the start has ended.
func TestNewsDuringTheStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPhone(t)
		var s service
		p.sign = func(st idp.State) (idp.State, idp.Event, error) {
			if err := s.Notified(t.Context(), st.Key, allowed); err != nil {
				t.Error(err)
			}
			time.Sleep(5 * time.Second)
			return st, idp.Waiting{RetryAfter: time.Hour}, nil
		}
		s = newService(t, p, signing.Options{IgnoreInterval: true})
		s.background(t)
		id := s.mustStart()
		time.Sleep(5 * time.Second)
		s.checkSigned(s.poll(id).Document)
	})
}

// A fault on the way to the provider does not end it.
func TestNewsAndAFault(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPhone(t)
		p.sign = func(s idp.State) (idp.State, idp.Event, error) { return s, idp.Waiting{RetryAfter: time.Hour}, nil }
		answer := p.poll
		p.poll = func(s idp.State) (idp.State, idp.Event, error) {
			p.poll = answer
			return s, nil, &idp.FaultError{RetryAfter: 5 * time.Second, Err: errors.New("no route")}
		}
		s := newService(t, p, signing.Options{IgnoreInterval: true})
		s.background(t)
		id := s.mustStart()
		if err := s.Notified(t.Context(), id, allowed); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		p.poll = func(s idp.State) (idp.State, idp.Event, error) {
			t.Error("no poll followed the notification")
			return s, idp.Waiting{}, nil
		}
		s.checkSigned(s.poll(id).Document)
	})
}
