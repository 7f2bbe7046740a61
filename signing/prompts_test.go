package signing_test

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/promptlimit"
	"github.com/innsigli/innsigli/signing"
)

// promptLimits are the limits of limited.
var promptLimits = promptlimit.Limits{Hourly: 8, Pending: 3}

// limited runs a test in a bubble, with a service that limits how often a person is asked.
func limited(t *testing.T, test func(t *testing.T, s service)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		db := newStore(t)
		test(t, onStore(t, db, newPhone(t), signing.Options{
			Prompts: promptlimit.New(db.Pages(), []byte("secret"), promptlimit.Sign, promptLimits),
		}))
	})
}

// refusedFor starts a request and returns the time to wait, with which it has to be refused without a call of the provider.
func (s service) refusedFor(change ...func(*signing.Start)) time.Duration {
	s.t.Helper()
	before := s.phone.calls
	_, err := s.start(change...)
	var limit *idp.TooManyRequestsError
	if !errors.As(err, &limit) || s.phone.calls != before || s.documents() > 0 {
		s.t.Fatalf("%v, %d calls, %d documents", err, s.phone.calls-before, s.documents())
	}
	return limit.RetryAfter
}

func atB(in *signing.Start) { in.Level = 0 }

// Requests are pending until the person has answered, or they end; those that end without a signature count for an hour.
func TestPromptsOfPerson(t *testing.T) {
	ends := map[string]struct {
		event   idp.Event
		counted bool
	}{
		"signed":    {nil, false},
		"cancelled": {idp.Failed{Failure: idp.Failure{Code: idp.UserCancelled}}, true},
	}
	for name, test := range ends {
		t.Run(name, func(t *testing.T) {
			limited(t, func(t *testing.T, s service) {
				s.phone.poll = func(state idp.State) (idp.State, idp.Event, error) {
					if test.event == nil {
						return state, s.phone.signed(), nil
					}
					return state, test.event, nil
				}
				starts := 0
				for range 2 * promptLimits.Hourly {
					started, err := s.start(atB)
					if err != nil {
						break
					}
					starts++
					s.poll(started.ID)
				}
				if want := promptLimits.Hourly; test.counted && starts != want || !test.counted && starts != 2*want {
					t.Errorf("%d starts", starts)
				}
				if test.counted {
					if wait := s.refusedFor(atB); wait != time.Hour {
						t.Error(wait)
					}
				}
			})
		})
	}
	t.Run("expired", func(t *testing.T) {
		limited(t, func(t *testing.T, s service) {
			for range promptLimits.Pending {
				s.mustStart(atB)
			}
			if wait := s.refusedFor(atB); wait != 290*time.Second {
				t.Error(wait)
			}
			s.mustStart(atB, func(in *signing.Start) { in.Account = "another account" })
			time.Sleep(290 * time.Second)
			s.mustStart(atB)
		})
	})
}

// A start that did not come to ask the person does not count. If the provider has a limit of its own, the account does not
// ask the person before the time that the provider named. Other accounts may.
func TestPromptsThatWereNone(t *testing.T) {
	limited(t, func(t *testing.T, s service) {
		begin := s.phone.begin
		s.phone.begin = func() (idp.Event, error) {
			return idp.Failed{Failure: idp.Failure{Code: idp.CommunicationError}}, nil
		}
		for range 2 * promptLimits.Hourly {
			var refusal *signing.Refusal
			if _, err := s.start(atB); !errors.As(err, &refusal) {
				t.Fatal(err)
			}
		}
		s.phone.begin = func() (idp.Event, error) { return nil, io.ErrUnexpectedEOF }
		for range 2 * promptLimits.Hourly {
			if _, err := s.start(atB); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatal(err)
			}
		}
		s.phone.begin = func() (idp.Event, error) {
			return nil, &idp.TooManyRequestsError{RetryAfter: time.Minute, Err: errors.New("429")}
		}
		var limit *idp.TooManyRequestsError
		if _, err := s.start(atB); !errors.As(err, &limit) || limit.RetryAfter != time.Minute {
			t.Fatal(err)
		}
		s.phone.begin = begin
		if got := s.refusedFor(atB); got != time.Minute {
			t.Error(got)
		}
		s.mustStart(atB, func(in *signing.Start) { in.Account = "another account" })
		s.mustStart(atB, func(in *signing.Start) { in.Person.Kennitala = "0202302129" })
		time.Sleep(time.Minute)
		s.mustStart(atB)
	})
}

// A start counts if it failed after the conversation with the provider had begun: the person may have been asked.
func TestPromptsOfFailedStarts(t *testing.T) {
	limited(t, func(t *testing.T, s service) {
		s.phone.sign = func(state idp.State) (idp.State, idp.Event, error) { return state, nil, io.ErrUnexpectedEOF }
		for range promptLimits.Hourly {
			if _, err := s.start(atB); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatal(err)
			}
		}
		if wait := s.refusedFor(atB); wait != time.Hour {
			t.Error(wait)
		}
	})
}

// A repeated start of an idempotency key counts once, also while the limit is reached.
func TestPromptOfKeyCountsOnce(t *testing.T) {
	limited(t, func(t *testing.T, s service) {
		withKey := func(in *signing.Start) {
			atB(in)
			in.Key = &signing.IdempotencyKey{Client: "client", Key: "one", Fingerprint: "body"}
		}
		first := s.mustStart(withKey)
		for range 2 * promptLimits.Pending {
			if got := s.mustStart(withKey); got != first {
				t.Fatal(got, first)
			}
		}
		for range promptLimits.Pending - 1 {
			s.mustStart(atB)
		}
		s.refusedFor(atB)
		if got := s.mustStart(withKey); got != first {
			t.Error(got, first)
		}
	})
}
