package xades_test

import (
	"bytes"
	"context"
	"crypto"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/test/adestest"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/xades"
)

// TestAdES runs the suite that pades and xades have in common, in each packing.
func TestAdES(t *testing.T) {
	t.Parallel()
	f := xmlFormat()
	for _, p := range packings {
		f.Variants = append(f.Variants, p.variant("", []byte(contract)))
	}
	adestest.Run(t, f)
}

// xmlFormat returns the format without variants.
func xmlFormat() adestest.Format {
	return adestest.Format{
		Name: "XAdES", Extension: ".xml",
		NewPending:  func() adestest.Pending { return pendingXML{new(xades.Pending)} },
		Prepare:     prepareXML,
		Sign:        signXML,
		Extend:      extendXML(xades.Extender.Extend),
		ExtendLast:  extendXML(xades.Extender.ExtendLast),
		Renew:       extendXML(renewer),
		Verify:      verifyXML,
		ChangeValue: changedValue,
		Broken:      brokenXML,
		Stored:      []string{goldenFile},
		Signers: map[string]func(testing.TB, validators.SignOptions, ...string) []validators.SignedFile{
			"EU DSS": validators.DSSSign,
		},
		Packagings: []string{"ENVELOPED", "ENVELOPING"},
		Judge:      judgeXML,
	}
}

// variant returns the packing with a document. Its name ends with that of the packing.
func (p packing) variant(name string, content []byte) adestest.Variant {
	return adestest.Variant{Name: name + p.name, Document: content, Encloses: p.packing == xades.Enveloping, Hides: p.base64}
}

func optionsOf(t testing.TB, o adestest.Options) xades.Options {
	t.Helper()
	for _, p := range packings {
		if strings.HasSuffix(o.Variant.Name, p.name) {
			xo := p.options()
			xo.City, xo.Country, xo.Reason = "Reykjavík", "Ísland", "Undirritun & samþykki"
			xo.Level, xo.Time = o.Level, o.Time
			return xo
		}
	}
	t.Fatalf("no packing for %q", o.Variant.Name)
	return xades.Options{}
}

// pendingXML is a pending signature that completes a whole document.
type pendingXML struct{ *xades.Pending }

func (p pendingXML) Complete(t testing.TB, b, value []byte, timestamps ades.Timestamper) ([]byte, error) {
	r, err := p.Pending.Complete(t.Context(), value, timestamps)
	if err != nil {
		return nil, err
	}
	return apply(t, b, r), nil
}

func prepareXML(t testing.TB, b []byte, s ades.SignerIdentity, o adestest.Options) (adestest.Pending, error) {
	p, err := xades.Prepare(t.Context(), document(b), s, optionsOf(t, o))
	return pendingXML{p}, err
}

func signXML(t testing.TB, b []byte, key crypto.Signer, s ades.SignerIdentity, o adestest.Options, sources ades.Sources) ([]byte, error) {
	r, err := xades.Sign(t.Context(), document(b), key, s, optionsOf(t, o), sources)
	if r.Pieces == nil {
		return nil, err
	}
	return apply(t, b, r), err
}

// extender is a method of xades.Extender, which returns one revision at most.
type extender func(xades.Extender, context.Context, xades.Document, ades.Level) ([]xades.Revision, error)

func extendXML(run extender) adestest.ExtendFunc {
	return func(t testing.TB, b []byte, level ades.Level, s ades.Sources) ([]byte, int, error) {
		revisions, err := run(xades.Extender{Sources: s}, t.Context(), document(b), level)
		if len(revisions) > 1 {
			t.Errorf("%d revisions, want 1", len(revisions))
		}
		return grown(t, b, revisions...), len(revisions), err
	}
}

func renewer(x xades.Extender, ctx context.Context, doc xades.Document, _ ades.Level) ([]xades.Revision, error) {
	return x.Renew(ctx, doc)
}

