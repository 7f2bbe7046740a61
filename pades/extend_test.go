package pades_test

import (
	"bytes"
	"context"
	"crypto"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/iotest"
	"time"

	"github.com/innsigli/innsigli/ades"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/pdflint"
	"github.com/innsigli/innsigli/pades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// signLevel signs for a level and extends to it.
func signLevel(t testing.TB, b []byte, p person, level ades.Level) []byte {
	t.Helper()
	return extend(t, signFor(t, b, p, level), level, p.ca.Sources(nil))
}

// signFor signs for a level: at level T at most.
func signFor(t testing.TB, b []byte, p person, level ades.Level) []byte {
	t.Helper()
	pending, err := pades.Prepare(t.Context(), document(b), p.signer, pades.Options{Level: level, Reason: "Undirritun"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := pending.Sign(t.Context(), p.key, p.ca.Sources(nil).Time)
	if err != nil {
		t.Fatal(err)
	}
	return appendAll(t, b, []pades.Revision{r})
}

func extend(t testing.TB, b []byte, level ades.Level, s ades.Sources) []byte {
	t.Helper()
	revisions, err := pades.Extender{Sources: s}.Extend(t.Context(), document(b), level)
	if err != nil {
		t.Fatal(err)
	}
	return appendAll(t, b, revisions)
}

func renew(t testing.TB, b []byte, s ades.Sources) []byte {
	t.Helper()
	revisions, err := pades.Extender{Sources: s}.Renew(t.Context(), document(b))
	if err != nil {
		t.Fatal(err)
	}
	return appendAll(t, b, revisions)
}

func appendAll(t testing.TB, b []byte, revisions []pades.Revision) []byte {
	t.Helper()
	for _, r := range revisions {
		if r.Base != int64(len(b)) {
			t.Fatalf("revision at %d of a document of %d bytes", r.Base, len(b))
		}
		grown := slices.Concat(b, r.Bytes)
		pdflint.Clean(t, b, grown)
		b = grown
	}
	return b
}

// What is there is not added again (EN 319 142-1 5.4 to 5.6).
func TestExtendIsIdempotent(t *testing.T) {
	ca := newAuthority(t)
	for _, kind := range pdftest.Kinds {
		b := signFor(t, pdftest.Build(pdftest.Options{Kind: kind}), newPerson(t, ca, p256(t)), ades.B)
		for _, step := range []struct {
			level     ades.Level
			revisions int
		}{{ades.B, 0}, {ades.T, 1}, {ades.T, 0}, {ades.LT, 1}, {ades.LT, 0}, {ades.T, 0}, {ades.LTA, 1}, {ades.LTA, 0}, {ades.LT, 0}} {
			revisions, err := pades.Extender{Sources: ca.Sources(nil)}.Extend(t.Context(), document(b), step.level)
			if err != nil {
				t.Fatal(err)
			}
			if len(revisions) != step.revisions {
				t.Errorf("%s to %v: %d revisions, want %d", kind, step.level, len(revisions), step.revisions)
			}
			b = appendAll(t, b, revisions)
		}
	}
}

// A second signer after LTA is not covered by the timestamp that is there, and a renewal
// adds one whatever there is.
func TestExtendAfterTheArchiveTimestamp(t *testing.T) {
	ca := newAuthority(t)
	b := signLevel(t, pdftest.Build(pdftest.Options{}), newPerson(t, ca, p256(t)), ades.LTA)
	b = signFor(t, b, newPerson(t, ca, p256(t)), ades.LTA)
	x := pades.Extender{Sources: ca.Sources(nil)}
	revisions, err := x.Extend(t.Context(), document(b), ades.LTA)
	if err != nil || len(revisions) != 2 {
		t.Fatalf("%d revisions, %v", len(revisions), err)
	}
	b = appendAll(t, b, revisions)
	for range 2 {
		if revisions, err = x.Renew(t.Context(), document(b)); err != nil || len(revisions) != 1 {
			t.Fatalf("renewal: %d revisions, %v", len(revisions), err)
		}
		b = appendAll(t, b, revisions)
	}
	if n := bytes.Count(b, []byte("/SubFilter /ETSI.RFC3161")); n != 4 {
		t.Errorf("%d document timestamps", n)
	}
}

// A proof from before the signature says nothing about it.
func TestExtendAsksAgainAboutTheSameSigner(t *testing.T) {
	ca := newAuthority(t)
	p := newPerson(t, ca, p256(t))
	now := time.Now()
	at := func(d time.Duration) ades.Sources { return ca.Sources(func() time.Time { return now.Add(d) }) }
	b := pdftest.Build(pdftest.Options{})
	for i := range 2 {
		s := at(time.Duration(i) * time.Minute)
		pending, err := pades.Prepare(t.Context(), document(b), p.signer, pades.Options{Level: ades.LT})
		if err != nil {
			t.Fatal(err)
		}
		r, err := pending.Sign(t.Context(), p.key, s.Time)
		if err != nil {
			t.Fatal(err)
		}
		b = appendAll(t, b, []pades.Revision{r})
		revisions, err := pades.Extender{Sources: s}.Extend(t.Context(), document(b), ades.LT)
		if err != nil || len(revisions) != 1 {
			t.Fatalf("signature %d: %d revisions, %v", i, len(revisions), err)
		}
		b = appendAll(t, b, revisions)
	}
}

// lying is a timestamp authority with another answer.
type lying func(h crypto.Hash, sum []byte) ([]byte, error)

func (l lying) Timestamp(_ context.Context, h crypto.Hash, sum []byte) ([]byte, error) {
	return l(h, sum)
}

func TestCompleteNeedsItsTimestamp(t *testing.T) {
	ca := newAuthority(t)
	p := newPerson(t, ca, p256(t))
	var err error
	if p.signer.Certificate, err = ca.Issue("Dæmi um nafn", "1203894569", p.key.Public(), time.Now().AddDate(-4, -11, 0)); err != nil {
		t.Fatal(err)
	}
	honest := ca.Sources(nil).Time
	for name, row := range map[string]struct {
		t    ades.Timestamper
		want error
	}{
		"none": {nil, ades.ErrTimestamp},
		"down": {lying(func(crypto.Hash, []byte) ([]byte, error) { return nil, ades.ErrUnavailable }), ades.ErrUnavailable},
		"over something else": {lying(func(h crypto.Hash, sum []byte) ([]byte, error) {
			return honest.Timestamp(t.Context(), h, make([]byte, len(sum)))
		}), ades.ErrTimestamp},
		"by another hash": {lying(func(crypto.Hash, []byte) ([]byte, error) {
			return honest.Timestamp(t.Context(), crypto.SHA512, make([]byte, 64))
		}), ades.ErrTimestamp},
		"garbage":                          {lying(func(crypto.Hash, []byte) ([]byte, error) { return []byte("garbage"), nil }), ades.ErrTimestamp},
		"after the certificate's end":      {authorityAt(ca, p.signer.Certificate.NotAfter.Add(time.Minute)), ades.ErrOutsideValidity},
		"of an authority that has expired": {authorityAt(ca, time.Now().AddDate(6, 0, 0)), ades.ErrTimestamp},
	} {
		t.Run(name, func(t *testing.T) {
			pending, err := pades.Prepare(t.Context(), document(pdftest.Build(pdftest.Options{})), p.signer, pades.Options{Level: ades.T})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := pending.Sign(t.Context(), p.key, row.t); !errors.Is(err, row.want) {
				t.Errorf("got %v, want %v", err, row.want)
			}
			if _, err := pending.Sign(t.Context(), p.key, honest); err != nil {
				t.Errorf("and then from an honest one: %v", err)
			}
		})
	}
}

func authorityAt(ca *sandboxca.Authority, at time.Time) ades.Timestamper {
	return ca.Sources(func() time.Time { return at }).Time
}

// Level is part of what is stored between the phases.
func TestPendingKeepsItsLevel(t *testing.T) {
	ca := newAuthority(t)
	pending, err := pades.Prepare(t.Context(), document(pdftest.Build(pdftest.Options{})), newPerson(t, ca, p256(t)).signer, pades.Options{Level: ades.LTA})
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := pending.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var again pades.Pending
	if err := again.UnmarshalBinary(encoded); err != nil || again.Level() != ades.LTA {
		t.Errorf("%v, %v", again.Level(), err)
	}
	if err := again.UnmarshalBinary(bytes.Replace(encoded, []byte(`"level":3`), []byte(`"level":7`), 1)); err == nil {
		t.Error("a level that does not exist was decoded")
	}
}

// PDF/A-1 has every field have an appearance (ISO 19005-1 6.9). Elsewhere the field of a document timestamp has none
// (ISO 32000-2 12.8.5), whatever the version.
func TestTimestampFieldHasNoAppearance(t *testing.T) {
	p := newPerson(t, newAuthority(t), p256(t))
	ordinary := bytes.Replace(pdftest.Build(pdftest.Options{}), []byte("%PDF-1.7"), []byte("%PDF-1.4"), 1)
	for name, test := range map[string]struct {
		document []byte
		want     bool
	}{
		"PDF 1.4":  {ordinary, false},
		"PDF/A-1b": {pdftest.Archival(pdftest.Archive{Profile: "1b"}), true},
		"PDF/A-2b": {pdftest.Archival(pdftest.Archive{Profile: "2b"}), false},
	} {
		before := signLevel(t, test.document, p, ades.LT)
		appended := extend(t, before, ades.LTA, p.ca.Sources(nil))[len(before):]
		if got := bytes.Contains(appended, []byte("/AP <<")); got != test.want || !bytes.Contains(appended, []byte("/DocTimeStamp")) {
			t.Errorf("%s: appearance %v", name, got)
		}
	}
}

func TestExtendRefuses(t *testing.T) {
	ca, other := newAuthority(t), newAuthority(t)
	p := newPerson(t, ca, p256(t))
	unsigned := pdftest.Build(pdftest.Options{})
	signed := signFor(t, unsigned, p, ades.T)
	whole := ca.Sources(nil)
	without := func(change func(*ades.Sources)) ades.Sources { s := whole; change(&s); return s }
	revoked := newAuthority(t)
	gone := newPerson(t, revoked, p256(t))
	goneSigned := signFor(t, unsigned, gone, ades.T)
	revoked.Revoke(gone.signer.Certificate.SerialNumber, time.Now().Add(-time.Minute), 1)
	for name, row := range map[string]struct {
		b     []byte
		level ades.Level
		s     ades.Sources
		want  error
	}{
		"no signature":                 {unsigned, ades.LT, whole, ades.ErrUnsigned},
		"not a PDF":                    {[]byte("PK"), ades.LT, whole, ades.ErrUnreadable},
		"no timestamp authority":       {signed, ades.LTA, without(func(s *ades.Sources) { s.Time = nil }), ades.ErrTimestamp},
		"no revocation":                {signed, ades.LT, without(func(s *ades.Sources) { s.Revocation = nil }), ades.ErrNoRevocation},
		"no root":                      {signed, ades.LT, without(func(s *ades.Sources) { s.Roots = nil }), ades.ErrNoChain},
		"another root":                 {signed, ades.LT, without(func(s *ades.Sources) { s.Roots = other.Roots() }), ades.ErrNoChain},
		"revoked before the signature": {goneSigned, ades.LT, revoked.Sources(nil), ades.ErrRevoked},
		"a page changed":               {bytes.Replace(signed, []byte("0 0 m 10 10 l S"), []byte("0 0 m 90 10 l S"), 1), ades.LT, whole, ades.ErrBroken},
		"first of two broken":          {signFor(t, brokenValue(t, signFor(t, unsigned, p, ades.B)), p, ades.T), ades.LTA, whole, ades.ErrBroken},
		"last signature cut short":     {bytes.Replace(signed, []byte("/ByteRange [0 "), []byte("/ByteRange [1 "), 1), ades.LT, whole, ades.ErrBroken},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := (pades.Extender{Sources: row.s}).Extend(t.Context(), document(row.b), row.level); !errors.Is(err, row.want) {
				t.Errorf("got %v, want %v", err, row.want)
			}
		})
	}
}

// brokenValue changes the last byte of a signature of level B.
func brokenValue(t *testing.T, b []byte) []byte {
	t.Helper()
	at := contentsOf.FindSubmatchIndex(b)
	if at == nil {
		t.Fatal("no signature")
	}
	value := string(bytes.TrimRight(b[at[2]:at[3]], "0"))
	return bytes.Replace(b, []byte(value), []byte(flip(value)), 1)
}

// Whoever signed last does not answer for the others.
func TestExtendLastBehindABrokenSignature(t *testing.T) {
	p := newPerson(t, newAuthority(t), p256(t))
	b := signFor(t, brokenValue(t, signFor(t, pdftest.Build(pdftest.Options{}), p, ades.B)), p, ades.T)
	x := pades.Extender{Sources: p.ca.Sources(nil)}
	revisions, err := x.ExtendLast(t.Context(), document(b), ades.LT)
	if err != nil {
		t.Fatal(err)
	}
	b = appendAll(t, b, revisions)
	signatures := verify(t, b, p.ca)
	if signatures[0].Indication != ades.TotalFailed || signatures[1].Format != "PAdES-BASELINE-LT" || signatures[1].Indication != ades.TotalPassed {
		t.Errorf("%+v", signatures)
	}
	if _, err := x.ExtendLast(t.Context(), document(brokenValue(t, signFor(t, pdftest.Build(pdftest.Options{}), p, ades.B))), ades.LT); !errors.Is(err, ades.ErrBroken) {
		t.Errorf("and of one that is broken itself: %v", err)
	}
}

// With reads like the bytes themselves.
func TestDocumentWithARevision(t *testing.T) {
	base, tail := []byte("a document "), []byte("and what follows")
	d := document(base).With(pades.Revision{Base: int64(len(base)), Bytes: tail})
	d = d.With(pades.Revision{Base: d.Size, Bytes: []byte(" later")})
	want := "a document and what follows later"
	if d.Size != int64(len(want)) {
		t.Fatalf("%d bytes", d.Size)
	}
	if err := iotest.TestReader(io.NewSectionReader(d, 0, d.Size), []byte(want)); err != nil {
		t.Error(err)
	}
}

// One call reaches each level, with sources.
func TestSignToEachLevel(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	for _, level := range everyLevel {
		b := pdftest.Build(pdftest.Options{})
		r, err := pades.Sign(t.Context(), document(b), p.key, p.signer, pades.Options{Level: level}, p.ca.Sources(nil))
		if err != nil {
			t.Fatal(err)
		}
		signed := append(bytes.Clone(b), r.Bytes...)
		if s := verify(t, signed, p.ca)[0]; s.Format != "PAdES-BASELINE-"+level.String() {
			t.Errorf("%v: %s", level, s.Format)
		}
		// What is known of the hashed beginning is right: another signature is made from there.
		grown := document(b).With(r)
		next, err := pades.Sign(t.Context(), grown, p.key, p.signer, pades.Options{}, ades.Sources{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range verify(t, appendAll(t, signed, []pades.Revision{next}), p.ca) {
			if !s.Intact {
				t.Errorf("%v, and another one: %s %v", level, s.SubIndication, s.Problems)
			}
		}
	}
}

// The signature is not lost where its level cannot be reached.
func TestSignWithoutRevocation(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	sources := p.ca.Sources(nil)
	sources.Revocation = nil
	b := pdftest.Build(pdftest.Options{})
	r, err := pades.Sign(t.Context(), document(b), p.key, p.signer, pades.Options{Level: ades.LT}, sources)
	if !errors.Is(err, ades.ErrNoRevocation) {
		t.Fatal(err)
	}
	if s := verify(t, appendAll(t, b, []pades.Revision{r}), p.ca)[0]; s.Format != "PAdES-BASELINE-T" || !s.Intact {
		t.Errorf("%s %s", s.Format, s.SubIndication)
	}
}
