package xades_test

import (
	"bytes"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/authority"
	"github.com/innsigli/innsigli/internal/testenv"
	"github.com/innsigli/innsigli/internal/validators"
	"github.com/innsigli/innsigli/xades"
)

// A file of each packing passes in EU DSS under its own policy with exactly the level that it was raised
// to (EN 319 132-1 6.3), is valid against the schema of XAdES, and verifies in XML Security Library.
func TestLevels(t *testing.T) {
	t.Parallel()
	folder := levelFolder{T: t, path: t.TempDir(), ca: newAuthority(t), schemes: schemes(t)}
	folder.addPackings()
	folder.addSequences()
	folder.addForms()
	folder.judge()
	old := levelFolder{T: t, path: t.TempDir(), schemes: folder.schemes[:1]}
	old.addOverDays()
	old.judge()
}

// levelFolder is where signed documents are put for those who judge them.
type levelFolder struct {
	*testing.T
	path    string
	ca      *authority.Authority
	schemes []scheme
	turn    int
	files   []levelFile
}

// levelFile is a document with signatures, in document order, and the levels that they have in the end.
type levelFile struct {
	name   string
	path   string
	levels []ades.Level
	stamps map[string]int // of each type
	wide   bool           // UTF-16, which EU DSS does not know for XML
}

func (l *levelFolder) add(f levelFile, b []byte) {
	f.path = filepath.Join(l.path, fmt.Sprintf("%02d.xml", len(l.files)))
	writeFile(l, f.path, b)
	l.files = append(l.files, f)
}

// next is somebody else each time, with the algorithms by turns.
func (l *levelFolder) next() person {
	s := l.schemes[l.turn%len(l.schemes)]
	l.turn++
	return newPerson(l, l.ca, s.key, s.algorithm)
}

func stampsOf(signature, archive int) map[string]int {
	all := make(map[string]int)
	if signature > 0 {
		all["SIGNATURE_TIMESTAMP"] = signature
	}
	if archive > 0 {
		all["ARCHIVE_TIMESTAMP"] = archive
	}
	return all
}

// addPackings adds documents of one and of three signers in each packing; in full, with each algorithm.
func (l *levelFolder) addPackings() {
	for _, p := range packings {
		for _, level := range []ades.Level{ades.LT, ades.LTA} {
			l.addInTurns(p, level, 1)
			l.addInTurns(p, level, 3)
			if !testenv.Full() {
				continue
			}
			for i := range l.schemes {
				l.turn = i
				l.addInTurns(p, level, 1)
				one := levelFolder{T: l.T, path: l.path, ca: l.ca, schemes: l.schemes[i : i+1], files: l.files}
				one.addInTurns(p, level, 3)
				l.files = one.files
			}
		}
	}
	for _, p := range packings {
		if p.packing != xades.Enveloping { // which would sign signatures as they are
			l.addAtOnce(p, ades.LTA, 3)
		}
	}
}

// addInTurns adds a document that is raised after each signature.
func (l *levelFolder) addInTurns(p packing, level ades.Level, n int) {
	archive := 0
	if level == ades.LTA {
		archive = n
	}
	f := levelFile{name: fmt.Sprintf("%s, %v of %d in turns", p.name, level, n), stamps: stampsOf(n, archive)}
	b := []byte(contract)
	for range n {
		b = signLevel(l, b, l.next(), level, p.options())
		f.levels = append(f.levels, level)
	}
	if p.base64 { // what is in Base64 is no part of the document
		f.levels = f.levels[:1]
		f.stamps = stampsOf(1, archive/n)
	}
	l.add(f, b)
}

// addAtOnce adds a document that is raised after the last signature.
func (l *levelFolder) addAtOnce(p packing, level ades.Level, n int) {
	f := levelFile{name: fmt.Sprintf("%s, %v of %d at once", p.name, level, n), stamps: stampsOf(n, n)}
	b := []byte(contract)
	for range n {
		b = signFor(l, b, l.next(), ades.T, p.options())
		f.levels = append(f.levels, level)
	}
	l.add(f, extend(l, b, level, l.ca.Sources(nil)))
}

