package pades_test

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/pades"
)

// Nobody signs when the certificate is not valid (EN 319 102-1 5.2.8), as EU DSS has it: who is known is not
// prepared for, and of who becomes known with the signature it is found out later.
func TestClaimedTime(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	p := newPerson(t, ca, rsaKey(t, 2048))
	b := pdftest.Build(pdftest.Options{})
	for name, at := range map[string]time.Time{
		"too early": p.signer.Certificate.NotBefore.Add(-time.Second), "too late": p.signer.Certificate.NotAfter.Add(time.Second),
	} {
		if _, err := pades.Prepare(t.Context(), document(b), p.signer, pades.Options{Time: at}); !errors.Is(err, ades.ErrOutsideValidity) {
			t.Errorf("%s: prepared: %v", name, err)
		}
		pending, err := pades.PrepareCMS(t.Context(), document(b), crypto.SHA256, pades.Options{Time: at})
		if err != nil {
			t.Fatal(err)
		}
		r, err := pending.Complete(t.Context(), cmsByPyHanko(t, p, "sha256", pending.Digest().Sum), nil)
		if err != nil {
			t.Fatal(err)
		}
		signed := append(bytes.Clone(b), r.Bytes...)
		if s := verify(t, signed, ca)[0]; s.Indication != ades.Indeterminate || s.SubIndication != ades.SigConstraintsFailure {
			t.Errorf("%s: %s %s %q", name, s.Indication, s.SubIndication, s.Problems)
		}
		path := filepath.Join(t.TempDir(), "claimed.pdf")
		writeFile(t, path, signed)
		options := validators.DSSOptions{Roots: []*x509.Certificate{ca.Root()}, RevocationOptional: true}
		if s := validators.DSS(t, options, path)[0].Signatures[0]; s.SubIndication != string(ades.SigConstraintsFailure) {
			t.Errorf("%s: EU DSS says %s %s", name, s.Indication, s.SubIndication)
		}
	}
}
