package signerjson_test

import (
	"crypto"
	"crypto/x509"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/signerjson"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// TestDecode decodes a signer that was stored, and refuses stored signers that were changed.
func TestDecode(t *testing.T) {
	root := certtest.New(t, "Root", nil, certtest.Authority)
	want := ades.SignerIdentity{
		Certificate: certtest.New(t, "A signer", root, func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageContentCommitment }).Cert,
		Chain:       []*x509.Certificate{root.Cert},
		Algorithm:   ades.Algorithm{Hash: crypto.SHA384, Scheme: ades.ECDSA},
	}
	stored, err := json.Marshal(signerjson.Encode(want))
	testenv.NoError(t, err)
	for name, test := range map[string]struct {
		change func(*signerjson.Signer)
		valid  bool
	}{
		"unchanged":             {func(*signerjson.Signer) {}, true},
		"no certificate":        {func(e *signerjson.Signer) { e.Certificate = nil }, false},
		"malformed certificate": {func(e *signerjson.Signer) { e.Certificate = []byte{0x30, 0} }, false},
		"malformed chain":       {func(e *signerjson.Signer) { e.Chain = [][]byte{{1}} }, false},
		"unknown hash":          {func(e *signerjson.Signer) { e.Hash = "SHA-1" }, false},
		"scheme of another key": {func(e *signerjson.Signer) { e.Scheme = int(ades.PSS) }, false},
	} {
		var e signerjson.Signer
		testenv.NoError(t, json.Unmarshal(stored, &e))
		test.change(&e)
		got, err := e.Decode()
		if (err == nil) != test.valid {
			t.Errorf("%s: got error %v, want valid %t", name, err, test.valid)
		}
		if test.valid && !cmp.Equal(want, got) {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
}

// TestStoredNames checks the names and numbers of stored signers, which never change.
func TestStoredNames(t *testing.T) {
	for h, name := range map[crypto.Hash]string{crypto.SHA256: "SHA-256", crypto.SHA384: "SHA-384", crypto.SHA512: "SHA-512"} {
		for scheme, number := range map[ades.Scheme]int{0: 0, ades.PKCS1v15: 1, ades.ECDSA: 2, ades.PSS: 3, ades.Ed25519: 4} {
			a := ades.Algorithm{Hash: h, Scheme: scheme}
			e := signerjson.Encode(ades.SignerIdentity{Algorithm: a})
			if diff := cmp.Diff(signerjson.Signer{Hash: name, Scheme: number}, e); diff != "" || e.Algorithm() != a || !signerjson.KnowsHash(h) {
				t.Errorf("%v is read as %v, -want +got:\n%s", a, e.Algorithm(), diff)
			}
		}
	}
	if signerjson.KnowsHash(crypto.SHA1) {
		t.Error("a signer with SHA-1 can be stored")
	}
}
