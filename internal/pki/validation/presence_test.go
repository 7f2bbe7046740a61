package validation

import (
	"bytes"
	"context"
	"crypto/x509"
	"slices"
	"testing"

	"github.com/innsigli/innsigli/ades"
)

// EN 319 132-1 6.3, as validators find it: the pieces of level LT are there whether or not anybody is trusted, and
// whatever the signatures of proofs are worth. One piece less, and they are not.
func TestPiecesArePresent(t *testing.T) {
	a, signer, token := sandbox(t)
	targets := []Target{{Certificate: signer, BestSignatureTime: token.Time}, {Certificate: token.Certificate}}
	data, err := collect(t, a.Sources(nil), nil, targets...)
	if err != nil {
		t.Fatal(err)
	}
	without := func(name string) []*x509.Certificate {
		return slices.DeleteFunc(slices.Clone(data.Certificates), func(c *x509.Certificate) bool { return c.Subject.CommonName == name })
	}
	var broken [][]byte
	for _, response := range data.OCSP {
		broken = append(broken, bytes.Replace(response, signer.SerialNumber.Bytes(), make([]byte, len(signer.SerialNumber.Bytes())), 1))
	}
	nobody := NewKnown(t.Context(), ades.Sources{})
	trusting := NewKnown(t.Context(), ades.Sources{Roots: a.Roots()})
	ended, end := context.WithCancel(t.Context())
	end()
	for name, test := range map[string]struct {
		data  *Data
		known *Known
		want  bool
	}{
		"all of it":                       {data, trusting, true},
		"nobody is trusted":               {&Data{Certificates: data.Certificates, OCSP: data.OCSP, CRLs: data.CRLs}, nobody, true},
		"nobody, and no root":             {&Data{Certificates: without("Innsigli Sandbox Root"), OCSP: data.OCSP, CRLs: data.CRLs}, nobody, false},
		"nobody, and no issuer":           {&Data{Certificates: without("Innsigli Sandbox Issuing"), OCSP: data.OCSP, CRLs: data.CRLs}, nobody, false},
		"nobody, and no list":             {&Data{Certificates: data.Certificates, OCSP: data.OCSP}, nobody, false},
		"nobody, and no response":         {&Data{Certificates: data.Certificates, CRLs: data.CRLs}, nobody, false},
		"nobody, and one response":        {&Data{Certificates: data.Certificates, OCSP: data.OCSP[:1], CRLs: data.CRLs}, nobody, false},
		"nobody, and responses of others": {&Data{Certificates: data.Certificates, OCSP: broken, CRLs: data.CRLs}, nobody, false},
		"no proof at all":                 {&Data{Certificates: data.Certificates}, trusting, false},
		"who asked has gone":              {&Data{Certificates: data.Certificates, OCSP: data.OCSP, CRLs: data.CRLs}, NewKnown(ended, ades.Sources{}), false},
	} {
		if got := test.data.ShareLimit(test.known).Present(test.known, targets...); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if data.Present(trusting, Target{}) {
		t.Error("a certificate that is absent")
	}
}
