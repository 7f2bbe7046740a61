package adestest

import (
	"crypto/x509"
	"slices"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
)

// document is a document under test, with what every validator has to find in it.
type document struct {
	Format
	variant    Variant
	content    []byte
	signatures []signature // in the order of signing
	timestamps int         // over the document
	enclosed   bool        // a signature signs another one
}

type signature struct {
	level    ades.Level
	untimed  bool // it has no signature timestamp, but a document timestamp instead
	enclosed bool // it is signed by a later signature
	archives int  // archive timestamps
}

func (f Format) newDocument(v Variant) *document {
	return &document{Format: f, variant: v, content: v.Document}
}

// sign adds a signature, and extends the document to a level above T.
func (d *document) sign(t testing.TB, s signer, level ades.Level, sources ades.Sources, claimed ...time.Time) {
	t.Helper()
	o := Options{Variant: d.variant, Level: level}
	for _, at := range claimed {
		o.Time = at
	}
	signed, err := d.trySign(t, d.content, s, o, sources.Time)
	if err != nil {
		t.Fatal(err)
	}
	d.content = signed
	d.added(level)
	if level >= ades.LT {
		d.extend(t, level, sources)
	}
}

// signInOneCall adds the first signature by [Format].Sign.
func (d *document) signInOneCall(t testing.TB, s signer, level ades.Level) {
	t.Helper()
	signed, err := d.Sign(t, d.content, s.key, s.SignerIdentity, Options{Variant: d.variant, Level: level}, s.ca.Sources(nil))
	if err != nil {
		t.Fatal(err)
	}
	d.content = signed
	d.added(level)
	d.extended(level, false)
}

// added takes a new signature into account.
func (d *document) added(level ades.Level) {
	if d.variant.Hides {
		d.signatures, d.timestamps = nil, 0
	}
	if d.variant.Encloses {
		for i := range d.signatures {
			d.signatures[i].enclosed = true
			d.enclosed = true
		}
	}
	d.signatures = append(d.signatures, signature{level: min(level, ades.T)})
}

func (d *document) extend(t testing.TB, level ades.Level, s ades.Sources) {
	t.Helper()
	d.content = d.Format.extend(t, d.content, level, s)
	d.extended(level, false)
}

func (d *document) renew(t testing.TB, s ades.Sources) {
	t.Helper()
	renewed, _, err := d.Renew(t, d.content, 0, s)
	if err != nil {
		t.Fatal(err)
	}
	d.content = renewed
	d.extended(ades.LTA, true)
}

// extended takes an extension or a renewal into account.
func (d *document) extended(level ades.Level, renewed bool) {
	lowest := slices.MinFunc(d.signatures, func(a, b signature) int { return int(a.level - b.level) }).level
	if d.DocumentTimestamps && level >= ades.T && lowest < ades.T {
		d.timestamps++
	}
	if d.DocumentTimestamps && level == ades.LTA && (lowest < ades.LTA || renewed) {
		d.timestamps++
	}
	for i := range d.signatures {
		s := &d.signatures[i]
		if s.enclosed {
			continue
		}
		s.untimed = s.untimed || d.DocumentTimestamps && level >= ades.T && s.level < ades.T
		if !d.DocumentTimestamps && level == ades.LTA && (s.level < ades.LTA || renewed) {
			s.archives++
		}
		s.level = max(s.level, level)
	}
}

// File is a signed document in a file, with what every validator has to find in it.
type File struct {
	Name, Path string
	Format     string // "PAdES", "XAdES"
	Root       *x509.Certificate
	// Levels are those of the signatures in the order of signing, or in any order if a signature
	// signs another one.
	Levels     []ades.Level
	AnyOrder   bool
	Timestamps map[ades.TimestampType]int
	Untimed    []int       // the signatures that have no timestamp but of the document
	Times      []time.Time // at which the signatures pass too
	Partial    bool        // a signature does not cover all of the document
	NoDSS      bool        // EU DSS cannot read it
	Origin     string      // the file that other software signed and that was extended; "" if there is none
}

// file returns what has to be found in the document.
func (d *document) file() File {
	f := File{Format: d.Name, Timestamps: make(map[ades.TimestampType]int), AnyOrder: d.enclosed, NoDSS: d.variant.NoDSS}
	add := func(kind ades.TimestampType, n int) {
		if n > 0 {
			f.Timestamps[kind] += n
		}
	}
	add(ades.DocumentTimestamp, d.timestamps)
	for i, s := range d.signatures {
		f.Levels = append(f.Levels, s.level)
		if s.untimed {
			f.Untimed = append(f.Untimed, i)
		} else if s.level >= ades.T {
			add(ades.SignatureTimestamp, 1)
		}
		add(ades.ArchiveTimestamp, s.archives)
	}
	return f
}
