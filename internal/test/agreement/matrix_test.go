package agreement_test

import (
	"bytes"
	"crypto/x509"
	"path/filepath"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/test/agreement"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
)

// Where the verdicts differ on what EU DSS and pyHanko sign, as it is and altered, there is a reason.
func TestMatrix(t *testing.T) {
	s := newStudio(t)
	files := s.matrix()
	if testenv.Full() && len(files) < 1000 {
		t.Errorf("%d files", len(files))
	}
	roots := []*x509.Certificate{s.ca.Root()}
	pool := poolOf(roots)
	pdf, xml := verifyPDF(ades.VerifyOptions{Roots: pool}), verifyXML(ades.VerifyOptions{Roots: pool})
	agreement.Comparison{
		Table: "agreement-matrix.md", Title: "Agreement with EU DSS on a matrix", Preamble: matrixPreamble, Files: files, Every: 1,
		Runs: []agreement.Run{{
			Title: "The root an anchor", About: "The root of the authority is the anchor, and the validation time is that of the test.",
			DSS: validators.DSSOptions{Roots: roots}, Classes: matrixClasses, Verdicts: 0.91, Formats: 0.89,
			Verify: func(t testing.TB, path string) (*ades.Report, error) {
				if filepath.Ext(path) == ".pdf" {
					return pdf(t, path)
				}
				return xml(t, path)
			},
		}},
	}.Check(t)
}

// matrix makes the documents, and each of them with every second alteration, the others with the next document. A sample
// has a few documents, and each of these with a few alterations.
func (s *studio) matrix() (files []string) {
	s.Helper()
	folder := s.TempDir()
	recipes, every := recipes(), 2
	if !testenv.Full() {
		recipes, every = []recipe{recipes[2], recipes[28], recipes[41], recipes[77]}, 6
	}
	for i, r := range recipes {
		signed := s.make(r)
		alterations := xmlAlterations()
		if r.packaging == "" {
			alterations = pdfAlterations()
		}
		files = append(files, s.put(folder, r, "as signed", signed))
		for j, a := range alterations {
			if (i+j)%every != 0 {
				continue
			}
			if altered := a.alter(signed); altered != nil {
				if bytes.Equal(altered, signed) {
					s.Errorf("%s: %s changes nothing", r.name(), a.name)
				}
				files = append(files, s.put(folder, r, a.name, altered))
			}
		}
	}
	return files
}

func (s *studio) put(folder string, r recipe, alteration string, b []byte) string {
	s.Helper()
	path := filepath.Join(folder, r.name()+" ~ "+alteration+r.extension())
	s.write(path, b)
	return path
}

var matrixPreamble = strings.TrimSpace(`
Documents that EU DSS 6.4 and pyHanko sign with each option that they have: levels, packagings, algorithms, signature
policies, content timestamps, counter-signatures, commitments, roles, places, several archive timestamps, validation data in
each place, and two or three signatures in a file. Each is judged as it was signed, and altered in one thing at a time, by
` + "`pades.Verify` and `xades.Verify`" + ` and by EU DSS, on the same machine and offline, by the default policy of EU DSS. The keys are
new each time. Written by TestMatrix under INNSIGLI_FULL=1, whose code is the list of documents and alterations; a file has the
name of both, as in "pdf dss LT p256 ~ value.pdf".

What lacks revocation data, or has none by a responder that is known, and nothing else, is TRY_LATER here, and with EU DSS
CERTIFICATE_CHAIN_GENERAL_FAILURE, with BBB_XCV_SUB_ANS, BBB_XCV_IRDPFC_ANS, BBB_XCV_IARDPFC_ANS and BBB_XCV_REVOC_ISSUER_KNOWN_ANS as its
only errors: two names for one fact (EN 319 102-1 5.2.6.4 and table 6). The first figure is of equal words, the second of equal facts.
The first class that fits a file counts.
`)
