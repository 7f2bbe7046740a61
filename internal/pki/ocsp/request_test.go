package ocsp

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	reference "golang.org/x/crypto/ocsp"

	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// TestRequest reads requests as they were written (RFC 6960 4.1.1, RFC 9654 2.1). Those without a nonce, which
// golang.org/x/crypto/ocsp does not have, are what that package writes.
func TestRequest(t *testing.T) {
	authority := certtest.New(t, "CA", nil, certtest.Authority)
	ca, leaf := authority.Cert, certtest.New(t, "leaf", authority).Cert
	for _, h := range []crypto.Hash{crypto.SHA1, crypto.SHA256, crypto.SHA384, crypto.SHA512} {
		want, err := reference.CreateRequest(leaf, ca, &reference.RequestOptions{Hash: h})
		testenv.NoError(t, err)
		for _, nonce := range [][]byte{nil, {1}, bytes.Repeat([]byte{3}, MaxNonce)} {
			der, err := NewRequest(leaf, ca, h, nonce).Marshal()
			testenv.NoError(t, err)
			if nonce == nil && !bytes.Equal(der, want) {
				t.Errorf("%v: -golang.org/x/crypto/ocsp +ours:\n%s", h, cmp.Diff(want, der))
			}
			r, err := ParseRequest(der)
			testenv.NoError(t, err)
			if !bytes.Equal(r.Nonce, nonce) || len(r.IDs) != 1 || r.IDs[0].Hash != h || !r.IDs[0].IssuedBy(ca) ||
				r.IDs[0].IssuedBy(leaf) || r.IDs[0].Serial.Cmp(leaf.SerialNumber) != 0 {
				t.Errorf("%v and nonce %x: got %+v", h, nonce, r)
			}
		}
	}
	for name, r := range map[string]Request{
		"empty nonce":             NewRequest(leaf, ca, crypto.SHA256, []byte{}),
		"nonce above the maximum": NewRequest(leaf, ca, crypto.SHA256, make([]byte, MaxNonce+1)),
		"MD5":                     NewRequest(leaf, ca, crypto.MD5, nil),
	} {
		if _, err := r.Marshal(); err == nil {
			t.Errorf("%s: written", name)
		}
	}
}

// TestRequestExtensions changes the extension of a request, which is the nonce "12345". A message with an unknown
// critical extension is refused (RFC 6960 4.4). RFC 2560 4.4.1 did not state the form of a nonce.
func TestRequestExtensions(t *testing.T) {
	const value = "\x04\x07\x04\x0512345"
	ca := certtest.New(t, "CA", nil, certtest.Authority).Cert
	request := newRequest(t, ca, []byte("12345"))
	oid, err := asn1.Marshal(oidNonce)
	testenv.NoError(t, err)
	unknown := slices.Clone(oid)
	unknown[len(unknown)-1] = 99
	for _, test := range []struct {
		name, value string
		oid         []byte
		nonce       string
		want        error
	}{
		{"nonce in an OCTET STRING", value, oid, "12345", nil},
		{"nonce without OCTET STRING", "\x04\x071234567", oid, "1234567", nil},
		{"critical nonce", "\x01\x01\xff\x04\x04\x04\x0212", oid, "12", nil},
		{"unknown extension", value, unknown, "", nil},
		{"unknown critical extension", "\x01\x01\xff\x04\x04\x04\x0212", unknown, "", ErrFormat},
	} {
		der := bytes.Replace(bytes.Replace(request, []byte(value), []byte(test.value), 1), oid, test.oid, 1)
		if r, err := ParseRequest(der); string(r.Nonce) != test.nonce || !errors.Is(err, test.want) {
			t.Errorf("%s: got %q, %v; want %q, %v", test.name, r.Nonce, err, test.nonce, test.want)
		}
	}
}

// TestMalformedRequest checks that bytes which are no request are refused.
func TestMalformedRequest(t *testing.T) {
	ca := certtest.New(t, "CA", nil, certtest.Authority).Cert
	whole := newRequest(t, ca, []byte{1})
	for n := range whole {
		if _, err := ParseRequest(whole[:n]); !errors.Is(err, ErrFormat) {
			t.Errorf("cut to %d bytes: got %v, want ErrFormat", n, err)
		}
	}
	many, err := Request{IDs: slices.Repeat([]CertID{newCertID(ca, ca, crypto.SHA1)}, maxSingles+1)}.Marshal()
	testenv.NoError(t, err)
	for name, der := range map[string][]byte{"larger than MaxSize": make([]byte, MaxSize+1), "too many certificates": many} {
		if _, err := ParseRequest(der); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: got %v, want ErrFormat", name, err)
		}
	}
}

// newRequest returns a request for the status of an authority's own certificate.
func newRequest(t testing.TB, ca *x509.Certificate, nonce []byte) []byte {
	t.Helper()
	der, err := NewRequest(ca, ca, crypto.SHA1, nonce).Marshal()
	testenv.NoError(t, err)
	return der
}

// FuzzParseRequest checks that a request that was read and written asks for the same.
func FuzzParseRequest(f *testing.F) {
	ca := certtest.New(f, "CA", nil, certtest.Authority).Cert
	for _, nonce := range [][]byte{nil, {1}, make([]byte, 32)} {
		f.Add(newRequest(f, ca, nonce))
	}
	f.Fuzz(func(t *testing.T, der []byte) {
		r, err := ParseRequest(der)
		if err != nil {
			return
		}
		if der, err = r.Marshal(); err != nil {
			t.Fatal(err)
		}
		again, err := ParseRequest(der)
		if err != nil || len(again.IDs) != len(r.IDs) || !bytes.Equal(again.Nonce, r.Nonce) {
			t.Errorf("written and read again: got %+v, %v; want %+v", again, err, r)
		}
	})
}
