package signing_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// A server has an answer that the provider does not give again, and its store is away until its lease is
// lost. Another takes the request over and hears that there is no answer any more. Whichever of them
// comes to an end first, also at the end of the request, the answer of the first is what counts.
func TestAnswerOfAServerThatLostItsLease(t *testing.T) {
	t.Parallel()
	const life = 290 * time.Second
	gone := idp.Failure{Code: idp.InvalidGrant, OAuth: "invalid_grant"}
	over := idp.Failure{Code: idp.ExpiredToken, OAuth: "expired_token"}
	for what, phone := range map[string]func(*testing.T) *phone{"signature": newPhone, "token": once} {
		for when, asked := range map[string]lateAsking{
			"in the middle":                    {after: 5 * time.Second, second: gone},
			"at the end":                       {after: life - time.Second, second: gone},
			"at the end, over at the provider": {after: life - time.Second, second: over},
		} {
			for first, takes := range map[string]time.Duration{"the second stores first": 0, "the first stores first": 3 * time.Second} {
				t.Run(what+", "+when+", "+first, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { testLateAnswer(t, phone(t), asked, takes) })
				})
			}
		}
	}
}

// lateAsking is when the first server asks, after the start, and what the provider says to the second.
type lateAsking struct {
	after  time.Duration
	second idp.Failure
}

// testLateAnswer has the provider take its time to answer the second server.
func testLateAnswer(t *testing.T, p *phone, asked lateAsking, takes time.Duration) {
	db := newStore(t)
	tx := &shaky{Transactor: db, outing: outing{at: -1, err: storage.ErrUnavailable}}
	given, further := false, p.poll
	p.poll = func(s idp.State) (idp.State, idp.Event, error) {
		if s.Secret != nil { // the answer was a token
			return further(s)
		}
		if given {
			time.Sleep(takes)
			return s, idp.Failed{Failure: asked.second}, nil
		}
		given, tx.until = true, time.Now().Add(12*time.Second)
		return further(s)
	}
	first, second := wired(t, db, db.Requests(), tx, p, signing.Options{}), onStore(t, db, p, signing.Options{})
	id := first.mustStart()
	time.Sleep(asked.after)
	done := make(chan error, 1)
	go func() {
		done <- first.Poll(t.Context(), account, id, func(signing.Answer) error { return nil })
	}()
	time.Sleep(2 * time.Second)
	err := second.Poll(t.Context(), account, id, func(a signing.Answer) error {
		if a.Failure.Code != idp.AuthorizationPending {
			t.Errorf("the second server: %+v", a.Failure)
		}
		return nil
	})
	if err != nil && !errors.Is(err, storage.ErrUnavailable) { // the client asks again
		t.Error(err)
	}
	if err := <-done; err == nil {
		t.Error("the first server goes on without a lease")
	}
	time.Sleep(20 * time.Second)
	second.checkSigned(second.poll(id).Document)
}

// A server has an answer of the provider, and its store is away until its lease is lost. Another server takes the request
// over and stores another answer. That one counts, and the first server stores nothing.
func TestAnswerThatIsOvertaken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, db := newPhone(t), newStore(t)
		tx := &shaky{Transactor: db, outing: outing{at: -1, err: storage.ErrUnavailable}}
		given, signed := false, p.poll
		p.poll = func(s idp.State) (idp.State, idp.Event, error) {
			if given {
				return cancels(s)
			}
			given, tx.until = true, time.Now().Add(20*time.Second)
			return signed(s)
		}
		first, second := wired(t, db, db.Requests(), tx, p, signing.Options{}), onStore(t, db, p, signing.Options{})
		id := first.mustStart()
		time.Sleep(5 * time.Second)
		done := make(chan error, 1)
		go func() {
			done <- first.Poll(t.Context(), account, id, func(signing.Answer) error { return nil })
		}()
		time.Sleep(2 * time.Second)
		var answered idp.ErrorCode
		err := second.insistent(func() error {
			return second.Poll(t.Context(), account, id, func(a signing.Answer) error { answered = a.Failure.Code; return nil })
		})
		if err != nil || answered != idp.UserCancelled {
			t.Errorf("the second server: %q, %v", answered, err)
		}
		if err := <-done; err == nil {
			t.Error("the first server goes on without a lease")
		}
		second.tells(id, "signature.asked", "signature.prepared", "signature.failed")
	})
}

