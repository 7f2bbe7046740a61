package pades_test

import (
	"cmp"
	"crypto/x509"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/pades"
)

// attackedFile is what came of an attack, and what everybody says of it.
type attackedFile struct {
	attack
	path                       string
	report                     *ades.Report // nil: refused as a whole
	ours, dss, pyhanko, pdfsig string
}

// Nothing passes here that EU DSS fails. In full, the table says what others make of each attack.
func TestAttacksByJudges(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	all := attacks()
	if !testenv.Full() {
		all = sampleOfAttacks(all, 5)
	}
	folder := t.TempDir()
	var files []*attackedFile
	for i, a := range all {
		f := &attackedFile{attack: a, path: filepath.Join(folder, fmt.Sprintf("%03d.pdf", i))}
		writeFile(t, f.path, a.craft(s.in(t)))
		f.verify(t, s)
		files = append(files, f)
	}
	roots := []*x509.Certificate{s.ca.Root()}
	askDSSAboutAttacks(t, files, roots)
	if testenv.Full() {
		askOthersAboutAttacks(t, files, roots)
		testenv.WriteTable(t, "attacks.md", attackTable(files))
	}
}

func sampleOfAttacks(all []attack, n int) (some []attack) {
	for i := 0; i < len(all); i += n {
		some = append(some, all[i])
	}
	return some
}

func (f *attackedFile) verify(t *testing.T, s *scene) {
	t.Helper()
	report, err := pades.Verify(t.Context(), document(readFile(t, f.path)), ades.VerifyOptions{Roots: s.ca.Roots()})
	if err != nil {
		f.ours = "unreadable"
		return
	}
	f.report = report
	var said []string
	for _, s := range report.Signatures {
		switch forbidden := s.Forbidden(); {
		case len(forbidden) > 0:
			said = append(said, "reports "+kindsOf(forbidden))
		case !s.Passed():
			said = append(said, fmt.Sprintf("%s %s", s.Indication, s.SubIndication))
		case len(s.Changes) > 0:
			said = append(said, "lists "+kindsOf(s.Changes))
		case s.Coverage != ades.WholeDocument && !s.Extended:
			said = append(said, "something follows that nobody signed")
		default:
			said = append(said, s.Format)
		}
		if slices.ContainsFunc(s.Timestamps, func(t ades.TimestampReport) bool { return !t.Trusted }) {
			said = append(said, "a timestamp refused")
		}
	}
	f.ours = cmp.Or(strings.Join(said, "; "), "no signature")
}

// kindsOf are the kinds of changes, each once.
func kindsOf(changes []ades.Change) string {
	var kinds []string
	for _, c := range changes {
		if !slices.Contains(kinds, string(c.Kind)) {
			kinds = append(kinds, string(c.Kind))
		}
	}
	return strings.Join(kinds, ", ")
}

func pathsOfAttacks(files []*attackedFile) (paths []string) {
	for _, f := range files {
		paths = append(paths, f.path)
	}
	return paths
}

func askDSSAboutAttacks(t *testing.T, files []*attackedFile, roots []*x509.Certificate) {
	options := validators.DSSOptions{Roots: roots, RevocationOptional: true}
	for i, r := range validators.DSS(t, options, pathsOfAttacks(files)...) {
		f := files[i]
		if r.Error != "" {
			f.dss = "unreadable"
		}
		var said []string
		for _, s := range r.Signatures {
			one := strings.TrimSpace(s.Indication + " " + s.SubIndication)
			if s.Modified || s.UndefinedChange > 0 {
				one += ", sees changes"
			}
			said = append(said, one)
		}
		if slices.ContainsFunc(r.Timestamps, func(s validators.DSSTimestamp) bool { return s.Indication != "PASSED" }) {
			said = append(said, "a timestamp refused")
		}
		failed := slices.ContainsFunc(r.Signatures, func(s validators.DSSSignature) bool { return s.Indication == string(ades.TotalFailed) })
		if failed && f.report != nil && f.report.Passed() {
			t.Errorf("%s: EU DSS says %v, and here it passes", f.name, said)
		}
		f.dss = cmp.Or(f.dss, strings.Join(said, "; "), "no signature")
	}
}

func askOthersAboutAttacks(t *testing.T, files []*attackedFile, roots []*x509.Certificate) {
	for i, r := range validators.PyHanko(t, roots, pathsOfAttacks(files)...) {
		f := files[i]
		if r.Error != "" {
			f.pyhanko = "unreadable"
		}
		var said []string
		for _, s := range r.Signatures {
			switch {
			case s.BottomLine:
				said = append(said, "passes, "+s.ModificationLevel)
			case s.Error != "":
				said = append(said, "refuses")
			default:
				said = append(said, "fails, "+strings.TrimSpace(s.Problem+" "+s.ModificationLevel))
			}
		}
		f.pyhanko = cmp.Or(f.pyhanko, strings.Join(said, "; "), "no signature")
	}
	for _, f := range files {
		signatures, err := validators.PDFSig(t, validators.PDFSigOptions{Roots: roots}, f.path)
		if err != nil {
			f.pdfsig = "unreadable"
		}
		var said []string
		for _, s := range signatures {
			one := strings.TrimSuffix(s.Signature, ".")
			if s.Valid() && !s.Total {
				one += ", not of the whole"
			}
			said = append(said, one)
		}
		f.pdfsig = cmp.Or(f.pdfsig, strings.Join(said, "; "), "no signature")
	}
}
