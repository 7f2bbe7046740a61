package tsp_test

import (
	"bytes"
	"crypto/elliptic"
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/internal/pki/tsp"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
)

// FuzzParseToken: what can be read verifies only as it was made.
func FuzzParseToken(f *testing.F) {
	unit := newRoot(f).unit(f, unitTemplate(), certtest.NewKey(f, elliptic.P256()))
	good := create(f, unit, request([]byte("content")), time.Now())
	bare := request([]byte("content"))
	bare.Nonce, bare.Certificates = nil, false
	f.Add(good)
	f.Add(create(f, unit, bare, time.Now()))
	f.Add([]byte{0x30, 0x80, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		token, err := tsp.ParseToken(b)
		if err != nil {
			return
		}
		if !bytes.HasPrefix(b, token.Raw) { // BER: its DER is the same token
			if again, err := tsp.ParseToken(token.Raw); err != nil || !bytes.Equal(again.Raw, token.Raw) {
				t.Errorf("the token's DER is no token: %v", err)
			}
		}
		if token.Verify() != nil {
			return
		}
		original, err := tsp.ParseToken(good)
		if err != nil {
			t.Fatal(err)
		}
		if !token.Certificate.Equal(original.Certificate) {
			return // somebody else's, such as a seed of an earlier run
		}
		if !token.Time.Equal(original.Time) || !bytes.Equal(token.Sum, original.Sum) || token.SerialNumber.Cmp(original.SerialNumber) != 0 {
			t.Error("a token that was not made verifies")
		}
	})
}

// FuzzParseRequest: every request is answered with a token over it or a refusal.
func FuzzParseRequest(f *testing.F) {
	unit := newRoot(f).unit(f, unitTemplate(), certtest.NewKey(f, elliptic.P256()))
	for _, r := range []tsp.Request{request(nil), {Hash: request(nil).Hash, Sum: make([]byte, 32), Nonce: big.NewInt(1)}} {
		der, err := r.Marshal()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(der)
	}
	f.Add([]byte{0x30, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		token, err := tsp.ParseResponse(unit.Respond(b, time.Now()))
		if err != nil {
			var refusal *tsp.StatusError
			if !errors.As(err, &refusal) || refusal.Status != tsp.Rejection {
				t.Errorf("answered with what is no response: %v", err)
			}
			return
		}
		asked, err := tsp.ParseRequest(b)
		if err != nil {
			t.Fatalf("granted: %v", err)
		}
		if der, err := asked.Marshal(); err != nil {
			t.Error(err)
		} else if again, err := tsp.ParseRequest(der); err != nil || !cmp.Equal(asked, again, compareBig) {
			t.Errorf("written again it is another request: %v", err)
		}
		if !asked.Certificates {
			return
		}
		if _, err := asked.Check(token); err != nil {
			t.Error(err)
		}
	})
}

// FuzzParseResponse: a token or a reason.
func FuzzParseResponse(f *testing.F) {
	unit := newRoot(f).unit(f, unitTemplate(), certtest.NewKey(f, elliptic.P256()))
	der, err := request(nil).Marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(unit.Respond(der, time.Now()))
	f.Add(unit.Respond(nil, time.Now()))
	f.Add([]byte{0x30, 19, 0x30, 17, 2, 1, 2, 0x30, 7, 12, 2, 'n', 'o', 12, 1, '!', 3, 3, 1, 0, 2})
	f.Fuzz(func(t *testing.T, b []byte) {
		token, err := tsp.ParseResponse(b)
		if (token == nil) == (err == nil) {
			t.Errorf("token %x, error %v", token, err)
		}
		var refusal *tsp.StatusError
		if err != nil && !errors.Is(err, tsp.ErrFormat) && !errors.As(err, &refusal) {
			t.Errorf("an error of another kind: %v", err)
		}
		if err != nil && len(err.Error()) > 10_000 {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
	})
}
