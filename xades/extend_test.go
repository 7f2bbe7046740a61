package xades_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/xades"
)

// What is there is not added again (EN 319 132-1 5.3 to 5.5).
func TestExtendIsIdempotent(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	for _, p := range packings {
		b := signFor(t, []byte(contract), newPerson(t, ca, p256(t)), ades.B, p.options())
		for _, step := range []struct {
			level     ades.Level
			revisions int
		}{{ades.B, 0}, {ades.T, 1}, {ades.T, 0}, {ades.LT, 1}, {ades.LT, 0}, {ades.T, 0}, {ades.LTA, 1}, {ades.LTA, 0}, {ades.LT, 0}} {
			revisions, err := xades.Extender{Sources: ca.Sources(nil)}.Extend(t.Context(), document(b), step.level)
			if err != nil {
				t.Fatal(err)
			}
			if len(revisions) != step.revisions {
				t.Errorf("%s to %v: %d revisions, want %d", p.name, step.level, len(revisions), step.revisions)
			}
			b = grown(t, b, revisions...)
		}
	}
}

// All levels at once are in one revision, of which the last timestamp is over what comes with it.
func TestExtendAtOnce(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	for _, p := range packings {
		b := signFor(t, []byte(contract), newPerson(t, ca, p256(t)), ades.B, p.options())
		revisions, err := xades.Extender{Sources: ca.Sources(nil)}.Extend(t.Context(), document(b), ades.LTA)
		if err != nil || len(revisions) != 1 {
			t.Fatalf("%s: %d revisions, %v", p.name, len(revisions), err)
		}
		for _, s := range verify(t, grown(t, b, revisions...), ca) {
			if s.Format != "XAdES-BASELINE-LTA" || s.Indication != ades.TotalPassed || len(s.Timestamps) != 2 {
				t.Errorf("%s: %s, %s %v", p.name, s.Format, s.Indication, s.Problems)
			}
		}
	}
}

// One call reaches each level, with sources, and its one revision is small.
func TestSignToEachLevel(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	p := newPerson(t, ca, p256(t))
	for _, k := range packings {
		for _, level := range []ades.Level{ades.B, ades.T, ades.LT, ades.LTA} {
			o := k.options()
			o.Level = level
			r, err := xades.Sign(t.Context(), document([]byte(contract)), p.key, p.signer, o, ca.Sources(nil))
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range verify(t, apply(t, []byte(contract), r), ca) {
				if s.Format != "XAdES-BASELINE-"+level.String() || !s.Intact || s.Coverage != ades.WholeDocument {
					t.Errorf("%s at %v: %s %s %v", k.name, level, s.Format, s.Indication, s.Problems)
				}
			}
		}
	}
}

// A signature in an Object that another one does not sign changes what the archive timestamp of that one is
// over: they cannot both get one.
func TestExtendInAnother(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
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

// grown applies revisions that add to what is there and change nothing of it.
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
			t.Fatal("what was there did not stay")
		}
		b = apply(t, b, r)
	}
	return b
}

// A second signer after LTA is not covered by the timestamp that is there, and a renewal adds one to each
// signature whatever there is.
func TestExtendAfterTheArchiveTimestamp(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	x := xades.Extender{Sources: ca.Sources(nil)}
	b := signLevel(t, []byte(contract), newPerson(t, ca, p256(t)), ades.LTA, xades.Options{})
	b = signFor(t, b, newPerson(t, ca, p256(t)), ades.LTA, xades.Options{})
	revisions, err := x.Extend(t.Context(), document(b), ades.LTA)
	if err != nil || len(revisions) != 1 {
		t.Fatalf("%d revisions, %v", len(revisions), err)
	}
	b = grown(t, b, revisions...)
	for i := range 2 {
		revisions, err := x.Renew(t.Context(), document(b))
		if err != nil || len(revisions) != 1 {
			t.Fatalf("renewal: %d revisions, %v", len(revisions), err)
		}
		b = grown(t, b, revisions...)
		if n := bytes.Count(b, []byte("<xades141:ArchiveTimeStamp ")); n != 2*(i+2) {
			t.Errorf("%d archive timestamps", n)
		}
	}
}

