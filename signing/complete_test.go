package signing_test

import (
	"context"
	"crypto"
	"crypto/x509"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
	"github.com/innsigli/innsigli/signing"
)

// outage is evidence from an authority that a test can cut off.
type outage struct {
	ades.Sources
	tsa, status atomic.Pointer[error] // what stands in the way; nil: nothing
	asked       atomic.Int64
}

func newOutage(ca *sandboxca.Authority) *outage { return &outage{Sources: ca.Sources(nil)} }

func (o *outage) sources() ades.Sources {
	return ades.Sources{Time: o, Revocation: o, Issuers: o.Issuers, Roots: o.Roots, Chains: o.Chains}
}

func (o *outage) Timestamp(ctx context.Context, h crypto.Hash, sum []byte) ([]byte, error) {
	o.asked.Add(1)
	if err := o.tsa.Load(); err != nil {
		return nil, *err
	}
	return o.Time.Timestamp(ctx, h, sum)
}

func (o *outage) Revocation(ctx context.Context, cert, issuer *x509.Certificate, notBefore time.Time) (ades.RevocationData, error) {
	o.asked.Add(1)
	if err := o.status.Load(); err != nil {
		return ades.RevocationData{}, *err
	}
	return o.Sources.Revocation.Revocation(ctx, cert, issuer, notBefore)
}

var (
	errTSADown       = fmt.Errorf("%w: %w: connection refused", ades.ErrTimestamp, ades.ErrUnavailable)
	errTSALies       = fmt.Errorf("%w: the nonce is another", ades.ErrTimestamp)
	errResponderDown = fmt.Errorf("%w: %w: connection refused", ades.ErrNoRevocation, ades.ErrUnavailable)
	errUnknownThere  = fmt.Errorf("%w: the certificate is not known", ades.ErrNoRevocation)
)

func (s service) atLevel(l ades.Level) string {
	s.t.Helper()
	return s.mustStart(func(in *signing.Start) { in.Level = l })
}

// spec 3.9: while a source is down polls are pending, and the value is not lost.
// The person is not asked again.
func TestSourceThatIsDownForTenMinutes(t *testing.T) {
	testenv.Slow(t, "it asks for hours of virtual time")
	t.Parallel()
	for _, test := range []struct {
		name        string
		level       ades.Level
		tsa, status error
	}{
		{"B, responder down", ades.B, nil, errResponderDown},
		{"T, TSA down", ades.T, errTSADown, nil},
		{"T, TSA lies", ades.T, errTSALies, nil},
		{"T, responder down", ades.T, nil, errResponderDown},
		{"LT, TSA down", ades.LT, errTSADown, nil},
		{"LT, responder down", ades.LT, nil, errResponderDown},
		{"LT, certificate unknown", ades.LT, nil, errUnknownThere},
		{"LTA, both down", ades.LTA, errTSADown, errResponderDown},
	} {
		for _, driven := range []string{"by polls", "in the background"} {
			t.Run(test.name+", "+driven, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := newPhone(t)
					o := newOutage(p.ca)
					var told atomic.Int64
					s := newService(t, p, signing.Options{Sources: o.sources, OnStep: func(_ context.Context, s signing.Step) {
						if s.Err != nil {
							told.Add(1)
						}
					}})
					o.cut(test.tsa, test.status)
					id := s.atLevel(test.level)
					if driven == "in the background" {
						s.background(t)
					}
					for range 10 {
						if r := s.poll(id); r.Code != idp.AuthorizationPending {
							t.Fatalf("while a source is down: %+v", r)
						}
						time.Sleep(time.Minute)
					}
					calls := p.calls
					o.cut(nil, nil)
					time.Sleep(time.Minute)
					asked := o.asked.Load()
					s.checkSigned(s.poll(id).Document)
					if later := o.asked.Load(); driven == "in the background" && later != asked {
						t.Errorf("the poll asked %d times for what was there", later-asked)
					}
					if p.calls != calls || told.Load() == 0 {
						t.Errorf("%d calls to the phone after it had signed, %d reasons told", p.calls-calls, told.Load())
					}
				})
			})
		}
	}
}

