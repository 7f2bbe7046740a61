package signing_test

import (
	"context"
	"crypto"
	"crypto/x509"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
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
	errResponderDown = fmt.Errorf("%w: %w: connection refused", ades.ErrNoRevocation, ades.ErrUnavailable)
)

func (s service) atLevel(l ades.Level) string {
	s.t.Helper()
	return s.mustStart(func(in *signing.Start) { in.Level = l })
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
