package tsp

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/cms"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// TestRequest reads requests as they were written (RFC 3161 2.4.1).
func TestRequest(t *testing.T) {
	for name, r := range map[string]Request{
		"no optional fields": {Hash: crypto.SHA256, Sum: make([]byte, 32)},
		"every field":        newRequest(),
		"nonce 0":            {Hash: crypto.SHA512, Sum: make([]byte, 64), Nonce: new(big.Int)},
	} {
		again, err := ParseRequest(mustMarshal(t, r))
		if diff := cmp.Diff(r, again, compareBig); diff != "" || err != nil {
			t.Errorf("%s: %v, -want +got:\n%s", name, err, diff)
		}
	}
	if _, err := (Request{Hash: crypto.MD5, Sum: make([]byte, 16)}).Marshal(); !errors.Is(err, ades.ErrAlgorithm) {
		t.Errorf("MD5: got %v, want ErrAlgorithm", err)
	}
	if _, err := (Request{Hash: crypto.SHA256, Sum: make([]byte, 20)}).Marshal(); err == nil {
		t.Error("a digest of another length than that of the hash is written")
	}
}

// authority is an [ades.Timestamper] that returns one token.
type authority []byte

func (a authority) Timestamp(context.Context, crypto.Hash, []byte) ([]byte, error) { return a, nil }

// TestCheck compares tokens with a request (RFC 3161 2.4.2). Obtain makes no use of the policy and the nonce.
func TestCheck(t *testing.T) {
	unit := newUnit(t)
	request := newRequest()
	noNonce := changedRequest(func(r *Request) { r.Nonce = nil })
	for _, test := range []struct {
		name               string
		request, timestamp Request
		want, obtain       error
	}{
		{"as requested", request, request, nil, nil},
		{"nonce that was not requested", noNonce, request, nil, nil},
		{"other content", request, changedRequest(func(r *Request) { r.Sum = sum(crypto.SHA256, []byte("other")) }), ErrMismatch, ErrMismatch},
		{"another hash", request, changedRequest(func(r *Request) { r.Hash, r.Sum = crypto.SHA512, sum(crypto.SHA512, []byte("content")) }), ErrMismatch, ErrMismatch},
		{"another hash with digests of this length", changedRequest(func(r *Request) { r.Hash = crypto.SHA3_256 }), request, ErrMismatch, ErrMismatch},
		{"another nonce", request, changedRequest(func(r *Request) { r.Nonce = big.NewInt(5) }), ErrMismatch, nil},
		{"no nonce", request, noNonce, ErrMismatch, nil},
		{"another policy", request, changedRequest(func(r *Request) { r.Policy = otherPolicy }), ErrMismatch, nil},
		{"no certificate", request, changedRequest(func(r *Request) { r.Certificates = false }), cms.ErrNoCertificate, cms.ErrNoCertificate},
	} {
		t.Run(test.name, func(t *testing.T) {
			unit.Policy = test.timestamp.Policy
			der := mustCreate(t, unit, test.timestamp)
			if token, err := test.request.Check(der); !errors.Is(err, test.want) || (token == nil) != (test.want != nil) {
				t.Errorf("got %v, want %v", err, test.want)
			}
			_, err := Obtain(t.Context(), authority(der), test.request.Hash, test.request.Sum)
			if !errors.Is(err, test.obtain) || err != nil && !errors.Is(err, ades.ErrTimestamp) {
				t.Errorf("Obtain: got %v, want %v", err, test.obtain)
			}
		})
	}
	if _, err := request.Check([]byte("no token")); !errors.Is(err, ErrFormat) {
		t.Errorf("no token: got %v, want ErrFormat", err)
	}
	if _, err := Obtain(t.Context(), authority("no token"), request.Hash, request.Sum); !errors.Is(err, ades.ErrTimestamp) {
		t.Errorf("Obtain, no token: got %v, want ErrTimestamp", err)
	}
}

// TestCheckKey checks that a new token is refused if its key is too short for new signatures (ETSI TS 119 312), and that
// a token of the past is not.
func TestCheckKey(t *testing.T) {
	t.Setenv("GODEBUG", "rsa1024min=0")
	key, err := rsa.GenerateKey(rand.Reader, 1024)
	testenv.NoError(t, err)
	der := mustCreate(t, newUnitOf(t, certtest.New(t, "Root", nil, certtest.Authority), key), newRequest())
	if token, err := newRequest().Check(der); !errors.Is(err, ades.ErrAlgorithm) || token != nil {
		t.Errorf("got %v, want ErrAlgorithm", err)
	}
	if err := mustParse(t, der).Verify(); err != nil {
		t.Errorf("token of the past: %v", err)
	}
}

// FuzzParseRequest checks that a unit answers each request with a token over it or a refusal.
func FuzzParseRequest(f *testing.F) {
	unit := newUnit(f)
	f.Add(mustMarshal(f, newRequest()))
	f.Add(mustMarshal(f, Request{Hash: crypto.SHA256, Sum: make([]byte, 32), Nonce: big.NewInt(1)}))
	f.Add([]byte{0x30, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		token, err := ParseResponse(unit.Respond(b, time.Now()))
		if err != nil {
			var refusal *StatusError
			if !errors.As(err, &refusal) || refusal.Status != Rejection {
				t.Errorf("got %v, want a rejection", err)
			}
			return
		}
		request, err := ParseRequest(b)
		if err != nil {
			t.Fatalf("granted, and not read: %v", err)
		}
		if again, err := ParseRequest(mustMarshal(t, request)); err != nil || !cmp.Equal(request, again, compareBig) {
			t.Errorf("written and read again: got %+v, %v; want %+v", again, err, request)
		}
		if _, err := request.Check(token); request.Certificates && err != nil {
			t.Error(err)
		}
	})
}
