package xades_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	"github.com/innsigli/innsigli/xades"
)

// TestVerifySeveralSignatures checks that signatures are in the order in which they were made, and that one that another
// one signs covers the document as it was before that.
func TestVerifySeveralSignatures(t *testing.T) {
	t.Parallel()
	ca := catest.New(t)
	first, second := newPerson(t, ca, p256(t)), newPerson(t, ca, p256(t))
	const whole, revision = "TRY_LATER WHOLE_DOCUMENT intact", "TRY_LATER WHOLE_REVISION intact"
	for _, test := range []struct {
		packing packing
		want    string
	}{
		{enveloped, whole + "; " + whole + ", passes"},
		{enveloping, revision + "; " + whole + ", passes"},
		{enveloping64, whole + ", passes"}, // the file that the second signs has the first
		{detached, whole + "; " + whole + ", passes"},
	} {
		signed := sign(t, sign(t, []byte(plainContract), first, test.packing.options()), second, test.packing.options())
		report := ades.Report{Signatures: verify(t, signed, ca)}
		if got := verdict(&report); got != test.want {
			t.Errorf("%s: got %s, want %s", test.packing.name, got, test.want)
		}
		n := len(report.Signatures)
		if !report.Signatures[n-1].Certificate.Equal(second.signer.Certificate) || n == 2 && !report.Signatures[0].Certificate.Equal(first.signer.Certificate) {
			t.Errorf("%s: the signatures are in another order", test.packing.name)
		}
	}
	signed := sign(t, sign(t, []byte(plainContract), first, xades.Options{}), second, xades.Options{Reason: "Samþykkt"})
	got := verify(t, replace("<ds:SignedInfo>", "<ds:SignedInfo><b/>")(t, first, signed), ca)
	if v := verdict(&ades.Report{Signatures: got}); v != notFormatted+"; "+whole || got[1].Reason != "Samþykkt" {
		t.Errorf("first signature unreadable: got %s, reason %q", v, got[1].Reason)
	}
}

// TestVerifyWithoutValidationData checks that a signature of level B or T is not valid outside of the validity period of
// its certificate (EN 319 102-1 5.2.6).
func TestVerifyWithoutValidationData(t *testing.T) {
	t.Parallel()
	p := newPerson(t, catest.New(t), p256(t))
	from, to := p.signer.Certificate.NotBefore, p.signer.Certificate.NotAfter
	for _, level := range []ades.Level{ades.B, ades.T} {
		signed := signFor(t, []byte(contract), p, level, xades.Options{})
		for at, want := range map[time.Time]ades.SubIndication{
			from.Add(-time.Hour): ades.CertificateChainGeneralFailure, to: ades.TryLater, to.Add(time.Hour): ades.CertificateChainGeneralFailure,
		} {
			report := foreignReport(t, signed, ades.VerifyOptions{Roots: p.ca.Roots(), Time: at})
			if s := report.Signatures[0]; s.SubIndication != want || !s.Certificate.Equal(p.signer.Certificate) {
				t.Errorf("%v at %v: got %s %q, want %s", level, at, s.SubIndication, s.Problems, want)
			}
		}
	}
}

// TestValidationDataOfAnotherSignature checks that validation data about a certificate counts for all signatures by that
// certificate, but only for the level of the signature that has it.
func TestValidationDataOfAnotherSignature(t *testing.T) {
	t.Parallel()
	ca := catest.New(t)
	p, q := newPerson(t, ca, p256(t)), newPerson(t, ca, p256(t))
	first := signLevel(t, []byte(contract), p, ades.LT, xades.Options{})
	for _, test := range []struct {
		name   string
		second []byte
		format string
		want   ades.SubIndication
	}{
		{"same certificate", signFor(t, first, p, ades.B, xades.Options{}), "XAdES-BASELINE-B", ""},
		{"another certificate", signFor(t, first, q, ades.T, xades.Options{}), "XAdES-BASELINE-T", ades.TryLater},
	} {
		got := verify(t, test.second, ca)
		if got[0].Indication != ades.TotalPassed || got[0].Format != "XAdES-BASELINE-LT" || got[1].SubIndication != test.want || got[1].Format != test.format {
			t.Errorf("%s: got %s %s, %s %s", test.name, got[0].Format, got[0].SubIndication, got[1].Format, got[1].SubIndication)
		}
	}
}

