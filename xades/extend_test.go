package xades_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/xades"
)

// The extender refuses a signature of level LTA whose archive timestamp is broken, and signatures
// that cannot have validation data.
func TestExtendRefuses(t *testing.T) {
	t.Parallel()
	ca := catest.New(t)
	p := newPerson(t, ca, p256(t))
	signed := signFor(t, []byte(contract), p, ades.T, xades.Options{})
	archived := signLevel(t, []byte(contract), p, ades.LTA, xades.Options{})
	enveloping := signFor(t, []byte(contract), p, ades.T, xades.Options{Packing: xades.Enveloping})
	many := `<ds:Object><a xmlns:p="urn:` + strings.Repeat("p", 5000) + `">` + strings.Repeat("<p:b/>", 50_000) + `</a></ds:Object></ds:Signature>`
	for name, row := range map[string]struct {
		document []byte
		level    ades.Level
		want     error
	}{
		"KeyInfo under the archive timestamp changed":  {altered(t, archived, "</ds:X509Certificate></ds:X509Data>", "\n</ds:X509Certificate></ds:X509Data>"), ades.LTA, ades.ErrBroken},
		"property under the archive timestamp changed": {altered(t, archived, "<xades:OCSPValues>", "<xades:OCSPValues> "), ades.LTA, ades.ErrBroken},
		"no XAdES signature":                           {altered(t, brokenXML(t, signed)["no properties"], "#SignedProperties", "#Other"), ades.LT, ades.ErrForbidden},
		"signature signs its own properties":           {altered(t, enveloping, `URI="#document-`, `URI="#signature-`), ades.LT, ades.ErrForbidden},
		"archive timestamp over too much":              {altered(t, signed, "</ds:Signature>", many), ades.LTA, xades.ErrLimit},
	} {
		_, err := xades.Extender{Sources: ca.Sources(nil)}.Extend(t.Context(), document(row.document), row.level)
		if !errors.Is(err, row.want) || row.want == xades.ErrLimit && !errors.Is(err, ades.ErrUnreadable) {
			t.Errorf("%s: %v, want %v", name, err, row.want)
		}
	}
}

// Each renewal adds the validation data of the archive timestamp before it.
func TestRenewalAddsValidationData(t *testing.T) {
	t.Parallel()
	began := time.Now().AddDate(0, 0, -8)
	ca := catest.NewAt(t, began)
	on := func(day int) ades.Sources {
		return ca.Sources(func() time.Time { return began.AddDate(0, 0, day).Add(time.Hour) })
	}
	p := newPersonAt(t, ca, p256(t), began)
	for _, k := range packings {
		o := k.options()
		o.Time = began.Add(time.Hour)
		b := extend(t, sign(t, []byte(contract), p, o), ades.LT, on(0))
		for n := 1; n <= 3; n++ {
			b = renew(t, b, on(2*n))
			if got := bytes.Count(b, []byte("</xades141:TimeStampValidationData><xades141:ArchiveTimeStamp ")); got != n {
				t.Errorf("%s: validation data before %d archive timestamps, want %d", k.name, got, n)
			}
		}
	}
}

// A signature in an Object that another one does not sign is under the archive timestamp of that
// one: they cannot both get an archive timestamp.
func TestExtendInAnother(t *testing.T) {
	t.Parallel()
	ca := catest.New(t)
	outer := sign(t, []byte("<a/>"), newPerson(t, ca, p256(t)), packings[0].options())
	inner := sign(t, []byte("<b/>"), newPerson(t, ca, p256(t)), packings[1].options())
	b := bytes.Replace(outer, []byte("</ds:Signature>"), []byte("<ds:Object>"+string(inner)+"</ds:Object></ds:Signature>"), 1)
	for level, want := range map[ades.Level]error{ades.LT: nil, ades.LTA: ades.ErrForbidden} {
		if _, err := (xades.Extender{Sources: ca.Sources(nil)}).Extend(t.Context(), document(b), level); !errors.Is(err, want) {
			t.Errorf("%v: %v", level, err)
		}
	}
	if _, err := (xades.Extender{Sources: ca.Sources(nil)}).ExtendLast(t.Context(), document(b), ades.LTA); err != nil {
		t.Error(err)
	}
}

// A signature that another one signs stays as it is; the other one is extended.
func TestExtendAroundASignature(t *testing.T) {
	t.Parallel()
	ca := catest.New(t)
	first, second := newPerson(t, ca, p256(t)), newPerson(t, ca, p256(t))
	for _, inner := range packings {
		if inner.packing == xades.Enveloped || inner.base64 { // the one would break, and the other would be hidden
			continue
		}
		signed := signFor(t, []byte(contract), first, ades.B, inner.options())
		b := signFor(t, signed, second, ades.T, xades.Options{Packing: xades.Enveloping})
		for _, run := range []extender{xades.Extender.Extend, xades.Extender.ExtendLast} {
			if got := verify(t, mustExtend(t, b, ades.LTA, ca.Sources(nil), run), ca); got[0].Format != "XAdES-BASELINE-B" || !got[0].Intact || got[1].Format != "XAdES-BASELINE-LTA" {
				t.Errorf("%s: %s, %s", inner.name, got[0].Format, got[1].Format)
			}
		}
	}
}

