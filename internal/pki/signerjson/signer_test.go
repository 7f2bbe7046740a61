package signerjson_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/signerjson"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

func newSigner(t *testing.T) ades.Signer {
	t.Helper()
	ca, err := sandboxca.New(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := ca.Issue("A signer", "0101302989", key.Public(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	s, err := ades.Signer{Certificate: cert, Chain: ca.Chain(), Algorithm: ades.Algorithm{Hash: crypto.SHA384, Scheme: ades.ECDSA}}.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A signer is the same after it was stored.
func TestSignerComesBack(t *testing.T) {
	t.Parallel()
	want := newSigner(t)
	encoded, err := json.Marshal(signerjson.Encode(want))
	if err != nil {
		t.Fatal(err)
	}
	var e signerjson.Signer
	if err := json.Unmarshal(encoded, &e); err != nil {
		t.Fatal(err)
	}
	got, err := e.Decode()
	if err != nil {
		t.Fatal(err)
	}
	if !got.Certificate.Equal(want.Certificate) || got.Algorithm != want.Algorithm || len(got.Chain) != len(want.Chain) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Names and numbers are those of what is stored already.
func TestNamesStay(t *testing.T) {
	t.Parallel()
	for h, name := range map[crypto.Hash]string{crypto.SHA256: "SHA-256", crypto.SHA384: "SHA-384", crypto.SHA512: "SHA-512"} {
		for scheme, number := range map[ades.Scheme]int{0: 0, ades.PKCS1v15: 1, ades.ECDSA: 2, ades.PSS: 3, ades.Ed25519: 4} {
			a := ades.Algorithm{Hash: h, Scheme: scheme}
			e := signerjson.Encode(ades.Signer{Algorithm: a})
			if diff := cmp.Diff(signerjson.Signer{Hash: name, Scheme: number}, e); diff != "" || e.Algorithm() != a || !signerjson.KnowsHash(h) {
				t.Errorf("%v: %s", a, diff)
			}
		}
	}
	if signerjson.KnowsHash(crypto.SHA1) {
		t.Error("SHA-1 is known")
	}
}

// What was changed in the store is an error.
func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*signerjson.Signer){
		"no certificate":       func(e *signerjson.Signer) { e.Certificate = nil },
		"another certificate":  func(e *signerjson.Signer) { e.Certificate = []byte{0x30, 0} },
		"a chain of something": func(e *signerjson.Signer) { e.Chain = [][]byte{{1}} },
		"no hash":              func(e *signerjson.Signer) { e.Hash = "SHA-1" },
		"another scheme":       func(e *signerjson.Signer) { e.Scheme = int(ades.PSS) },
	} {
		e := signerjson.Encode(newSigner(t))
		change(&e)
		if _, err := e.Decode(); err == nil {
			t.Errorf("%s: decoded", name)
		}
	}
}
