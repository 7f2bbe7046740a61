package pades_test

import (
	"bytes"
	"crypto/x509/pkix"
	"encoding/asn1"
	"io"
	"path/filepath"
	"slices"
	"testing"
	"testing/iotest"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/test/adestest"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/pdflint"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/pades"
)

// PDF/A-1 requires an appearance of every field (ISO 19005-1 6.9). Elsewhere the field of a
// document timestamp has none (ISO 32000-2 12.8.5), whatever the version.
func TestTimestampFieldHasNoAppearance(t *testing.T) {
	p := newPerson(t, catest.New(t), p256(t))
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
			t.Errorf("%s: appearance %v, want %v", name, got, test.want)
		}
	}
}

// A document with revisions reads like their bytes in turn.
func TestDocumentWithARevision(t *testing.T) {
	base, tail := []byte("a document "), []byte("and what follows")
	d := document(base).With(pades.Revision{Base: int64(len(base)), Bytes: tail})
	d = d.With(pades.Revision{Base: d.Size, Bytes: []byte(" later")})
	want := "a document and what follows later"
	if d.Size != int64(len(want)) {
		t.Fatalf("%d bytes, want %d", d.Size, len(want))
	}
	if err := iotest.TestReader(io.NewSectionReader(d, 0, d.Size), []byte(want)); err != nil {
		t.Error(err)
	}
}

// The hash states of a revision of any level are right: a further signature that begins from them
// is intact.
func TestSignFromRevision(t *testing.T) {
	t.Parallel()
	p := newPerson(t, catest.New(t), p256(t))
	b := pdftest.Build(pdftest.Options{})
	for _, level := range adestest.Levels {
		r, err := pades.Sign(t.Context(), document(b), p.key, p.signer, pades.Options{Level: level}, p.ca.Sources(nil))
		if err != nil {
			t.Fatal(err)
		}
		next, err := pades.Sign(t.Context(), document(b).With(r), p.key, p.signer, pades.Options{}, ades.Sources{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range verify(t, slices.Concat(b, r.Bytes, next.Bytes), p.ca) {
			if !s.Intact {
				t.Errorf("%v: %s %v", level, s.SubIndication, s.Problems)
			}
		}
	}
}

// A timestamp token that is longer than the space in the signature is no reason to sign again: the
// document gets a document timestamp, which has the space that it needs (EN 319 142-1 6.3).
func TestTokenLongerThanItsPlace(t *testing.T) {
	ca := catest.New(t)
	p, s, b := newPerson(t, ca, p256(t)), ca.Sources(nil), pdftest.Build(pdftest.Options{})
	long := pkix.Extension{Id: asn1.ObjectIdentifier{1, 2, 3, 4}, Value: bytes.Repeat([]byte{4, 0}, 10_000)}
	s.Time = adestest.NewTimestampUnit(t, ca, time.Now, long)
	for level := ades.T; level <= ades.LTA; level++ {
		pending, err := pades.Prepare(t.Context(), document(b), p.signer, pades.Options{Level: level})
		if err != nil {
			t.Fatal(err)
		}
		r, err := pending.Sign(t.Context(), p.key, s.Time)
		if err != nil {
			t.Fatal(err)
		}
		signed := appendAll(t, b, []pades.Revision{r})
		revisions, err := pades.Extender{Sources: s}.ExtendLast(t.Context(), document(signed), level)
		if err != nil {
			t.Fatal(err)
		}
		inOneCall, err := pades.Sign(t.Context(), document(b), p.key, p.signer, pades.Options{Level: level}, s)
		if err != nil {
			t.Fatal(err)
		}
		for _, signed := range [][]byte{appendAll(t, signed, revisions), slices.Concat(b, inOneCall.Bytes)} {
			if got := verify(t, signed, ca)[0]; got.Format != "PAdES-BASELINE-"+level.String() || level >= ades.LT && !got.Passed() {
				t.Errorf("%v: %+v", level, got)
			}
		}
	}
}

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
	return mustExtend(t, b, level, s, pades.Extender.Extend)
}

func renew(t testing.TB, b []byte, s ades.Sources) []byte {
	t.Helper()
	return mustExtend(t, b, ades.LTA, s, renewer)
}

func mustExtend(t testing.TB, b []byte, level ades.Level, s ades.Sources, run extender) []byte {
	t.Helper()
	b, _, err := extendPDF(run)(t, b, level, s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// appendAll appends revisions, and checks that they harm nothing.
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

// brokenValue changes the last byte of a signature of level B.
func brokenValue(t testing.TB, b []byte) []byte {
	t.Helper()
	at := contentsOf.FindSubmatchIndex(b)
	if at == nil {
		t.Fatal("no signature")
	}
	value := string(bytes.TrimRight(b[at[2]:at[3]], "0"))
	return bytes.Replace(b, []byte(value), []byte(flip(value)), 1)
}

// foreignSigner signs files with other software.
type foreignSigner = func(testing.TB, validators.SignOptions, ...string) []validators.SignedFile

var foreignSigners = map[string]foreignSigner{
	"EU DSS":  validators.DSSSign,
	"pyHanko": validators.PyHankoSign,
}

var foreignOptions = adestest.SignOptions

// blankFiles returns files of a document to be signed at a level: of each kind at level LT, or in
// full.
func blankFiles(t testing.TB, level ades.Level) (paths []string) {
	t.Helper()
	kinds := pdftest.Kinds
	if level != ades.LT && !testenv.Full() {
		kinds = kinds[:1]
	}
	for _, kind := range kinds {
		path := filepath.Join(t.TempDir(), string(kind)+".pdf")
		writeFile(t, path, pdftest.Build(pdftest.Options{Kind: kind}))
		paths = append(paths, path)
	}
	return paths
}

func readFile(t testing.TB, path string) []byte { return testenv.ReadFile(t, path) }