func (o *outage) cut(tsa, status error) {
	set := func(at *atomic.Pointer[error], err error) {
		at.Store(nil)
		if err != nil {
			at.Store(&err)
		}
	}
	set(&o.tsa, tsa)
	set(&o.status, status)
}

// spec 3.9: after 15 minutes it is InternalError, which is told once.
func TestSourceThatStaysDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPhone(t)
		o := newOutage(p.ca)
		s := newService(t, p, signing.Options{Sources: o.sources})
		o.cut(errTSADown, nil)
		id := s.atLevel(ades.LT)
		if r := s.poll(id); r.Code != idp.AuthorizationPending {
			t.Fatalf("%+v", r)
		}
		s.background(t)
		time.Sleep(15*time.Minute - 10*time.Second)
		if r := s.poll(id); r.Code != idp.AuthorizationPending {
			t.Errorf("before the time is over: %+v", r)
		}
		time.Sleep(time.Minute)
		asked := o.asked.Load()
		if r := s.poll(id); r.Code != idp.InternalError {
			t.Errorf("when the time is over: %+v", r)
		}
		if r := s.poll(id); !r.Finished {
			t.Errorf("told twice: %+v", r)
		}
		time.Sleep(time.Minute)
		if later := o.asked.Load(); later != asked {
			t.Errorf("asked %d times after the end", later-asked)
		}
	})
}

// Sources that are slow to fail are not asked at each poll.
func TestPollsDoNotHammerASource(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPhone(t)
		o := newOutage(p.ca)
		s := newService(t, p, signing.Options{Sources: o.sources, IgnoreInterval: true})
		o.cut(errTSADown, nil)
		id := s.atLevel(ades.T)
		for range 100 {
			if r := s.poll(id); r.Code != idp.AuthorizationPending {
				t.Fatalf("%+v", r)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if asked := o.asked.Load(); asked > 3 {
			t.Errorf("the TSA was asked %d times in 10 seconds", asked)
		}
	})
}

// spec 3.8: what was revoked when it signed is not delivered, at any level.
func TestRevokedCertificates(t *testing.T) {
	t.Parallel()
	for _, level := range []ades.Level{ades.B, ades.T, ades.LT, ades.LTA} {
		for _, test := range []struct {
			name    string
			revoked func(p *phone) *x509.Certificate
			want    idp.ErrorCode
		}{
			{"the signer's", func(p *phone) *x509.Certificate { return p.cert }, idp.CertificateIsRevoked},
			{"its issuer's", func(p *phone) *x509.Certificate { return p.ca.Chain()[0] }, idp.CertificateValidationError},
		} {
			t.Run(level.String()+", "+test.name, func(t *testing.T) {
				p := newPhone(t)
				s := newService(t, p, signing.Options{})
				id := s.atLevel(level)
				p.ca.Revoke(test.revoked(p).SerialNumber, time.Now().Add(-time.Second), 1)
				if r := s.poll(id); r.Code != test.want || r.Document != nil {
					t.Errorf("got %+v, want %s", r, test.want)
				}
				if r := s.poll(id); !r.Finished {
					t.Errorf("told twice: %+v", r)
				}
			})
		}
	}
}

// A process that dies once the value is stored leaves the rest to the next one.
func TestStoredValueIsCompletedByAnotherProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPhone(t)
		o := newOutage(p.ca)
		first := newService(t, p, signing.Options{Sources: o.sources})
		o.cut(errTSADown, nil)
		id := first.atLevel(ades.LT)
		if r := first.poll(id); r.Code != idp.AuthorizationPending {
			t.Fatalf("%+v", r)
		}
		o.cut(nil, nil)
		p.poll = func(idp.State) (idp.State, idp.Event, error) {
			return idp.State{}, nil, errors.New("the person has answered already")
		}
		time.Sleep(time.Minute)
		second := onStore(t, first.db, p, signing.Options{Sources: o.sources})
		if n := second.work(t.Context()); n != 1 {
			t.Errorf("%d completed", n)
		}
		if n := second.work(t.Context()); n != 0 {
			t.Errorf("%d completed again", n)
		}
		second.checkSigned(first.poll(id).Document)
	})
}
