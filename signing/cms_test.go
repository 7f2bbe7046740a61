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

// A signature that is made on the phone is no baseline signature, so that it has no higher level, and it goes into a PDF
// only. The document of an order grows, which XML does not.
func TestFormatsAndLevelsThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		phone func(*testing.T) *phone
		in    signing.Start
		want  error
	}{
		"CMS at T":     {wholeCMS, signing.Start{Level: ades.T}, signing.ErrLevel},
		"CMS at LTA":   {wholeCMS, signing.Start{Level: ades.LTA}, signing.ErrLevel},
		"CMS in XML":   {wholeCMS, signing.Start{Format: signing.XML}, signing.ErrFormat},
		"XML to order": {newPhone, signing.Start{Format: signing.XML, Order: &signing.Order{ID: "order"}}, signing.ErrFormat},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, test.phone(t), signing.Options{})
			_, err := s.start(func(in *signing.Start) { in.Format, in.Level, in.Order = test.in.Format, test.in.Level, test.in.Order })
			if !errors.Is(err, test.want) || s.phone.calls != 0 {
				t.Errorf("%v, %d calls", err, s.phone.calls)
			}
			if n := s.documents(); n != 0 && test.in.Order == nil { // that of an order is its owner's
				t.Errorf("%d documents are left", n)
			}
		})
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