// addSequences adds documents to which something is added after LTA.
func (l *levelFolder) addSequences() {
	s := l.ca.Sources(nil)
	for _, p := range packings {
		if p.base64 {
			continue
		}
		archived := signLevel(l, []byte(contract), l.next(), ades.LTA, p.options())
		l.add(levelFile{name: p.name + ", LTA renewed twice", levels: []ades.Level{ades.LTA}, stamps: stampsOf(1, 3)},
			renew(l, renew(l, archived, s), s))
		if p.packing == xades.Enveloping {
			continue
		}
		l.add(levelFile{name: p.name + ", LT after LTA", levels: []ades.Level{ades.LTA, ades.LT}, stamps: stampsOf(2, 1)},
			signLevel(l, archived, l.next(), ades.LT, p.options()))
		l.add(levelFile{name: p.name + ", B after LTA, extended", levels: []ades.Level{ades.LTA, ades.LTA}, stamps: stampsOf(2, 2)},
			extend(l, signFor(l, archived, l.next(), ades.B, p.options()), ades.LTA, s))
		l.add(levelFile{name: p.name + ", B after LTA, renewed", levels: []ades.Level{ades.LTA, ades.LTA}, stamps: stampsOf(2, 3)},
			renew(l, signFor(l, archived, l.next(), ades.B, p.options()), s))
	}
}

// addOverDays adds a document whose timestamps are days apart, so that each renewal brings what was said about
// the one before.
func (l *levelFolder) addOverDays() {
	start := time.Now().AddDate(0, 0, -8)
	var err error
	if l.ca, err = authority.New(start); err != nil {
		l.Fatal(err)
	}
	day := func(n int) ades.Sources {
		return l.ca.Sources(func() time.Time { return start.AddDate(0, 0, n).Add(time.Hour) })
	}
	key := l.schemes[0].key
	cert, err := l.ca.Issue("Dæmi um nafn", "1203894569", key.Public(), start)
	if err != nil {
		l.Fatal(err)
	}
	for _, p := range packings {
		signer := ades.Signer{Certificate: cert, Chain: l.ca.Chain()}
		o := p.options()
		o.Time = start.Add(time.Hour)
		b := sign(l, []byte(contract), person{signer, key, l.ca}, o)
		b = extend(l, b, ades.LT, day(0))
		for n := range 3 {
			b = renew(l, b, day(2*n+2))
			if got := bytes.Count(b, []byte("</xades141:TimeStampValidationData><xades141:ArchiveTimeStamp ")); got != n+1 {
				l.Errorf("%s: evidence of %d timestamps before the next one, want %d", p.name, got, n+1)
			}
		}
		l.add(levelFile{name: p.name + ", renewed over days", levels: []ades.Level{ades.LTA}, stamps: stampsOf(1, 3)}, b)
	}
}

// addForms adds documents in other encodings and with prefixes that mean something else, and signatures
// whose unsigned properties somebody else has begun.
func (l *levelFolder) addForms() {
	for _, form := range []struct {
		name string
		b    []byte
		wide bool
	}{
		{"UTF-16LE", utf16(contract16, true), true},
		{"UTF-16BE", utf16(contract16, false), true},
		{"ISO-8859-1", latin1(`<?xml version="1.0" encoding="ISO-8859-1"?><samningur>Jóna</samningur>`), false},
		{"prefixes elsewhere", []byte(`<ds:a xmlns:ds="urn:a" xmlns:xades="urn:b" xmlns:xades141="urn:c"><xades141:b/></ds:a>`), false},
	} {
		for _, p := range packings {
			b := renew(l, signLevel(l, form.b, l.next(), ades.LTA, p.options()), l.ca.Sources(nil))
			l.add(levelFile{p.name + ", " + form.name, "", []ades.Level{ades.LTA}, stampsOf(1, 2), form.wide && !p.base64}, b)
		}
	}
	for name, begun := range beginnings {
		b := signFor(l, []byte(contract), l.next(), ades.B, xades.Options{})
		b = altered(l, b, "</xades:QualifyingProperties>", begun+"</xades:QualifyingProperties>")
		for _, level := range []ades.Level{ades.T, ades.LT, ades.LTA} {
			revisions, err := xades.Extend(l.Context(), document(b), level, l.ca.Sources(nil))
			if err != nil || len(revisions) != 1 {
				l.Fatalf("%s: %d revisions, %v", name, len(revisions), err)
			}
			b = apply(l, b, revisions...)
		}
		l.add(levelFile{name: name, levels: []ades.Level{ades.LTA}, stamps: stampsOf(1, 1)}, b)
	}
}

// contract16 declares no encoding, so that the byte order mark tells it.
const contract16 = "<?xml version=\"1.0\"?>\r\n<contract number=\"17\"><party>Jóna</party></contract>\r\n"