// A proof from before the signature says nothing about it.
func TestExtendAsksAboutEachSignature(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	p := newPerson(t, ca, p256(t))
	now := time.Now()
	b := []byte(contract)
	for i := range 2 {
		s := ca.Sources(func() time.Time { return now.Add(time.Duration(i) * time.Minute) })
		pending, err := xades.Prepare(t.Context(), document(b), p.signer, xades.Options{Level: ades.LT})
		if err != nil {
			t.Fatal(err)
		}
		r, err := pending.Sign(t.Context(), p.key, s.Time)
		if err != nil {
			t.Fatal(err)
		}
		b = apply(t, b, r)
		revisions, err := xades.Extender{Sources: s}.Extend(t.Context(), document(b), ades.LT)
		if err != nil || len(revisions) != 1 {
			t.Fatalf("signature %d: %d revisions, %v", i, len(revisions), err)
		}
		b = grown(t, b, revisions...)
	}
}

func TestExtendRefuses(t *testing.T) {
	t.Parallel()
	ca, other := newAuthority(t), newAuthority(t)
	p := newPerson(t, ca, p256(t))
	unsigned := []byte(contract)
	signed := signFor(t, unsigned, p, ades.T, xades.Options{})
	archived := signLevel(t, unsigned, p, ades.LTA, xades.Options{})
	enveloping := signFor(t, unsigned, p, ades.T, xades.Options{Packing: xades.Enveloping})
	whole := ca.Sources(nil)
	without := func(change func(*ades.Sources)) ades.Sources { s := whole; change(&s); return s }
	revoked := newAuthority(t)
	gone := newPerson(t, revoked, p256(t))
	goneSigned := signFor(t, unsigned, gone, ades.T, xades.Options{})
	revoked.Revoke(gone.signer.Certificate.SerialNumber, time.Now().Add(-time.Minute), 1)
	for name, row := range map[string]struct {
		b     []byte
		level ades.Level
		s     ades.Sources
		want  error
	}{
		"no signature":                 {unsigned, ades.LT, whole, ades.ErrUnsigned},
		"not XML":                      {[]byte("PK"), ades.LT, whole, ades.ErrUnreadable},
		"no timestamp authority":       {signed, ades.LTA, without(func(s *ades.Sources) { s.Time = nil }), ades.ErrTimestamp},
		"no revocation":                {signed, ades.LT, without(func(s *ades.Sources) { s.Revocation = nil }), ades.ErrNoRevocation},
		"no root":                      {signed, ades.LT, without(func(s *ades.Sources) { s.Roots = nil }), ades.ErrNoChain},
		"another root":                 {signed, ades.LT, without(func(s *ades.Sources) { s.Roots = other.Roots() }), ades.ErrNoChain},
		"revoked before the signature": {goneSigned, ades.LT, revoked.Sources(nil), ades.ErrRevoked},
		"content changed":              {altered(t, signed, "250000", "950000"), ades.LT, whole, ades.ErrBroken},
		"signing time changed":         {altered(t, signed, "<xades:SigningTime>2", "<xades:SigningTime>3"), ades.LT, whole, ades.ErrBroken},
		"value changed":                {changedValue(t, signed), ades.LT, whole, ades.ErrBroken},
		"properties of another":        {altered(t, signed, `Target="#`, `Target="#x`), ades.LT, whole, ades.ErrBroken},
		"timestamped KeyInfo changed":  {altered(t, archived, "</ds:X509Certificate></ds:X509Data>", "\n</ds:X509Certificate></ds:X509Data>"), ades.LTA, whole, ades.ErrBroken},
		"evidence under it added to":   {altered(t, archived, "<xades:OCSPValues>", "<xades:OCSPValues> "), ades.LTA, whole, ades.ErrBroken},
		"no properties":                {altered(t, altered(t, signed, "<xades:QualifyingProperties", "<xades:Properties"), "</xades:QualifyingProperties", "</xades:Properties"), ades.LT, whole, ades.ErrBroken},
		"no XAdES":                     {altered(t, altered(t, altered(t, signed, "<xades:QualifyingProperties", "<xades:Properties"), "</xades:QualifyingProperties", "</xades:Properties"), "#SignedProperties", "#Other"), ades.LT, whole, ades.ErrForbidden},
		"signs its own properties":     {altered(t, enveloping, `URI="#document-`, `URI="#signature-`), ades.LT, whole, ades.ErrForbidden},
		"no level":                     {signed, 9, whole, errAny},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := xades.Extender{Sources: row.s}.Extend(t.Context(), document(row.b), row.level)
			if row.want == errAny && err != nil {
				return
			}
			if !errors.Is(err, row.want) {
				t.Errorf("got %v, want %v", err, row.want)
			}
		})
	}
	t.Run("context ended", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := (xades.Extender{Sources: whole}).Extend(ctx, document(signed), ades.LT); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

var errAny = errors.New("an error of no kind")

// altered replaces what occurs.
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

// Whoever signed last does not answer for the others.
func TestExtendLastBehindABrokenSignature(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	b := signFor(t, []byte(contract), p, ades.B, xades.Options{})
	first := bytes.Clone(b)
	b = changedValue(t, signFor(t, b, p, ades.T, xades.Options{}))
	x := xades.Extender{Sources: p.ca.Sources(nil)}
	if _, err := x.Extend(t.Context(), document(b), ades.LT); !errors.Is(err, ades.ErrBroken) {
		t.Errorf("with that one: %v", err)
	}
	revisions, err := x.ExtendLast(t.Context(), document(b), ades.LT)
	if err != nil {
		t.Fatal(err)
	}
	signatures := verify(t, grown(t, b, revisions...), p.ca)
	if signatures[0].Indication != ades.TotalFailed || signatures[1].Format != "XAdES-BASELINE-LT" || signatures[1].Indication != ades.TotalPassed {
		t.Errorf("%+v", signatures)
	}
	if _, err := x.ExtendLast(t.Context(), document(changedValue(t, first)), ades.LT); !errors.Is(err, ades.ErrBroken) {
		t.Errorf("and of one that is broken itself: %v", err)
	}
}

// A signature that is signed in turn stays as it is; the one around it is raised.
func TestExtendAroundASignature(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	first, second := newPerson(t, ca, p256(t)), newPerson(t, ca, p256(t))
	for _, inner := range packings {
		if inner.packing == xades.Enveloped || inner.base64 { // wrapped, the one would break, and the other is out of sight
			continue
		}
		signed := signFor(t, []byte(contract), first, ades.B, inner.options())
		b := signFor(t, signed, second, ades.T, xades.Options{Packing: xades.Enveloping})
		for _, raise := range []func(context.Context, xades.Document, ades.Level) ([]xades.Revision, error){
			xades.Extender{Sources: ca.Sources(nil)}.Extend, xades.Extender{Sources: ca.Sources(nil)}.ExtendLast,
		} {
			revisions, err := raise(t.Context(), document(b), ades.LTA)
			if err != nil || len(revisions) != 1 {
				t.Fatalf("%s: %d revisions, %v", inner.name, len(revisions), err)
			}
			whole := grown(t, b, revisions...)
			if got := verify(t, whole, ca); got[0].Format != "XAdES-BASELINE-B" || !got[0].Intact || got[1].Format != "XAdES-BASELINE-LTA" {
				t.Errorf("%s: %s, %s", inner.name, got[0].Format, got[1].Format)
			}
		}
	}
}

// What is no timestamp over the value proves nothing, and another one is asked for.
func TestExtendReplacesNoTimestamp(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	signed := signFor(t, []byte(contract), p, ades.T, xades.Options{})
	const tag = "<xades:EncapsulatedTimeStamp>"
	for name, b := range map[string][]byte{
		"garbage":           altered(t, signed, tag, tag+"AAAA"),
		"no Base64":         altered(t, signed, tag, tag+"*"),
		"elements in it":    altered(t, signed, tag, tag+"<a/>"),
		"unknown method":    altered(t, signed, `<xades:EncapsulatedTimeStamp>`, `<ds:CanonicalizationMethod Algorithm="urn:x"/><xades:EncapsulatedTimeStamp>`),
		"of other elements": altered(t, signed, `<ds:SignatureValue `, `<ds:SignatureValue a="" `),
	} {
		revisions, err := xades.Extender{Sources: p.ca.Sources(nil)}.Extend(t.Context(), document(b), ades.T)
		if err != nil || len(revisions) != 1 {
			t.Errorf("%s: %d revisions, %v", name, len(revisions), err)
			continue
		}
		b = grown(t, b, revisions...)
		if n := bytes.Count(b, []byte(tag)); n != 2 {
			t.Errorf("%s: %d timestamps", name, n)
		}
		if revisions, err := (xades.Extender{Sources: p.ca.Sources(nil)}).Extend(t.Context(), document(b), ades.T); err != nil || len(revisions) != 0 {
			t.Errorf("%s: and again: %d revisions, %v", name, len(revisions), err)
		}
	}
}