// TestPlacesOfValidationData checks that Verify reads validation data where EN 319 132-1 5.4 and 5.5 have it.
func TestPlacesOfValidationData(t *testing.T) {
	t.Parallel()
	values := regexp.MustCompile(`(?s)<xades:RevocationValues>(.*)</xades:RevocationValues>`)
	within := func(name string, content string) change {
		return substitute(values, "<"+name+">"+content+"</"+strings.Fields(name)[0]+">")
	}
	const space141 = ` xmlns:xades141="http://uri.etsi.org/01903/v1.4.1#"`
	ocsp := regexp.MustCompile(`<xades:EncapsulatedOCSPValue>`)
	const read, unread, partly = "TOTAL_PASSED WHOLE_DOCUMENT intact, passes", passes, partial
	garbage := "<xades:EncapsulatedOCSPValue>QUJD</xades:EncapsulatedOCSPValue>"
	checkChanges(t, newPerson(t, catest.New(t), p256(t)), ades.LT, plainContract, []changedDocument{
		{"RevocationValues", enveloped, unchanged, read},
		{"AttributeRevocationValues", enveloped, within("xades:AttributeRevocationValues", "$1"), read},
		{"TimeStampValidationData", enveloped, within("xades141:TimeStampValidationData"+space141, "$0"), read},
		{"AnyValidationData", enveloped, within("xades141:AnyValidationData"+space141, "$0"), read},
		{"TimeStampValidationData of XAdES 1.3.2", enveloped, within("xades:TimeStampValidationData", "$0"), partly},
		{"CompleteRevocationRefs", enveloped, within("xades:CompleteRevocationRefs", "$1"), unread},
		{"deeper in RevocationValues", enveloped, within("xades:RevocationValues", "<a>$1</a>"), unread},
		{"white space in Base64", enveloped, substitute(ocsp, "$0 \n\t"), read},
		{"element in Base64", enveloped, substitute(ocsp, "$0<b/>"), unread},
		{"after a value that is no Base64", enveloped, substitute(ocsp, "$0*</xades:EncapsulatedOCSPValue>$0"), read},
		{"after an empty value", enveloped, substitute(ocsp, "$0</xades:EncapsulatedOCSPValue>$0"), read},
		{"after 4,000 other values", enveloped, substitute(ocsp, strings.Repeat(garbage, 4000)+"$0"), read},
		{"after 4,100 other values", enveloped, substitute(ocsp, strings.Repeat(garbage, 4100)+"$0"), unread},
	})
}

// TestSignedSignatures checks that an Extender leaves a signature as it is if another signature signs it, and extends the
// others.
func TestSignedSignatures(t *testing.T) {
	t.Parallel()
	ca := catest.New(t)
	p, q := newPerson(t, ca, p256(t)), newPerson(t, ca, p256(t))
	signed := func(kinds ...packing) []byte {
		b := []byte("<a>b</a>")
		for _, k := range kinds {
			b = sign(t, b, p, k.options())
		}
		return b
	}
	rootFilter := replace("/descendant::ds:Signature", "/*/ds:Signature") // as EU DSS writes it
	besideRootFilter := sign(t, signs(rootFilter)(t, p, signed(enveloped)), q, xades.Options{})
	first := string(wholeSignature.Find(signed(enveloped)))
	for _, test := range []struct {
		name string
		b    []byte
		want string // levels, in the order of the report
	}{
		{"one", signed(enveloped), "T"},
		{"two enveloped", signed(enveloped, enveloped), "T T"},
		{"two in a container", signed(detached, detached), "T T"},
		{"enveloping around enveloping", signed(enveloping, enveloping), "B T"},
		{"enveloping around a container", signed(detached, enveloping), "B T"},
		{"container around enveloping", signed(enveloping, detached), "B T"},
		{"one that leaves out only itself, and another", signs(after(signatureEnd, first), replace(filterTransform, ownTransform))(t, p, signed(enveloped)), "T B"},
		{"one that leaves out those in the root, and another there", besideRootFilter, "T T"},
		{"one that leaves out those in the root, and another deeper", signs(after(signatureEnd, string(signed(enveloped))), rootFilter)(t, p, signed(enveloped)), "T B"},
	} {
		var got []string
		for _, s := range verify(t, extend(t, test.b, ades.T, ca.Sources(nil)), ca) {
			got = append(got, strings.TrimPrefix(s.Format, "XAdES-BASELINE-"))
			if !s.Intact && s.Format != "XAdES-BASELINE-B" { // the document of the one deeper has changed
				t.Errorf("%s: not intact: %q", test.name, s.Problems)
			}
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: got levels %q, want %q", test.name, got, test.want)
		}
	}
	for _, s := range verify(t, renew(t, extend(t, besideRootFilter, ades.LTA, ca.Sources(nil)), ca.Sources(nil)), ca) {
		if s.Format != "XAdES-BASELINE-LTA" || s.Indication != ades.TotalPassed || s.Coverage != ades.WholeDocument || len(s.Timestamps) != 3 {
			t.Errorf("renewed beside one that leaves out those in the root: %+v", s)
		}
	}
}

// TestVerifyWithoutReport checks documents without a signature, documents that cannot be read, and a cancelled context.
func TestVerifyWithoutReport(t *testing.T) {
	t.Parallel()
	report, err := xades.Verify(t.Context(), document([]byte(contract)), ades.VerifyOptions{})
	if err != nil || len(report.Signatures) > 0 || report.Passed() {
		t.Errorf("unsigned: got %+v, %v", report, err)
	}
	for _, b := range []string{"", "no XML", "<a>", "<!DOCTYPE a><a/>", "<a/><b/>", "%PDF-1.7"} {
		if _, err := xades.Verify(t.Context(), document([]byte(b)), ades.VerifyOptions{}); !errors.Is(err, ades.ErrUnreadable) {
			t.Errorf("%q: got %v, want ErrUnreadable", b, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := xades.Verify(ctx, document([]byte(contract)), ades.VerifyOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v, want Canceled", err)
	}
}