func verifyXML(t testing.TB, b []byte, o ades.VerifyOptions) *ades.Report {
	report, err := xades.Verify(t.Context(), document(b), o)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func brokenXML(t testing.TB, signed []byte) map[string][]byte {
	bare := altered(t, altered(t, signed, "<xades:QualifyingProperties", "<xades:Properties"), "</xades:QualifyingProperties", "</xades:Properties")
	return map[string][]byte{
		"content changed":               altered(t, signed, "250000", "950000"),
		"signing time changed":          altered(t, signed, "<xades:SigningTime>2", "<xades:SigningTime>3"),
		"value changed":                 changedValue(t, signed),
		"properties name another value": altered(t, signed, `Target="#`, `Target="#x`),
		"no properties":                 bare,
	}
}

// judgeXML has XML Security Library validate files.
func judgeXML(t *testing.T, files []adestest.File) {
	t.Helper()
	t.Run("XML Security Library", func(t *testing.T) {
		for i, r := range validators.XMLSec(t, adestest.Roots(files), adestest.Paths(files)...) {
			if r.Error != "" || len(r.Signatures) != len(files[i].Levels) {
				t.Errorf("%s: %q, %d signatures, want %d", files[i].Name, r.Error, len(r.Signatures), len(files[i].Levels))
			}
			for _, s := range r.Signatures {
				if !s.Valid {
					t.Errorf("%s: %s", files[i].Name, s.Error)
				}
			}
		}
	})
}

// Levels are independent of the encoding of the document, of prefixes that mean something else in
// it, and of identifiers that it has twice.
func TestLevelsOfOtherDocuments(t *testing.T) {
	t.Parallel()
	const undeclared = "<?xml version=\"1.0\"?>\r\n<contract number=\"17\"><party>Jóna</party></contract>\r\n"
	f := xmlFormat()
	for _, form := range []struct {
		name    string
		content []byte
	}{
		{"UTF-16LE", utf16(undeclared, true)},
		{"UTF-16BE", utf16(undeclared, false)},
		{"ISO-8859-1", latin1(`<?xml version="1.0" encoding="ISO-8859-1"?><samningur>Jóna</samningur>`)},
		{"other prefixes", []byte(`<ds:a xmlns:ds="urn:a" xmlns:xades="urn:b" xmlns:xades141="urn:c"><xades141:b/></ds:a>`)},
		{"identifiers twice", []byte(`<a Id="x"><b id="1"/><b id="1" ID="x"/></a>`)},
	} {
		for _, p := range packings {
			v := p.variant(form.name+", ", form.content)
			v.NoDSS = strings.HasPrefix(form.name, "UTF-16") && !p.base64
			f.Variants = append(f.Variants, v)
		}
	}
	adestest.RunRenewed(t, f)
}

// Signatures of one document may have different packings.
func TestMixedPackings(t *testing.T) {
	t.Parallel()
	p, folder := newPerson(t, catest.New(t), p256(t)), t.TempDir()
	var files []adestest.File
	for i, pair := range [][2]packing{
		{packings[3], packings[0]}, {packings[3], packings[1]}, {packings[0], packings[2]}, {packings[1], packings[3]},
	} {
		signed := sign(t, sign(t, []byte(contract), p, pair[0].options()), p, pair[1].options())
		f := adestest.File{
			Name: pair[0].name + ", then " + pair[1].name, Path: filepath.Join(folder, fmt.Sprintf("%d.xml", i)), Format: "XAdES",
			Root: p.ca.Root(), Levels: []ades.Level{ades.B, ades.B}, Timestamps: map[ades.TimestampType]int{},
		}
		if pair[1].base64 { // the first signature is hidden
			f.Levels = f.Levels[:1]
		}
		writeFile(t, f.Path, signed)
		xmlFormat().Check(t, f)
		files = append(files, f)
	}
	t.Run("EU DSS", func(t *testing.T) { adestest.CheckByDSS(t, files) })
	judgeXML(t, files)
}

// Properties are added to unsigned properties in which other software has put nothing that is
// known.
func TestExtendBegunProperties(t *testing.T) {
	t.Parallel()
	ca, folder := catest.New(t), t.TempDir()
	var files []adestest.File
	for name, begun := range beginnings {
		b := signFor(t, []byte(contract), newPerson(t, ca, p256(t)), ades.B, xades.Options{})
		b = altered(t, b, "</xades:QualifyingProperties>", begun+"</xades:QualifyingProperties>")
		for _, level := range adestest.Levels[1:] {
			before := b
			if b = extend(t, b, level, ca.Sources(nil)); bytes.Equal(b, before) {
				t.Errorf("%s: nothing is added for %v", name, level)
			}
		}
		f := adestest.File{
			Name: name, Path: filepath.Join(folder, fmt.Sprintf("%d.xml", len(files))), Format: "XAdES", Root: ca.Root(),
			Partial: strings.Contains(begun, "UnsignedDataObjectProperty>"),
			Levels:  []ades.Level{ades.LTA}, Timestamps: map[ades.TimestampType]int{ades.SignatureTimestamp: 1, ades.ArchiveTimestamp: 1},
		}
		writeFile(t, f.Path, b)
		xmlFormat().Check(t, f)
		files = append(files, f)
	}
	t.Run("EU DSS", func(t *testing.T) { adestest.CheckByDSS(t, files) })
	judgeXML(t, files)
}

// beginnings are unsigned properties with nothing in them that is known.
var beginnings = map[string]string{
	"empty unsigned properties":            `<xades:UnsignedProperties />`,
	"empty unsigned signature properties":  "<xades:UnsignedProperties><xades:UnsignedSignatureProperties\n/></xades:UnsignedProperties>",
	"unsigned properties by other names":   `<é:UnsignedProperties xmlns:é="http://uri.etsi.org/01903/v1.3.2#" xmlns:xades="urn:a"><é:UnsignedSignatureProperties xmlns:ds="urn:b" Id="é"/></é:UnsignedProperties>`,
	"unsigned properties without a prefix": `<UnsignedProperties xmlns="http://uri.etsi.org/01903/v1.3.2#"><UnsignedSignatureProperties></UnsignedSignatureProperties></UnsignedProperties>`,
	"properties of data objects":           `<xades:UnsignedProperties><xades:UnsignedDataObjectProperties><xades:UnsignedDataObjectProperty>a</xades:UnsignedDataObjectProperty></xades:UnsignedDataObjectProperties></xades:UnsignedProperties>`,
	"CertificateValues without any":        `<xades:UnsignedProperties><xades:UnsignedSignatureProperties><xades:CertificateValues/></xades:UnsignedSignatureProperties></xades:UnsignedProperties>`,
}

// A signature with 3.6 MB of unsigned properties can be renewed thirty times: the archive
// timestamps are all over these, and Renew and Verify read them once.
func TestThirtyRenewals(t *testing.T) {
	t.Parallel()
	more := `<xades141:Other xmlns:xades141="http://uri.etsi.org/01903/v1.4.1#">` + strings.Repeat("evidence ", 400_000) + "</xades141:Other>"
	renewOften(t, []byte(contract), 1, more)
	if testenv.Full() {
		renewOften(t, paragraphs(5<<20), 10, "")
	}
}

// renewOften signs, adds an unsigned property and renews.
func renewOften(t *testing.T, b []byte, signers int, property string) {
	t.Helper()
	const renewals, end = 30, "</xades:UnsignedSignatureProperties>"
	ca := catest.New(t)
	for range signers {
		b = sign(t, b, newPerson(t, ca, p256(t)), xades.Options{})
	}
	b = extend(t, altered(t, extend(t, b, ades.LT, ca.Sources(nil)), end, property+end), ades.LTA, ca.Sources(nil))
	for range renewals {
		b = renew(t, b, ca.Sources(nil))
	}
	for _, s := range verify(t, b, ca) {
		trusted := 0
		for _, stamp := range s.Timestamps {
			trusted += count(stamp.Trusted)
		}
		if s.Indication != ades.TotalPassed || s.Format != "XAdES-BASELINE-LTA" || trusted != 2+renewals {
			t.Fatalf("%s %s %s with %d trusted timestamps, want %d: %q", s.Format, s.Indication, s.SubIndication, trusted, 2+renewals, s.Problems)
		}
	}
}
