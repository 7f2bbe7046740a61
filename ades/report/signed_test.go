package report_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
	"github.com/innsigli/innsigli/xades"
)

// signedAt is when everything here is signed.
var signedAt = time.Date(2026, time.June, 17, 12, 0, 0, 0, time.UTC)

// scene is an authority and a person, at a time that stands still.
type scene struct {
	ca     *sandboxca.Authority
	signer ades.Signer
	key    *ecdsa.PrivateKey
}

func newScene(t *testing.T, name string) scene {
	t.Helper()
	ca, err := sandboxca.New(signedAt)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := ca.Issue(name, "0101302989", key.Public(), signedAt)
	if err != nil {
		t.Fatal(err)
	}
	return scene{ca, ades.Signer{Certificate: cert, Chain: ca.Chain()}, key}
}

func (s scene) clock() time.Time { return signedAt }

// pdf is a document of a page that was signed, at a level.
func (s scene) pdf(t *testing.T, level ades.Level, o pades.Options) []byte {
	t.Helper()
	content := pdftest.Build(pdftest.Options{})
	o.Time, o.Level = signedAt, level
	sources := s.ca.Sources(s.clock)
	p, err := pades.Prepare(t.Context(), pdfOf(content), s.signer, o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Sign(t.Context(), s.key, sources.Time)
	if err != nil {
		t.Fatal(err)
	}
	content = append(content, r.Bytes...)
	if level == ades.B {
		return content
	}
	revisions, err := pades.Extender{Sources: sources}.Extend(t.Context(), pdfOf(content), level)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range revisions {
		content = append(content, r.Bytes...)
	}
	return content
}

func pdfOf(content []byte) pades.Document {
	return pades.Document{ReaderAt: bytes.NewReader(content), Size: int64(len(content))}
}

// judgedPDF is the report on a document; without roots nobody is trusted.
func (s scene) judgedPDF(t *testing.T, content []byte, trusted bool) *ades.Report {
	t.Helper()
	options := ades.VerifyOptions{Time: signedAt.Add(time.Hour)}
	if trusted {
		options.Roots = s.ca.Roots()
	}
	r, err := pades.Verify(t.Context(), pdfOf(content), options)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// judgedXML is the report on XML that was signed twice.
func (s scene) judgedXML(t *testing.T) *ades.Report {
	t.Helper()
	document := xmlOf([]byte("<letter><sum>842</sum></letter>"))
	for _, packing := range []xades.Packing{xades.Enveloping, xades.Enveloping} {
		r, err := xades.Sign(t.Context(), document, s.key, s.signer, xades.Options{Packing: packing, Time: signedAt, Reason: "Samþykkt", City: "Akureyri", Country: "IS"}, ades.Sources{})
		if err != nil {
			t.Fatal(err)
		}
		document = document.With(r)
	}
	r, err := xades.Verify(context.Background(), document, ades.VerifyOptions{Time: signedAt, Roots: s.ca.Roots()})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func xmlOf(content []byte) xades.Document {
	return xades.Document{ReaderAt: bytes.NewReader(content), Size: int64(len(content))}
}
