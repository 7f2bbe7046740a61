package xades_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
	"github.com/innsigli/innsigli/xades"
)

// A file of each packing passes in EU DSS under its own policy with exactly the level that it was raised
// to (EN 319 132-1 6.3), is valid against the schema of XAdES, and verifies in XML Security Library. In full, so does
// every packing by every kind of algorithm at every level, alone and with others, after and over another's evidence.
func TestLevels(t *testing.T) {
	t.Parallel()
	all := schemes(t)
	folder := levelFolder{T: t, path: t.TempDir(), ca: newAuthority(t), schemes: all, levels: []ades.Level{ades.LT, ades.LTA}}
	folder.addPackings()
	folder.addSequences()
	folder.addForms()
	folder.judge()
	old := levelFolder{T: t, path: t.TempDir(), schemes: all[:1]}
	old.addOverDays()
	old.judge()
	if testenv.Full() {
		crossLevels(t, all)
	}
}

// crossLevels takes each kind of algorithm through everything.
func crossLevels(t *testing.T, all []scheme) {
	for i, s := range all {
		if !slices.Contains([]string{"RSA", "PSS", "P-256"}, s.name) {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			now := levelFolder{T: t, path: t.TempDir(), ca: newAuthority(t), schemes: all[i : i+1], levels: []ades.Level{ades.B, ades.T, ades.LT, ades.LTA}}
			now.addPackings()
			now.addSequences()
			now.judge()
			old := levelFolder{T: t, path: t.TempDir(), schemes: all[i : i+1]}
			old.addOverDays()
			old.judge()
		})
	}
}

// levelFolder is where signed documents are put for those who judge them.
type levelFolder struct {
	*testing.T
	path    string
	ca      *sandboxca.Authority
	schemes []scheme
	levels  []ades.Level
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

// addPackings adds documents of one and of three signers in each packing.
func (l *levelFolder) addPackings() {
	for _, p := range packings {
		for _, level := range l.levels {
			l.addInTurns(p, level, 1)
			l.addInTurns(p, level, 3)
		}
		if p.packing != xades.Enveloping { // which would sign signatures as they are
			l.addAtOnce(p, ades.LTA, 3)
		}
	}
}

// addInTurns adds a document that is raised after each signature.
func (l *levelFolder) addInTurns(p packing, level ades.Level, n int) {
	f := levelFile{name: fmt.Sprintf("%s, %v of %d in turns", p.name, level, n)}
	b := []byte(contract)
	for range n {
		b = signLevel(l, b, l.next(), level, p.options())
		f.levels = append(f.levels, level)
	}
	if p.base64 { // what is in Base64 is no part of the document
		f.levels = f.levels[:1]
	}
	signature, archive := 0, 0
	if level >= ades.T {
		signature = len(f.levels)
	}
	if level == ades.LTA {
		archive = len(f.levels)
	}
	f.stamps = stampsOf(signature, archive)
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
		for level, signature := range map[ades.Level]int{ades.B: 1, ades.T: 2, ades.LT: 2} {
			l.add(levelFile{name: fmt.Sprintf("%s, %v after LTA", p.name, level), levels: []ades.Level{ades.LTA, level}, stamps: stampsOf(signature, 1)},
				signLevel(l, archived, l.next(), level, p.options()))
		}
		signed := signFor(l, archived, l.next(), ades.B, p.options())
		l.add(levelFile{name: p.name + ", B after LTA, extended", levels: []ades.Level{ades.LTA, ades.LTA}, stamps: stampsOf(2, 2)},
			extend(l, signed, ades.LTA, s))
		archives := 3
		if p.packing == xades.Enveloping { // where the first is signed by the second
			archives = 2
		}
		l.add(levelFile{name: p.name + ", B after LTA, renewed", levels: []ades.Level{ades.LTA, ades.LTA}, stamps: stampsOf(2, archives)},
			renew(l, signed, s))
	}
}

// addOverDays adds a document whose timestamps are days apart, so that each renewal brings what was said about
// the one before.
func (l *levelFolder) addOverDays() {
	start := time.Now().AddDate(0, 0, -8)
	var err error
	if l.ca, err = sandboxca.New(start); err != nil {
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
		signer := ades.Signer{Certificate: cert, Chain: l.ca.Chain(), Algorithm: l.schemes[0].algorithm}
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
			revisions, err := xades.Extender{Sources: l.ca.Sources(nil)}.Extend(l.Context(), document(b), level)
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
