package tsp

import (
	"bytes"
	"crypto/elliptic"
	"encoding/asn1"
	"errors"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// rawRequest is a TimeStampReq for encoding/asn1, which writes what Request does not.
type rawRequest struct {
	Version    int
	Imprint    rawImprint
	Policy     asn1.ObjectIdentifier `asn1:"optional"`
	Nonce      *big.Int              `asn1:"optional"`
	CertReq    bool                  `asn1:"optional"`
	Extensions asn1.RawValue         `asn1:"optional"`
	More       int                   `asn1:"optional"`
}

// TestRespond checks the PKIFailureInfo with which a unit refuses requests (RFC 3161 2.4.1 and 2.4.2).
func TestRespond(t *testing.T) {
	unit := newUnit(t)
	changed := func(change func(*rawRequest)) []byte {
		r := rawRequest{Version: 1, Imprint: newRawImprint(oidSHA256, 32), Nonce: big.NewInt(1)}
		change(&r)
		der, err := asn1.Marshal(r)
		testenv.NoError(t, err)
		return der
	}
	good := changed(func(*rawRequest) {})
	extensions := asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: 0, IsCompound: true, Bytes: []byte{0x30, 0}}
	for _, test := range []struct {
		name    string
		request []byte
		want    Failure
	}{
		{"empty", nil, BadDataFormat},
		{"text", []byte("GET / HTTP/1.1"), BadDataFormat},
		{"truncated", good[:len(good)-1], BadDataFormat},
		{"bytes after it", append(bytes.Clone(good), 0), BadDataFormat},
		{"too large", make([]byte, maxSize+1), BadDataFormat},
		{"version 2", changed(func(r *rawRequest) { r.Version = 2 }), BadRequest},
		{"unknown hash", changed(func(r *rawRequest) { r.Imprint = newRawImprint(oidMD5, 16) }), BadAlg},
		{"hash that the unit does not accept", changed(func(r *rawRequest) { r.Imprint = newRawImprint(oidSHA1, 20) }), BadAlg},
		{"digest of another length", changed(func(r *rawRequest) { r.Imprint.Sum = make([]byte, 31) }), BadDataFormat},
		{"another policy", changed(func(r *rawRequest) { r.Policy = otherPolicy }), UnacceptedPolicy},
		{"nonce too long", changed(func(r *rawRequest) { r.Nonce = new(big.Int).Lsh(r.Nonce, maxNonce) }), BadRequest},
		{"extension", changed(func(r *rawRequest) { r.Extensions = extensions }), UnacceptedExtension},
		{"field after the last", changed(func(r *rawRequest) { r.More = 7 }), BadDataFormat},
	} {
		_, err := ParseResponse(unit.Respond(test.request, time.Now()))
		var refusal *StatusError
		if !errors.As(err, &refusal) || refusal.Status != Rejection || refusal.Failure != test.want || refusal.Temporary() {
			t.Errorf("%s: got %v, want %v", test.name, err, test.want)
		}
	}
	if _, err := ParseResponse(unit.Respond(good, time.Now())); err != nil {
		t.Errorf("valid request: %v", err)
	}
	unit.Key = certtest.NewKey(t, elliptic.P224())
	_, err := ParseResponse(unit.Respond(good, time.Now()))
	var failure *StatusError
	if !errors.As(err, &failure) || failure.Failure != SystemFailure || failure.Text != "" || !failure.Temporary() {
		t.Errorf("unit that cannot sign: got %v, want SystemFailure without text", err)
	}
}

// TestParseResponse reads responses of other authorities: in BER, with several reasons or texts or none, and malformed.
func TestParseResponse(t *testing.T) {
	token := []byte{0x30, 3, 2, 1, 1}
	status := func(n byte) []byte { return []byte{0x30, 3, 2, 1, n} }
	response := func(fields ...[]byte) []byte {
		all := slices.Concat(fields...)
		return append([]byte{0x30, byte(len(all))}, all...)
	}
	rejected := func(failure Failure, text string) error { return &StatusError{Rejection, failure, text} }
	for _, test := range []struct {
		name     string
		response []byte
		want     error
	}{
		{"granted", response(status(0), token), nil},
		{"granted with modifications", response(status(1), token), nil},
		{"granted, in BER", slices.Concat([]byte{0x30, 0x80, 0x30, 0x80, 2, 1, 0, 0, 0}, token, []byte{0, 0}), nil},
		{"granted without token", response(status(0)), ErrFormat},
		{"granted with two tokens", response(status(0), token, token), ErrFormat},
		{"bytes after it", append(response(status(0), token), 0), ErrFormat},
		{"too large", make([]byte, maxSize+1), ErrFormat},
		{"HTML", []byte("<html>"), ErrFormat},
		{"rejected with token", response(status(2), token), rejected(NoFailure, "")},
		{"waiting", response(status(3)), &StatusError{Waiting, NoFailure, ""}},
		{"two texts", response([]byte{0x30, 17, 2, 1, 2, 0x30, 7, 12, 2, 'n', 'o', 12, 1, '!', 3, 3, 1, 0, 2}), rejected(TimeNotAvailable, "no !")},
		{"no bits in failInfo", response([]byte{0x30, 6, 2, 1, 2, 3, 1, 0}), rejected(NoFailure, "")},
		{"failInfo without contents", response([]byte{0x30, 5, 2, 1, 2, 3, 0}), rejected(NoFailure, "")},
	} {
		got, err := ParseResponse(test.response)
		if test.want == nil && !bytes.Equal(got, token) || test.want != nil && got != nil {
			t.Errorf("%s: got token %x", test.name, got)
		}
		if !errors.Is(err, test.want) && !cmp.Equal(err, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, err, test.want)
		}
	}
}

// FuzzParseResponse checks that there is either a token or an error, of a known kind and a limited length.
func FuzzParseResponse(f *testing.F) {
	unit := newUnit(f)
	f.Add(unit.Respond(mustMarshal(f, newRequest()), time.Now()))
	f.Add(unit.Respond(nil, time.Now()))
	f.Add([]byte{0x30, 19, 0x30, 17, 2, 1, 2, 0x30, 7, 12, 2, 'n', 'o', 12, 1, '!', 3, 3, 1, 0, 2})
	f.Fuzz(func(t *testing.T, b []byte) {
		token, err := ParseResponse(b)
		if (token == nil) == (err == nil) {
			t.Errorf("token %x, error %v", token, err)
		}
		var refusal *StatusError
		if err != nil && !errors.Is(err, ErrFormat) && !errors.As(err, &refusal) {
			t.Errorf("error of another kind: %v", err)
		}
		if err != nil && len(err.Error()) > 10_000 {
			t.Errorf("error of %d bytes", len(err.Error()))
		}
	})
}
