package pades_test

import (
	"bytes"
	"crypto"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/pdflint"
	"github.com/innsigli/innsigli/pades"
)

// cmsByPyHanko is a provider who returns a whole CMS, with a signing time in it.
func cmsByPyHanko(t *testing.T, p person, hash string, sum []byte) []byte {
	t.Helper()
	key, cert := writeKey(t, p)
	folder := t.TempDir()
	chain, out := filepath.Join(folder, "chain.pem"), filepath.Join(folder, "signature.der")
	writeFile(t, chain, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.signer.Chain[0].Raw}))
	command := exec.CommandContext(t.Context(), testenv.Tool(t, "pyhanko/bin/python"), filepath.Join("testdata", "cms.py"), key, cert, chain, hash, hex.EncodeToString(sum), out)
	if said, err := command.CombinedOutput(); err != nil {
		t.Fatalf("pyHanko: %v\n%s", err, said)
	}
	der, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// ISO 32000-2 12.8.3.3: what a provider signs as it likes is no PAdES signature, and valid.
func TestCMSMadeElsewhere(t *testing.T) {
	ca := newAuthority(t)
	var cases []signedCase
	for _, row := range []struct {
		name string
		hash crypto.Hash
		key  crypto.Signer
	}{
		{"sha256", crypto.SHA256, rsaKey(t, 2048)},
		{"sha512", crypto.SHA512, p256(t)},
	} {
		p := newPerson(t, ca, row.key)
		b := pdftest.Build(pdftest.Options{})
		prepared, err := pades.PrepareCMS(t.Context(), document(b), row.hash, pades.Options{Reason: "Undirritun"})
		if err != nil {
			t.Fatal(err)
		}
		pending := storedAndRead(t, prepared)
		digest := pending.Digest()
		if digest.Algorithm != (ades.Algorithm{Hash: row.hash}) || pending.Signer().Certificate != nil {
			t.Errorf("%+v by %v", digest, pending.Signer().Certificate)
		}
		r, err := pending.Complete(t.Context(), cmsByPyHanko(t, p, row.name, digest.Sum), nil)
		if err != nil {
			t.Fatal(err)
		}
		signed := append(bytes.Clone(b), r.Bytes...)
		if faults := pdflint.Check(b, signed); len(faults) != 1 || faults[0].Rule != pdflint.SubFilter {
			t.Errorf("beside the format that is not PAdES: %v", faults)
		}
		if s := verify(t, signed, ca)[0]; s.Format != "PKCS7-B" || s.SubIndication != ades.TryLater || !s.Certificate.Equal(p.signer.Certificate) {
			t.Errorf("%+v", s)
		}
		cases = append(cases, signedCase{name: row.name, b: signed, fields: []string{"Signature1"}, format: "PKCS7-B"})
	}
	checkForeign(t, ca, cases)
}

func storedAndRead(t *testing.T, p *pades.Pending) *pades.Pending {
	t.Helper()
	encoded, err := p.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	again := new(pades.Pending)
	if err := again.UnmarshalBinary(encoded); err != nil {
		t.Fatal(err)
	}
	return again
}

// A CMS over something else, or none at all, is refused, and the right one taken after it.
func TestCMSThatIsNotTheSignature(t *testing.T) {
	p := newPerson(t, newAuthority(t), p256(t))
	doc := document(pdftest.Build(pdftest.Options{}))
	pending, err := pades.PrepareCMS(t.Context(), doc, crypto.SHA256, pades.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sum := pending.Digest().Sum
	good := cmsByPyHanko(t, p, "sha256", sum)
	for name, row := range map[string]struct {
		cms  []byte
		want error
	}{
		"over something else": {cmsByPyHanko(t, p, "sha256", make([]byte, 32)), ades.ErrValue},
		"by another hash":     {cmsByPyHanko(t, p, "sha512", make([]byte, 64)), ades.ErrValue},
		"another value":       {bytes.Replace(good, good[len(good)-8:], make([]byte, 8), 1), ades.ErrValue},
		"cut off":             {good[:len(good)-1], ades.ErrValue},
		"a bare value":        {[]byte{0x30, 0x06, 2, 1, 1, 2, 1, 1}, ades.ErrValue},
		"nothing":             {nil, ades.ErrValue},
		"the signature":       {good, nil},
	} {
		if _, err := pending.Complete(t.Context(), row.cms, nil); !errors.Is(err, row.want) {
			t.Errorf("%s: got %v, want %v", name, err, row.want)
		}
	}
	for name, row := range map[string]struct {
		b       []byte
		hash    crypto.Hash
		options pades.Options
		want    error
	}{
		"a weak hash":            {nil, crypto.SHA1, pades.Options{}, ades.ErrAlgorithm},
		"a field's certificate":  {seeded("<< /Type /SV /Cert << /Ff 1 /Subject [(x)] >> >>"), crypto.SHA256, pades.Options{Field: "Buyer"}, ades.ErrForbidden},
		"a field for PAdES":      {seeded("<< /Type /SV /Ff 2 /SubFilter [/ETSI.CAdES.detached] >>"), crypto.SHA256, pades.Options{Field: "Buyer"}, ades.ErrForbidden},
		"a field for any signer": {seeded("<< /Type /SV /Ff 2 /SubFilter [/adbe.pkcs7.detached] >>"), crypto.SHA256, pades.Options{Field: "Buyer"}, nil},
	} {
		if _, err := pades.PrepareCMS(t.Context(), document(row.b), row.hash, row.options); !errors.Is(err, row.want) {
			t.Errorf("%s: got %v, want %v", name, err, row.want)
		}
	}
	if _, err := pades.PrepareCMS(t.Context(), doc, crypto.SHA256, pades.Options{Level: ades.T}); err == nil {
		t.Error("level T of a CMS that has no room for a timestamp")
	}
}
