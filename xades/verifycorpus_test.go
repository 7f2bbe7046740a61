package xades_test

import (
	"crypto/x509"
	"path/filepath"
	"slices"
	"testing"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/xades"
)

// verdict is what two validators are compared by.
type verdict struct{ Format, Indication, SubIndication string }

// foreignPaths are the signed files of the corpus.
func foreignPaths(t testing.TB) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(testenv.Corpus(t, "signed/xml"), "*.xml"))
	if err != nil || len(all) == 0 {
		t.Fatalf("no files: %v", err)
	}
	return all
}

// Attacks are noticed by what they do, and not for want of a root.
func TestAttacksOfTheCorpus(t *testing.T) {
	t.Parallel()
	folder := testenv.Corpus(t, "signed/xml")
	for name, want := range attacks {
		report := verifyForeign(t, readFile(t, filepath.Join(folder, name)), nil)
		if len(report.Signatures) != 1 || report.Signatures[0].SubIndication != want || report.Passed() {
			t.Errorf("%s: %v, want %s", name, verdicts(report), want)
		}
	}
	for name, want := range stampAttacks {
		intact := 0
		for _, stamp := range verifyForeign(t, readFile(t, filepath.Join(folder, name)), nil).Signatures[0].Timestamps {
			if stamp.Intact {
				intact++
			}
		}
		if intact != want {
			t.Errorf("%s: %d timestamps are over what they stand for, want %d", name, intact, want)
		}
	}
}

// Nothing that EU DSS rejects passes here, signature by signature, where most files would pass; nor is anything
// intact that is not for EU DSS.
func TestForeignFiles(t *testing.T) {
	t.Parallel()
	paths := foreignPaths(t)
	sights := sightsOf(t, paths)
	known := knownVerdicts(t, paths, sights)
	passed, intact := 0, 0
	for i, path := range paths {
		f := foreignFile{T: t, name: filepath.Base(path), sight: sights[i]}
		ours := f.verify(readFile(t, path))
		f.compare(known[f.name], ours)
		for _, o := range ours.Signatures {
			passed, intact = passed+count(o.Passed()), intact+count(o.Intact)
		}
	}
	t.Logf("figure: trusting each file's own authorities at its time, %d signatures pass here, and %d are intact", passed, intact)
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// intactAlone has other properties put in the place of those that were signed, which are elsewhere and as they
// were: the digests and the value are right, and what is signed is not found.
const intactAlone = "XSW-enveloped-fake-signedProperties.xml"

// foreignFile is a file in a sight.
type foreignFile struct {
	*testing.T
	name string
	sight
}

// compare takes signatures for the same by their Id, and those of one Id in their order.
func (f foreignFile) compare(theirs []dssVerdict, ours *ades.Report) {
	f.Helper()
	left := slices.Clone(theirs)
	for _, s := range ours.Signatures {
		same := dssVerdict{id: s.Name} // of one that EU DSS does not find
		if i := slices.IndexFunc(left, func(v dssVerdict) bool { return v.id == s.Name }); i >= 0 {
			same = left[i]
			left = slices.Delete(left, i, i+1)
		}
		if s.Passed() && same.Indication != string(ades.TotalPassed) {
			f.Errorf("%s, %s: %s, and EU DSS says %+v", f.name, s.Name, s.Indication, same)
		}
		if s.Intact && !same.intact && f.name != intactAlone {
			f.Errorf("%s, %s: intact, and not for EU DSS: %+v", f.name, s.Name, same)
		}
	}
	for _, v := range theirs {
		if v.Indication != string(ades.TotalPassed) && ours.Passed() {
			f.Errorf("%s: passed, and EU DSS says %+v", f.name, v)
		}
	}
}

// verify is the report on a file; one that cannot be read has none.
func (f foreignFile) verify(b []byte) *ades.Report {
	report, err := xades.Verify(f.Context(), document(b), ades.VerifyOptions{Roots: pool(f.roots), Time: f.at})
	if err != nil {
		return new(ades.Report)
	}
	return report
}

// verifyForeign is the report on a file; one that cannot be read has none.
func verifyForeign(t *testing.T, b []byte, roots *x509.CertPool) *ades.Report {
	t.Helper()
	report, err := xades.Verify(t.Context(), document(b), ades.VerifyOptions{Roots: roots})
	if err != nil {
		return new(ades.Report)
	}
	return report
}

func verdicts(r *ades.Report) []verdict {
	all := []verdict{}
	for _, s := range r.Signatures {
		all = append(all, verdict{s.Format, string(s.Indication), string(s.SubIndication)})
	}
	return all
}
