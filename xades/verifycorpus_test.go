package xades_test

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/testenv"
	"github.com/innsigli/innsigli/internal/tsp"
	"github.com/innsigli/innsigli/internal/validators"
	"github.com/innsigli/innsigli/xades"
)

// verdict is what two validators are compared by.
type verdict struct{ Format, Indication, SubIndication string }

// foreignPaths are the signed files of the corpus: all, or attacks and every twelfth.
func foreignPaths(t testing.TB) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(testenv.Corpus(t, "signed/xml"), "*.xml"))
	if err != nil || len(all) == 0 {
		t.Fatalf("no files: %v", err)
	}
	if testenv.Full() {
		return all
	}
	var some []string
	for i, path := range all {
		if _, attack := attacks[filepath.Base(path)]; attack || i%12 == 0 {
			some = append(some, path)
		}
	}
	return some
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

// Nothing that EU DSS rejects passes here, whoever is trusted: nobody, or every self-signed certificate
// that a file of the corpus carries. Where nobody is trusted, what EU DSS says else is known.
func TestForeignFiles(t *testing.T) {
	t.Parallel()
	paths := foreignPaths(t)
	files := make([][]byte, len(paths))
	for i, path := range paths {
		files[i] = readFile(t, path)
	}
	t.Run("no roots", func(t *testing.T) { compareWithDSS(t, paths, files, nil) })
	t.Run("all roots", func(t *testing.T) { compareWithDSS(t, paths, files, selfSigned(files)) })
}

func compareWithDSS(t *testing.T, paths []string, files [][]byte, roots []*x509.Certificate) {
	pool := x509.NewCertPool()
	for _, c := range roots {
		pool.AddCert(c)
	}
	same, alike := 0, 0
	for i, theirs := range validators.DSS(t, validators.DSSOptions{Roots: roots}, paths...) {
		name := filepath.Base(paths[i])
		ours := verifyForeign(t, files[i], pool)
		checkNoneIsPassed(t, name, theirs, ours)
		want, got := dssVerdicts(theirs), verdicts(ours)
		diff := cmp.Diff(want, got)
		if diff == "" {
			same++
		}
		if slices.EqualFunc(want, got, func(a, b verdict) bool { return a.Indication == b.Indication }) {
			alike++
		}
		if roots == nil && (diff != "") != (elsewhere[name] != "") {
			t.Errorf("%s (-EU DSS +ours):\n%s", name, diff)
		}
	}
	t.Logf("figure: EU DSS says the same of %d of %d files in format, indication and sub-indication, and of %d in indications",
		same, len(paths), alike)
}

// verifyForeign is the report on a file; one that cannot be read has none.
func verifyForeign(t *testing.T, b []byte, roots *x509.CertPool) *ades.Report {
	t.Helper()
	report, err := xades.Verify(t.Context(), document(b), xades.VerifyOptions{Roots: roots})
	if err != nil {
		return new(ades.Report)
	}
	return report
}

// checkNoneIsPassed compares by number: EU DSS has counter-signatures among the signatures.
func checkNoneIsPassed(t *testing.T, name string, theirs validators.DSSReport, ours *ades.Report) {
	t.Helper()
	left := 0
	for _, s := range theirs.Signatures {
		if s.Indication == string(ades.TotalFailed) && ours.Passed() {
			t.Errorf("%s: passed, and EU DSS says %s, %s", name, s.Indication, s.SubIndication)
		}
		if s.Indication == string(ades.TotalPassed) {
			left++
		}
	}
	for _, s := range ours.Signatures {
		if s.Indication == ades.TotalPassed {
			left--
		}
	}
	if left < 0 {
		t.Errorf("%s: more signatures pass than with EU DSS", name)
	}
}

func dssVerdicts(r validators.DSSReport) []verdict {
	all := []verdict{}
	for _, s := range r.Signatures {
		all = append(all, verdict{s.Format, s.Indication, s.SubIndication})
	}
	return all
}

func verdicts(r *ades.Report) []verdict {
	all := []verdict{}
	for _, s := range r.Signatures {
		all = append(all, verdict{s.Format, string(s.Indication), string(s.SubIndication)})
	}
	return all
}

var encapsulated = regexp.MustCompile(`(?s)<[\w:]*(X509Certificate|EncapsulatedX509Certificate|EncapsulatedTimeStamp)\b[^>]*>([^<]*)<`)

// selfSigned are the self-signed certificates in the files, in KeyInfo, in validation data and in timestamps.
func selfSigned(files [][]byte) []*x509.Certificate {
	var roots []*x509.Certificate
	seen := make(map[string]bool)
	add := func(c *x509.Certificate) {
		if bytes.Equal(c.RawIssuer, c.RawSubject) && !seen[string(c.Raw)] {
			seen[string(c.Raw)] = true
			roots = append(roots, c)
		}
	}
	for _, b := range files {
		for _, match := range encapsulated.FindAllSubmatch(b, -1) {
			der, err := base64.StdEncoding.DecodeString(string(bytes.Join(bytes.Fields(match[2]), nil)))
			if err != nil {
				continue
			}
			if c, err := x509.ParseCertificate(der); err == nil {
				add(c)
			} else if token, err := tsp.ParseToken(der); err == nil {
				for _, c := range token.Certificates {
					add(c)
				}
			}
		}
	}
	return roots
}
