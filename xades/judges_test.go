package xades_test

import (
	"crypto/x509"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/test/validators"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// judged are signed documents of levels B and T for those who judge them.
type judged struct {
	*testing.T
	ca    *sandboxca.Authority
	path  string
	files []judgedFile
}

// judgedFile is one of them, with the level of each signature.
type judgedFile struct {
	name, path string
	levels     []ades.Level
}

func (j *judged) add(name string, b []byte, levels ...ades.Level) {
	f := judgedFile{name, filepath.Join(j.path, fmt.Sprintf("%03d.xml", len(j.files))), levels}
	writeFile(j, f.path, b)
	j.files = append(j.files, f)
}

func (j *judged) paths() (all []string) {
	for _, f := range j.files {
		all = append(all, f.path)
	}
	return all
}

// Every packing by every algorithm, alone and beside others, is what EN 319 132-1 6.3 calls a baseline
// signature of that level to EU DSS under its own policy, follows the schema, and is right to XML Security
// Library. What signatures of these levels cannot have is proof of revocation.
func TestJudged(t *testing.T) {
	t.Parallel()
	j := &judged{T: t, ca: newAuthority(t), path: t.TempDir()}
	all := schemes(t)
	for _, k := range packings {
		for _, s := range all {
			p := newPerson(t, j.ca, s.key, s.algorithm)
			for _, level := range []ades.Level{ades.B, ades.T} {
				o := k.options()
				o.City, o.Country, o.Reason = "Reykjavík", "Ísland", "Undirritun & samþykki"
				j.add(fmt.Sprintf("%s, %s, %v", k.name, s.name, level), signFor(t, []byte(contract), p, level, o), level)
			}
		}
		j.addThree(k, all)
		p := newPerson(t, j.ca, all[4].key)
		j.add("identifiers twice, "+k.name, sign(t, []byte(`<a Id="x"><b id="1"/><b id="1" ID="x"/></a>`), p, k.options()), ades.B)
	}
	j.addMixed(all)
	t.Run("EU DSS", j.judgeDSS)
	t.Run("XML Security Library", j.judgeXMLSec)
	t.Run("ourselves", j.judgeOurselves)
}

// addThree adds a document with three signers.
func (j *judged) addThree(k packing, all []scheme) {
	b := []byte(contract)
	var levels []ades.Level
	for i, level := range []ades.Level{ades.T, ades.B, ades.T} {
		s := all[i*2]
		b = signFor(j, b, newPerson(j, j.ca, s.key, s.algorithm), level, k.options())
		levels = append(levels, level)
	}
	if k.base64 { // the others are in the file
		levels = levels[2:]
	}
	j.add("three signers, "+k.name, b, levels...)
}

// addMixed adds documents that get another packing each time.
func (j *judged) addMixed(all []scheme) {
	p := newPerson(j, j.ca, all[4].key)
	b := signFor(j, []byte(contract), p, ades.B, packings[3].options())
	b = signFor(j, b, p, ades.B, packings[0].options())
	j.add("internally detached, enveloped", b, ades.B, ades.B)
	b = signFor(j, signFor(j, []byte(contract), p, ades.B, packings[3].options()), p, ades.B, packings[1].options())
	j.add("internally detached, enveloping", b, ades.B, ades.B)
	b = signFor(j, signFor(j, []byte(contract), p, ades.B, packings[0].options()), p, ades.B, packings[2].options())
	j.add("enveloped, enveloping base64", b, ades.B)
	b = signFor(j, signFor(j, []byte(contract), p, ades.B, packings[1].options()), p, ades.B, packings[3].options())
	j.add("enveloping, internally detached", b, ades.B, ades.B)
}

func (j *judged) judgeDSS(t *testing.T) {
	options := validators.DSSOptions{Roots: []*x509.Certificate{j.ca.Root()}, RevocationOptional: true}
	for i, report := range validators.DSS(t, options, j.paths()...) {
		f := j.files[i]
		if len(report.Signatures) != len(f.levels) {
			t.Errorf("%s: %d signatures: %s", f.name, len(report.Signatures), report.Error)
			continue
		}
		formats := map[string]int{}
		for _, s := range report.Signatures {
			formats[s.Format]++
			if s.Indication != "TOTAL_PASSED" || len(s.Structure) > 0 {
				t.Errorf("%s: %s %s %v %v", f.name, s.Indication, s.SubIndication, s.Errors, s.Structure)
			}
		}
		for _, level := range f.levels {
			formats["XAdES-BASELINE-"+level.String()]--
		}
		for format, n := range formats {
			if n != 0 {
				t.Errorf("%s: %+d of %s", f.name, n, format)
			}
		}
	}
}

func (j *judged) judgeXMLSec(t *testing.T) {
	for i, report := range validators.XMLSec(t, []*x509.Certificate{j.ca.Root()}, j.paths()...) {
		if len(report.Signatures) != len(j.files[i].levels) {
			t.Errorf("%s: %d signatures", j.files[i].name, len(report.Signatures))
		}
		for _, s := range report.Signatures {
			if !s.Valid {
				t.Errorf("%s: %s", j.files[i].name, s.Error)
			}
		}
	}
}

func (j *judged) judgeOurselves(t *testing.T) {
	for _, f := range j.files {
		got := verify(t, readFile(t, f.path), j.ca)
		if len(got) != len(f.levels) {
			t.Errorf("%s: %d signatures", f.name, len(got))
		}
		for _, s := range got {
			if !s.Passed() || !s.Intact || s.Coverage == ades.Partial {
				t.Errorf("%s: %s, %v: %v", f.name, s.Format, s.Coverage, s.Problems)
			}
		}
	}
}
