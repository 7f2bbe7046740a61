package pades_test

import (
	"bytes"
	"crypto/x509"
	"path/filepath"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/test/agreement"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/pades"
)

// judgedAt is after the last of the files was signed, and before 2029, when the policy ends for RSA below 3000
// bits: what is judged at it stays as it is.
var judgedAt = time.Date(2026, time.June, 1, 12, 0, 0, 0, time.UTC)

// EN 319 102-1 and EN 319 142-1: what EU DSS says of foreign files, whom it is told to trust or not.
func TestAgreementWithEUDSS(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(filepath.Join(testenv.Corpus(t, "signed/pdf"), "*.pdf"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files: %v", err)
	}
	anchors := selfSignedIn(t, paths)
	agreement.Comparison{
		Table: "agreement-pdf.md", Title: "Agreement with EU DSS on PDF", Preamble: agreementPreamble, Files: paths, Every: 12,
		Runs: []agreement.Run{{
			Title: "No anchors", About: "Nobody is trusted, and the time is that of the test.",
			Verify: verifyWith(pades.VerifyOptions{}), Reasons: withoutAnchors, Verdicts: 0.9, Formats: 0.95,
		}, {
			Title: "Every embedded root an anchor", About: agreementAnchors,
			DSS:     validators.DSSOptions{Roots: anchors, At: judgedAt},
			Verify:  verifyWith(pades.VerifyOptions{Roots: poolOf(anchors), Time: judgedAt}),
			Reasons: withAnchors, Verdicts: 0.8, Formats: 0.95,
		}},
	}.Check(t)
}

func verifyWith(options pades.VerifyOptions) func(testing.TB, string) (*ades.Report, error) {
	return func(t testing.TB, path string) (*ades.Report, error) {
		b := readFile(t, path)
		return pades.Verify(t.Context(), pades.Document{ReaderAt: bytes.NewReader(b), Size: int64(len(b))}, options)
	}
}

func poolOf(certificates []*x509.Certificate) *x509.CertPool {
	pool := x509.NewCertPool()
	for _, c := range certificates {
		pool.AddCert(c)
	}
	return pool
}

// sampleOf returns every n-th of all.
func sampleOf(all []string, n int) []string {
	var some []string
	for i := 0; i < len(all); i += n {
		some = append(some, all[i])
	}
	return some
}

// verdict is what is said of a signature.
type verdict struct{ Format, Indication, SubIndication string }
