package signing_test

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/pki/cms"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/signing"
)

// wholeCMS is a phone that makes the signature itself (idp.Traits.CMS).
func wholeCMS(t *testing.T) *phone {
	p := newPhone(t)
	p.traits = idp.Traits{CMS: true, Algorithm: ades.Algorithm{Hash: crypto.SHA256}}
	p.begin = func() (idp.Event, error) { return idp.NeedDigest{Code: "0042"}, nil }
	p.poll = func(s idp.State) (idp.State, idp.Event, error) {
		return s, idp.Signed{Values: [][]byte{p.cms(p.digests[0].Sum)}}, nil
	}
	return p
}

func (p *phone) cms(messageDigest []byte) []byte {
	p.t.Helper()
	algorithm, err := ades.DefaultAlgorithm(p.cert.PublicKey)
	if err != nil {
		p.t.Fatal(err)
	}
	attributes, err := cms.SignedAttributes(p.cert, algorithm, messageDigest)
	if err != nil {
		p.t.Fatal(err)
	}
	value, err := p.key.Sign(rand.Reader, algorithm.Digest(attributes).Sum, algorithm.Hash)
	if err != nil {
		p.t.Fatal(err)
	}
	der, err := cms.Marshal(cms.Parts{Certificate: p.cert, Algorithm: algorithm, SignedAttributes: attributes, Value: value})
	if err != nil {
		p.t.Fatal(err)
	}
	return der
}

func TestSignatureMadeOnThePhone(t *testing.T) {
	t.Parallel()
	s := newService(t, wholeCMS(t), signing.Options{IgnoreInterval: true})
	started, err := s.start()
	if err != nil || started.Code != "0042" {
		t.Fatalf("%+v, %v", started, err)
	}
	document := s.poll(started.ID).Document
	report, err := pades.Verify(t.Context(), pades.Document{ReaderAt: bytes.NewReader(document), Size: int64(len(document))}, ades.VerifyOptions{Roots: s.phone.ca.Roots()})
	if err != nil || len(report.Signatures) != 1 || report.Signatures[0].Format != "PKCS7-B" || !report.Signatures[0].Certificate.Equal(s.phone.cert) {
		t.Errorf("%+v, %v", report, err)
	}
}

// Such a signature is no baseline signature, and is not passed off as one.
func TestLevelsOfSignaturesMadeOnThePhone(t *testing.T) {
	t.Parallel()
	s := newService(t, wholeCMS(t), signing.Options{IgnoreInterval: true})
	for _, level := range []ades.Level{ades.T, ades.LT, ades.LTA} {
		if _, err := s.start(func(in *signing.Start) { in.Level = level }); !errors.Is(err, signing.ErrLevel) {
			t.Errorf("%v: %v", level, err)
		}
	}
	if n := s.documents(); n != 0 || s.phone.calls != 0 {
		t.Errorf("%d documents are left, %d calls", n, s.phone.calls)
	}
}

// The certificate comes with the value, and is checked then as any other (spec 3.8).
func TestWrongSignaturesMadeOnThePhone(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change func(p *phone)
		want   idp.ErrorCode
	}{
		"another person's":    {func(p *phone) { p.key, p.cert = p.issue("0101302479") }, idp.CertificateValidationError},
		"one of a TLS client": {func(p *phone) { p.key, p.cert = p.issueFor(x509.ExtKeyUsageClientAuth) }, idp.CertificateValidationError},
		"an unknown issuer's": {func(p *phone) {
			other := newPhone(p.t)
			p.key, p.cert = other.key, other.cert
		}, idp.CertificateValidationError},
		"of something else": {func(p *phone) {
			p.poll = func(s idp.State) (idp.State, idp.Event, error) {
				return s, idp.Signed{Values: [][]byte{p.cms(make([]byte, 32))}}, nil
			}
		}, idp.SignatureVerificationError},
		"by another key": {func(p *phone) { p.key, _ = p.issue(kennitala) }, idp.SignatureVerificationError},
		"none": {func(p *phone) {
			p.poll = func(s idp.State) (idp.State, idp.Event, error) {
				return s, idp.Signed{Values: [][]byte{[]byte("none")}}, nil
			}
		}, idp.SignatureVerificationError},
	} {
		t.Run(name, func(t *testing.T) {
			p := wholeCMS(t)
			s := newService(t, p, signing.Options{IgnoreInterval: true})
			row.change(p)
			if r := s.poll(s.mustStart()); r.Code != row.want {
				t.Errorf("%+v", r)
			}
		})
	}
}
