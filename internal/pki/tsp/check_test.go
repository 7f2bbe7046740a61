package tsp_test

import (
	"bytes"
	"crypto"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/cms"
	"github.com/innsigli/innsigli/internal/pki/tsp"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
)

// EN 319 422 clause 5: what a token of ours says.
func TestToken(t *testing.T) {
	r := newRoot(t)
	now := time.Now()
	for name, unit := range units(t, r) {
		t.Run(name, func(t *testing.T) {
			asked := request([]byte("content"))
			der := create(t, unit, asked, now)
			token, err := asked.Check(der)
			if err != nil {
				t.Fatal(err)
			}
			if !token.Time.Equal(now.Truncate(time.Second)) || token.Accuracy != time.Second {
				t.Errorf("time %v, accuracy %v", token.Time, token.Accuracy)
			}
			if diff := cmp.Diff(asked, tsp.Request{Hash: token.Hash, Sum: token.Sum, Policy: token.Policy, Nonce: token.Nonce, Certificates: true}, compareBig); diff != "" {
				t.Error(diff)
			}
			if !token.Certificate.Equal(unit.Certificate) || len(token.Certificates) != 2 || !bytes.Equal(token.Raw, der) {
				t.Errorf("%d certificates", len(token.Certificates))
			}
			if token.SerialNumber.Sign() <= 0 || token.SerialNumber.BitLen() > 160 {
				t.Errorf("serial number %v", token.SerialNumber)
			}
			if _, err := ades.Chain(token.Certificate, token.Certificates, pool(r.cert), token.Time); err != nil {
				t.Error(err)
			}
		})
	}
}

// Zero bytes follow a token in a PDF's /Contents; nothing else may.
func TestTokenInContents(t *testing.T) {
	unit := newRoot(t).unit(t, unitTemplate(), certtest.NewKey(t, elliptic.P256()))
	der := create(t, unit, request(nil), time.Now())
	token, err := tsp.ParseToken(append(bytes.Clone(der), make([]byte, 1000)...))
	if err != nil || !bytes.Equal(token.Raw, der) {
		t.Errorf("padded with zeros: %v", err)
	}
	for name, b := range map[string][]byte{
		"padded with more": append(bytes.Clone(der), 0, 1),
		"nothing":          nil,
		"cut short":        der[:len(der)-1],
		"too large":        append(bytes.Clone(der), make([]byte, 5<<20)...),
	} {
		if _, err := tsp.ParseToken(b); !errors.Is(err, tsp.ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// RFC 3161 2.4.2: what the token has to have in common with the request.
func TestCheckComparesEveryField(t *testing.T) {
	unit := newRoot(t).unit(t, unitTemplate(), certtest.NewKey(t, elliptic.P256()))
	other := unit
	other.Policy = otherPolicy
	asked := request([]byte("content"))
	change := func(f func(*tsp.Request)) []byte {
		r := asked
		f(&r)
		return create(t, unit, r, time.Now())
	}
	own := change(func(*tsp.Request) {})
	for _, tt := range []struct {
		name  string
		token []byte
		want  error
	}{
		{"its own", own, nil},
		{"a nonce nobody asked for", own, nil},
		{"over other content", change(func(r *tsp.Request) { r.Sum = sum(crypto.SHA256, []byte("other")) }), tsp.ErrMismatch},
		{"by another hash", change(func(r *tsp.Request) { r.Hash, r.Sum = crypto.SHA512, sum(crypto.SHA512, []byte("content")) }), tsp.ErrMismatch},
		{"another nonce", change(func(r *tsp.Request) { r.Nonce = big.NewInt(5) }), tsp.ErrMismatch},
		{"no nonce", change(func(r *tsp.Request) { r.Nonce = nil }), tsp.ErrMismatch},
		{"another policy", func() []byte {
			r := asked
			r.Policy = nil
			return create(t, other, r, time.Now())
		}(), tsp.ErrMismatch},
		{"without the certificate", change(func(r *tsp.Request) { r.Certificates = false }), cms.ErrNoCertificate},
		{"garbage", []byte("garbage"), tsp.ErrFormat},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := asked
			if tt.name == "a nonce nobody asked for" {
				r.Nonce = nil
			}
			token, err := r.Check(tt.token)
			if !errors.Is(err, tt.want) || (token == nil) != (tt.want != nil) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

// ETSI TS 119 312: a token of today is not signed with a key of yesterday.
func TestCheckRefusesWeakKeys(t *testing.T) {
	t.Setenv("GODEBUG", "rsa1024min=0")
	key, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	unit := newRoot(t).unit(t, unitTemplate(), key)
	asked := request(nil)
	der := create(t, unit, asked, time.Now())
	if token, err := asked.Check(der); !errors.Is(err, ades.ErrAlgorithm) || token != nil {
		t.Errorf("got %v", err)
	}
	token, err := tsp.ParseToken(der)
	if err != nil {
		t.Fatal(err)
	}
	if err := token.Verify(); err != nil {
		t.Errorf("as a token of the past: %v", err)
	}
}
