package xades_test

import (
	"crypto/x509"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/test/validators"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	"github.com/innsigli/innsigli/xades"
)

var (
	signingTime      = regexp.MustCompile(`<xades:SigningTime>[^<]*</xades:SigningTime>`)
	propertiesDigest = regexp.MustCompile(`(Type="http://uri.etsi.org/01903#SignedProperties".*?<ds:DigestValue>)([^<]*)`)
	propertiesID     = regexp.MustCompile(`<xades:SignedProperties Id="([^"]*)"`)
)

// claiming is a document of one signature that says something else of its time.
func claiming(t *testing.T, signed []byte, p person, claim string) []byte {
	t.Helper()
	signed = replaced(t, signed, signingTime, func(string) string { return claim })
	d, err := xmldoc.Parse(signed)
	if err != nil {
		t.Fatal(err)
	}
	sum := exclusiveSum(t, d, string(propertiesID.FindSubmatch(signed)[1]))
	digest := propertiesDigest.FindSubmatch(signed)
	return rewritten(t, signed, p, string(digest[0]), string(digest[1])+sum)
}

// Nobody signs when the certificate is not valid, nor without saying when (EN 319 102-1 5.2.8), as EU DSS has it.
func TestVerifyClaimedTime(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	p := newPerson(t, ca, p256(t))
	signed := sign(t, []byte(contract), p, xades.Options{})
	for name, test := range map[string]struct {
		claim string
		want  ades.SubIndication
	}{
		"as it was": {signingTime.FindString(string(signed)), ""},
		"too early": {"<xades:SigningTime>2001-01-01T00:00:00Z</xades:SigningTime>", ades.SigConstraintsFailure},
		"too late":  {"<xades:SigningTime>2090-01-01T00:00:00Z</xades:SigningTime>", ades.SigConstraintsFailure},
		"missing":   {"", ades.SigConstraintsFailure},
	} {
		b := claiming(t, signed, p, test.claim)
		if s := verify(t, b, ca)[0]; s.Passed() != (test.want == "") {
			t.Errorf("%s, without evidence: %s %s %q", name, s.Indication, s.SubIndication, s.Problems)
		}
		b = extend(t, b, ades.LT, ca.Sources(nil))
		got := verify(t, b, ca)[0]
		if got.SubIndication != test.want || !got.Intact {
			t.Errorf("%s: %s %s %q, want %s", name, got.Indication, got.SubIndication, got.Problems, test.want)
		}
		path := filepath.Join(t.TempDir(), "claimed.xml")
		writeFile(t, path, b)
		r := validators.DSS(t, validators.DSSOptions{Roots: []*x509.Certificate{ca.Root()}}, path)[0].Signatures[0]
		if r.Indication != string(got.Indication) || r.SubIndication != string(got.SubIndication) {
			t.Errorf("%s: EU DSS says %s %s", name, r.Indication, r.SubIndication)
		}
	}
}
