package xades_test

import (
	"crypto/x509"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/test/agreement"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/xades"
)

// agreedAt is after the last of the files was signed, and before 2029, when the policy ends for RSA below 3000
// bits: what is judged at it stays as it is.
var agreedAt = time.Date(2026, time.June, 1, 0, 0, 0, 0, time.UTC)

// EN 319 102-1 and EN 319 132-1: what EU DSS says of foreign files, whom it is told to trust or not.
func TestAgreementWithEUDSS(t *testing.T) {
	t.Parallel()
	paths := foreignPaths(t)
	roots := selfSignedIn(t, paths)
	agreement.Comparison{
		Table: "agreement-xml.md", Title: "Agreement with EU DSS on XML", Preamble: agreementPreamble, Files: paths, Every: 12,
		Runs: []agreement.Run{{
			Title: "No anchors", About: "Nobody is trusted, and the time is that of the test.",
			Verify: verifyWith(xades.VerifyOptions{}), Reasons: withoutAnchors, Verdicts: 0.9, Formats: 0.95,
		}, {
			Title: "Every embedded root an anchor", About: agreementAnchors,
			DSS:     validators.DSSOptions{Roots: roots, At: agreedAt},
			Verify:  verifyWith(xades.VerifyOptions{Roots: pool(roots), Time: agreedAt}),
			Reasons: withAnchors, Verdicts: 0.75, Formats: 0.95,
		}},
	}.Check(t)
}

func verifyWith(options xades.VerifyOptions) func(testing.TB, string) (*ades.Report, error) {
	return func(t testing.TB, path string) (*ades.Report, error) {
		return xades.Verify(t.Context(), document(readFile(t, path)), options)
	}
}

// selfSignedIn are the certificates of who signed himself in any of the files, each once.
func selfSignedIn(t testing.TB, paths []string) (roots []*x509.Certificate) {
	t.Helper()
	for _, path := range paths {
		for _, c := range embedded(readFile(t, path)) {
			if isSelfSigned(c) {
				roots = append(roots, c)
			}
		}
	}
	return eachOnce(roots)
}
