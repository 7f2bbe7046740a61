package pades_test

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"math/big"
	"path/filepath"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/cms"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/pades"
)

// RFC 5035 section 5: the IssuerSerial beside the digest of the signer's certificate may be another's. The digest
// decides, and the contradiction is told, as EU DSS has it.
func TestIssuerSerialOfAnother(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	p := newPerson(t, ca, p256(t))
	b := pdftest.Build(pdftest.Options{})
	folder := t.TempDir()
	var paths []string
	for _, name := range []string{"same", "other"} {
		pending, err := pades.PrepareCMS(t.Context(), document(b), crypto.SHA256, pades.Options{})
		if err != nil {
			t.Fatal(err)
		}
		serial := p.signer.Certificate.SerialNumber
		if name == "other" {
			serial = new(big.Int).Xor(serial, big.NewInt(1))
		}
		r, err := pending.Complete(t.Context(), cmsNaming(t, p, serial, pending.Digest().Sum), nil)
		if err != nil {
			t.Fatal(err)
		}
		signed := append(bytes.Clone(b), r.Bytes...)
		s := verify(t, signed, ca)[0]
		said := len(s.Warnings) == 1 && strings.Contains(s.Warnings[0], "the issuer and serial number beside it are not")
		if !s.Intact || s.SubIndication != ades.TryLater || said != (name == "other") || len(s.Warnings) > 1 {
			t.Errorf("%s: %s %s %q %q", name, s.Indication, s.SubIndication, s.Problems, s.Warnings)
		}
		paths = append(paths, filepath.Join(folder, name+".pdf"))
		writeFile(t, paths[len(paths)-1], signed)
	}
	for i, r := range validators.DSS(t, validators.DSSOptions{RevocationOptional: true, Roots: []*x509.Certificate{ca.Root()}}, paths...) {
		s := r.Signatures[0]
		warned := false
		for _, w := range s.Warnings {
			warned = warned || strings.HasPrefix(w.Key, "BBB_ICS_AIDNASNE")
		}
		if s.Indication != string(ades.TotalPassed) || warned != (i == 1) {
			t.Errorf("%s: EU DSS: %+v", paths[i], s)
		}
	}
}

// cmsNaming is a CMS whose signing-certificate attribute has a serial number.
func cmsNaming(t *testing.T, p person, serial *big.Int, sum []byte) []byte {
	t.Helper()
	named := *p.signer.Certificate
	named.SerialNumber = serial
	algorithm := ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA}
	attributes, err := cms.SignedAttributes(&named, algorithm, sum)
	if err != nil {
		t.Fatal(err)
	}
	value, err := p.key.Sign(nil, algorithm.Digest(attributes).Sum, algorithm.SignerOpts())
	if err != nil {
		t.Fatal(err)
	}
	der, err := cms.Marshal(cms.Parts{
		Certificate: p.signer.Certificate, Chain: p.signer.Chain, Algorithm: algorithm, SignedAttributes: attributes, Value: value,
	})
	if err != nil {
		t.Fatal(err)
	}
	return der
}
