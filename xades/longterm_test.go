package xades_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/xades"
)

// longTerm is a document with signers, renewed so many times, which verifies and can be extended in the end.
func longTerm(t *testing.T, b []byte, signers, renewals int, evidence string) {
	t.Helper()
	ca := newAuthority(t)
	for range signers {
		b = sign(t, b, newPerson(t, ca, p256(t)), xades.Options{})
	}
	b = extend(t, b, ades.LT, ca.Sources(nil))
	if evidence != "" {
		const end = "</xades:UnsignedSignatureProperties>"
		b = altered(t, b, end, evidence+end)
	}
	b = extend(t, b, ades.LTA, ca.Sources(nil))
	for range renewals {
		b = renew(t, b, ca.Sources(nil))
	}
	for _, s := range verify(t, b, ca) {
		stamps := 0
		for _, stamp := range s.Timestamps {
			if stamp.Trusted {
				stamps++
			}
		}
		if s.Indication != ades.TotalPassed || s.Format != "XAdES-BASELINE-LTA" || stamps != 2+renewals {
			t.Fatalf("%s %s %s with %d timestamps: %q", s.Format, s.Indication, s.SubIndication, stamps, s.Problems)
		}
	}
}

// Archive timestamps are over those before them: what all of them are over is as long as thirty signatures, and
// is gone through once.
func TestThirtyRenewals(t *testing.T) {
	t.Parallel()
	more := `<xades141:Other xmlns:xades141="http://uri.etsi.org/01903/v1.4.1#">` + strings.Repeat("evidence ", 400_000) + "</xades141:Other>"
	longTerm(t, []byte(contract), 1, 30, more)
	if testenv.Full() {
		longTerm(t, paragraphs(5<<20), 10, 30, "")
	}
}

// What an archive timestamp would be over may be far larger than the document; then the document is refused.
func TestArchiveBeyondTheLimit(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	b := sign(t, []byte(contract), newPerson(t, ca, p256(t)), xades.Options{})
	grows := `<ds:Object><a xmlns:p="urn:` + strings.Repeat("p", 5000) + `">` + strings.Repeat("<p:b/>", 50_000) + `</a></ds:Object></ds:Signature>`
	b = altered(t, b, "</ds:Signature>", grows)
	_, err := xades.Extender{Sources: ca.Sources(nil)}.Extend(t.Context(), document(b), ades.LTA)
	if !errors.Is(err, ades.ErrUnreadable) || !errors.Is(err, xades.ErrLimit) {
		t.Errorf("extended: %v", err)
	}
}