// beginnings are unsigned properties with nothing in them that is known.
var beginnings = map[string]string{
	"empty unsigned properties":            `<xades:UnsignedProperties />`,
	"empty unsigned signature properties":  "<xades:UnsignedProperties><xades:UnsignedSignatureProperties\n/></xades:UnsignedProperties>",
	"unsigned properties by other names":   `<é:UnsignedProperties xmlns:é="http://uri.etsi.org/01903/v1.3.2#" xmlns:xades="urn:a"><é:UnsignedSignatureProperties xmlns:ds="urn:b" Id="é"/></é:UnsignedProperties>`,
	"unsigned properties without a prefix": `<UnsignedProperties xmlns="http://uri.etsi.org/01903/v1.3.2#"><UnsignedSignatureProperties></UnsignedSignatureProperties></UnsignedProperties>`,
	"properties of data objects":           `<xades:UnsignedProperties><xades:UnsignedDataObjectProperties><xades:UnsignedDataObjectProperty>a</xades:UnsignedDataObjectProperty></xades:UnsignedDataObjectProperties></xades:UnsignedProperties>`,
	"certificates that are there":          `<xades:UnsignedProperties><xades:UnsignedSignatureProperties><xades:CertificateValues/></xades:UnsignedSignatureProperties></xades:UnsignedProperties>`,
}

func (l *levelFolder) judge() {
	roots := []*x509.Certificate{l.ca.Root()}
	var paths []string
	for _, f := range l.files {
		paths = append(paths, f.path)
	}
	for i, r := range validators.DSS(l, validators.DSSOptions{Roots: roots}, paths...) {
		if f := l.files[i]; !f.wide {
			f.judgeByDSS(l.T, r)
		}
	}
	for _, f := range l.files {
		f.judgeBySelf(l.T, l.ca)
	}
	for i, r := range validators.XMLSec(l, roots, paths...) {
		f := l.files[i]
		if r.Error != "" || len(r.Signatures) != len(f.levels) {
			l.Errorf("%s: xmlsec1: %q, %d signatures", f.name, r.Error, len(r.Signatures))
		}
		for _, s := range r.Signatures {
			if !s.Valid {
				l.Errorf("%s: xmlsec1: %s", f.name, s.Error)
			}
		}
	}
}

func (f levelFile) judgeByDSS(t *testing.T, r validators.DSSReport) {
	if r.Error != "" || len(r.Signatures) != len(f.levels) {
		t.Errorf("%s: %q, %d signatures", f.name, r.Error, len(r.Signatures))
		return
	}
	for i, s := range r.Signatures {
		if s.Format != "XAdES-BASELINE-"+f.levels[i].String() || s.Indication != "TOTAL_PASSED" || len(s.Structure) > 0 {
			t.Errorf("%s: %s %s %s: %v %v %v", f.name, s.Format, s.Indication, s.SubIndication, s.Structure, s.Errors, s.Warnings)
		}
	}
	stamps := make(map[string]int)
	for _, s := range r.Timestamps {
		stamps[s.Type]++
		if s.Indication != "PASSED" {
			t.Errorf("%s: %s %s %s: %v", f.name, s.Type, s.Indication, s.SubIndication, s.Errors)
		}
	}
	if diff := cmp.Diff(f.stamps, stamps); diff != "" {
		t.Errorf("%s: timestamps (-want +got):\n%s", f.name, diff)
	}
}

func (f levelFile) judgeBySelf(t *testing.T, ca *authority.Authority) {
	b, err := os.ReadFile(f.path)
	if err != nil {
		t.Fatal(err)
	}
	var levels []ades.Level
	stamps := make(map[string]int)
	for _, s := range verify(t, b, ca) {
		level, err := ades.ParseLevel(strings.TrimPrefix(s.Format, "XAdES-BASELINE-"))
		if err != nil || s.Indication != ades.TotalPassed {
			t.Errorf("%s: %s, %s %s: %q", f.name, s.Format, s.Indication, s.SubIndication, s.Problems)
		}
		levels = append(levels, level)
		for _, s := range s.Timestamps {
			stamps[string(s.Type)]++
			if !s.Trusted {
				t.Errorf("%s: %s: %q", f.name, s.Type, s.Problems)
			}
		}
	}
	if diff := cmp.Diff(f.levels, levels) + cmp.Diff(f.stamps, stamps); diff != "" {
		t.Errorf("%s: levels and timestamps (-want +got):\n%s", f.name, diff)
	}
}
