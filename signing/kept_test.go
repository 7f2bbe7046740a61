package signing_test

import (
	"bytes"
	"crypto/x509"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
)

// teaching is a phone whose certificate only an answer tells: without a known one the person
// is asked once more (spec 3.5).
func teaching(t *testing.T) *phone {
	p := newPhone(t)
	p.traits = idp.Traits{Remember: true}
	p.begin = func() (idp.Event, error) {
		if p.known != nil {
			return idp.NeedDigest{Certificate: p.known, Chain: p.ca.Chain(), Code: "0042"}, nil
		}
		return idp.Waiting{Code: "0042"}, nil
	}
	p.poll = func(s idp.State) (idp.State, idp.Event, error) {
		switch {
		case s.Public == nil:
			s.Public = []byte("asked for the certificate")
			return s, p.needDigest(), nil
		default:
			return s, p.signed(), nil
		}
	}
	p.sign = func(s idp.State) (idp.State, idp.Event, error) {
		s.Public = []byte("asked to sign")
		return s, idp.Waiting{Code: "0042"}, nil
	}
	return p
}

// The certificate of an answer is kept for the next request of any account, and for that
// person and phone alone.
func TestCertificateKept(t *testing.T) {
	t.Parallel()
	p := teaching(t)
	s := newService(t, p, signing.Options{IgnoreInterval: true})
	id := s.mustStart()
	if r := s.poll(id); r.Code != idp.AuthorizationPending || r.Verify != "0042" {
		t.Errorf("the first poll: %+v", r)
	}
	s.checkSigned(s.poll(id).Document)

	second, err := s.start(func(in *signing.Start) { in.Account = "another account" })
	if err != nil || second.Code != "0042" || !p.cert.Equal(p.known) {
		t.Fatalf("the second start: %+v, %v, knowing %v", second, err, p.known)
	}
	for name, change := range map[string]func(*signing.Start){
		"another person": func(in *signing.Start) { in.Person.Kennitala = "0101302479" },
		"another phone":  func(in *signing.Start) { in.Person.Phone = "5550102" },
		"another method": func(in *signing.Start) { in.Person.Method = idp.SIM },
	} {
		if s.mustStart(change); p.known != nil {
			t.Errorf("%s: the certificate is known", name)
		}
	}
}

// The person has another certificate since: the signature is prepared anew, and the person asked anew, for
// the one signature that there is in the end. The next request knows the certificate.
func TestKeptCertificateChanged(t *testing.T) {
	t.Parallel()
	for name, format := range map[string]signing.Format{"PDF": signing.PDF, "XML": signing.XML} {
		t.Run(name, func(t *testing.T) { keptCertificateChanged(t, format) })
	}
}

func keptCertificateChanged(t *testing.T, format signing.Format) {
	p := teaching(t)
	var asked []ades.Digest
	ask := p.sign
	p.sign = func(s idp.State) (idp.State, idp.Event, error) {
		asked = append(asked, p.digests...)
		return ask(s)
	}
	s := newService(t, p, signing.Options{IgnoreInterval: true})
	s.format = format
	id := s.mustStart()
	s.poll(id)
	s.checkSigned(s.poll(id).Document)

	asked = nil
	id = s.mustStart()
	old := p.cert
	p.key, p.cert = p.issue(kennitala)
	answer := p.poll
	p.poll = func(s idp.State) (idp.State, idp.Event, error) { return s, p.needDigest(), nil }
	if r := s.poll(id); r.Code != idp.AuthorizationPending {
		t.Errorf("the other certificate: %+v", r)
	}
	p.poll = answer
	s.checkSigned(s.poll(id).Document)
	if len(asked) != 2 || bytes.Equal(asked[0].Sum, asked[1].Sum) {
		t.Errorf("asked for %x", asked)
	}
	want := []string{"signature.asked", "signature.prepared", "signature.prepared", "signature.made", "signature.completed", "signature.delivered"}
	if diff := cmp.Diff(want, s.kinds(id)); diff != "" {
		t.Error(diff)
	}
	if s.mustStart(); old.Equal(p.known) || !p.cert.Equal(p.known) {
		t.Error("the old certificate is kept")
	}
}

// A certificate that is not good any more counts as none.
func TestKeptCertificateNotGood(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := teaching(t)
		db := newStore(t)
		keep := func(cert *x509.Certificate) service {
			p.cert = cert
			s := onStore(t, db, p, signing.Options{IgnoreInterval: true})
			s.poll(s.mustStart())
			return s
		}
		s := keep(p.cert)
		time.Sleep(time.Until(p.cert.NotAfter) + time.Hour)
		if s.mustStart(); p.known != nil {
			t.Error("known after its end")
		}
	})
	p := teaching(t)
	db := newStore(t)
	s := onStore(t, db, p, signing.Options{IgnoreInterval: true})
	s.poll(s.mustStart())
	p.ca = newPhone(t).ca // the roots are others now
	if s.mustStart(); p.known != nil {
		t.Error("known under no root")
	}
	_, wrong := p.issue("0101302479")
	p.cert = wrong
	id := s.mustStart()
	if r := s.poll(id); r.Code != idp.CertificateValidationError {
		t.Errorf("another person's: %+v", r)
	}
	if s.mustStart(); p.known != nil {
		t.Error("another person's certificate is kept")
	}
}
