package xades_test

import (
	"crypto/x509"
	"errors"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/xades"
)

// A certificate that was issued for something else signs no XML.
func TestPurposeOfTheCertificate(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	template := *p.signer.Certificate
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	certificate, err := p.ca.IssueProfile(&template, p.key.Public())
	if err != nil {
		t.Fatal(err)
	}
	p.signer.Certificate = certificate
	document := xades.Document{ReaderAt: strings.NewReader(contract), Size: int64(len(contract))}
	if _, err := xades.Prepare(t.Context(), document, p.signer, xades.Options{}); !errors.Is(err, ades.ErrPurpose) {
		t.Error(err)
	}
}