// A signature timestamp that is broken proves nothing, and the signature gets another one.
func TestExtendAddsToBrokenTimestamps(t *testing.T) {
	t.Parallel()
	p := newPerson(t, catest.New(t), p256(t))
	signed := signFor(t, []byte(contract), p, ades.T, xades.Options{})
	const tag = "<xades:EncapsulatedTimeStamp>"
	for name, b := range map[string][]byte{
		"garbage":           altered(t, signed, tag, tag+"AAAA"),
		"no Base64":         altered(t, signed, tag, tag+"*"),
		"elements in it":    altered(t, signed, tag, tag+"<a/>"),
		"unknown method":    altered(t, signed, `<xades:EncapsulatedTimeStamp>`, `<ds:CanonicalizationMethod Algorithm="urn:x"/><xades:EncapsulatedTimeStamp>`),
		"of other elements": altered(t, signed, `<ds:SignatureValue `, `<ds:SignatureValue a="" `),
	} {
		b = extend(t, b, ades.T, p.ca.Sources(nil))
		if n := bytes.Count(b, []byte(tag)); n != 2 {
			t.Errorf("%s: %d timestamps, want 2", name, n)
		}
		if again := extend(t, b, ades.T, p.ca.Sources(nil)); !bytes.Equal(again, b) {
			t.Errorf("%s: extended again", name)
		}
	}
}

// Foreign signatures get a timestamp that is intact to EU DSS, or are refused with one of the
// documented errors. The result for the signature stays the same.
func TestExtendForeign(t *testing.T) {
	t.Parallel()
	ca := catest.New(t)
	files, err := filepath.Glob(filepath.Join(testenv.Corpus(t, "signed/xml"), "*.xml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	refusals := []error{ades.ErrUnsigned, ades.ErrUnreadable, ades.ErrForbidden, ades.ErrBroken}
	folder := t.TempDir()
	var raised []string
	for _, path := range files {
		b, name := readFile(t, path), filepath.Base(path)
		after, revisions, err := extendXML(xades.Extender.Extend)(t, b, ades.T, ca.Sources(nil))
		if err != nil && !slices.ContainsFunc(refusals, func(refusal error) bool { return errors.Is(err, refusal) }) {
			t.Errorf("%s: %v", name, err)
		}
		if revisions == 0 {
			continue
		}
		sameVerdicts(t, name, verify(t, b, ca), verify(t, after, ca))
		raised = append(raised, filepath.Join(folder, name))
		writeFile(t, raised[len(raised)-1], after)
	}
	t.Logf("figure: %d of %d samples were extended to T", len(raised), len(files))
	if len(raised) < 40 {
		t.Errorf("%d samples were extended, want at least 40", len(raised))
	}
	if !testenv.Full() {
		raised = slices.DeleteFunc(raised, func(path string) bool { return len(filepath.Base(path))%4 > 0 })
	}
	for i, r := range validators.DSS(t, validators.DSSOptions{}, raised...) {
		name := filepath.Base(raised[i])
		altered := 0
		for _, s := range r.Timestamps {
			if !s.Intact {
				altered++
			}
		}
		if len(r.Signatures) == 0 || len(r.Timestamps) == altered || altered != foreignTimestamps[name] {
			t.Errorf("%s: %d of %d timestamps are not intact, %s", name, altered, len(r.Timestamps), r.Error)
		}
	}
}

// foreignTimestamps counts the timestamps of a sample that are over something else.
var foreignTimestamps = map[string]int{"xades-t-copied-sigtst.xml": 1}

// sameVerdicts checks that the results for all signatures are the same.
func sameVerdicts(t *testing.T, name string, before, after []ades.SignatureReport) {
	t.Helper()
	if len(before) != len(after) {
		t.Errorf("%s: %d signatures, and then %d", name, len(before), len(after))
		return
	}
	for i := range before {
		if before[i].Intact != after[i].Intact || before[i].Indication != after[i].Indication {
			t.Errorf("%s: %s, and then %s: %q", name, before[i].Indication, after[i].Indication, after[i].Problems)
		}
	}
}

// grown applies revisions that only add to a document.
func grown(t testing.TB, b []byte, revisions ...xades.Revision) []byte {
	t.Helper()
	for _, r := range revisions {
		var kept []byte
		for _, p := range r.Pieces {
			if p.Bytes == nil {
				kept = append(kept, b[p.From:p.To]...)
			}
		}
		if !bytes.Equal(kept, b) {
			t.Fatal("bytes of the document were changed or removed")
		}
		b = apply(t, b, r)
	}
	return b
}

// altered replaces the first occurrence of a text, which has to occur.
func altered(t testing.TB, b []byte, old, new string) []byte {
	t.Helper()
	if !bytes.Contains(b, []byte(old)) {
		t.Fatalf("no %q", old)
	}
	return bytes.Replace(b, []byte(old), []byte(new), 1)
}

// changedValue changes the first character of the first signature's value.
func changedValue(t testing.TB, b []byte) []byte {
	t.Helper()
	const tag = "<ds:SignatureValue "
	at := bytes.Index(b, []byte(tag))
	at += bytes.IndexByte(b[max(at, 0):], '>') + 1
	if at < len(tag) {
		t.Fatal("no signature")
	}
	changed := bytes.Clone(b)
	changed[at] = 'A' + (changed[at]-'A'+1)%26
	return changed
}