// If no server has the answer any more, the request ends.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	p.poll = func(s idp.State) (idp.State, idp.Event, error) {
		return s, idp.Failed{Failure: idp.Failure{Code: idp.InvalidGrant, OAuth: "invalid_grant"}}, nil
	}
	s := newService(t, p, signing.Options{IgnoreInterval: true})
	if r := s.poll(s.mustStart()); r.Code != idp.InvalidGrant {
		t.Errorf("%+v", r)
	}
}

// A request whose servers die one after the other, and never say what they heard, comes to an end.
func TestRequestThatIsTakenOverForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const enough = 20 * time.Minute
		p := newPhone(t)
		p.poll = func(s idp.State) (idp.State, idp.Event, error) {
			return s, nil, &idp.FaultError{Err: errors.New("away")}
		}
		db := newStore(t)
		s := onStore(t, db, p, signing.Options{IgnoreInterval: true})
		id := s.mustStart()
		for began := time.Now(); time.Since(began) < enough; time.Sleep(10 * time.Second) {
			err := db.InTx(t.Context(), func(ctx context.Context) error {
				r, err := db.Requests().Request(ctx, id)
				if err != nil {
					return err
				}
				r.Lease = signing.Lease{Process: "dead", Token: "its", Until: time.Now()}
				r.Revision++
				return db.Requests().UpdateRequest(ctx, r)
			})
			if err != nil {
				t.Fatal(err)
			}
			if s.poll(id).Code == idp.ExpiredToken {
				return
			}
		}
		t.Errorf("it lives after %v", enough)
	})
}

// outOfReach are issuers that cannot be asked just now.
type outOfReach struct {
	issuers ades.Issuers
	down    *atomic.Bool
}

func (o outOfReach) Issuers(ctx context.Context, c *x509.Certificate) ([]*x509.Certificate, error) {
	if o.down.Load() {
		return nil, fmt.Errorf("asking for issuers: %w", ades.ErrUnavailable)
	}
	return o.issuers.Issuers(ctx, c)
}

// That a certificate's issuer cannot be had for a moment says nothing against it.
func TestIssuerOutOfReach(t *testing.T) {
	t.Parallel()
	for name, phone := range map[string]func(*testing.T) *phone{"before": newPhone, "after": wholeCMS} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := phone(t)
				var down atomic.Bool
				down.Store(true)
				if !p.traits.CMS {
					p.begin = func() (idp.Event, error) { return idp.NeedDigest{Certificate: p.cert}, nil }
					answer := p.poll
					p.poll = func(s idp.State) (idp.State, idp.Event, error) {
						if p.digests == nil {
							return s, idp.NeedDigest{Certificate: p.cert}, nil
						}
						return answer(s)
					}
				}
				s := newService(t, p, signing.Options{IgnoreInterval: true, Sources: func() ades.Sources {
					all := p.ca.Sources(nil)
					all.Issuers = outOfReach{all.Issuers, &down}
					return all
				}})
				s.background(t)
				id := s.mustStart()
				for range 3 {
					time.Sleep(10 * time.Second)
					s.pending(id, "while the issuer is out of reach")
				}
				down.Store(false)
				time.Sleep(time.Minute)
				r := s.poll(id)
				if r.Code.Pending() {
					time.Sleep(time.Minute)
					r = s.poll(id)
				}
				if r.Document == nil {
					t.Errorf("%+v", r)
				}
			})
		})
	}
}
