package tsp_test

import (
	"bytes"
	"crypto"
	"crypto/elliptic"
	"encoding/asn1"
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/tsp"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
)

var compareBig = cmp.Comparer(func(a, b *big.Int) bool {
	return (a == nil) == (b == nil) && (a == nil || a.Cmp(b) == 0)
})

// RFC 3161 2.4.1
func TestRequest(t *testing.T) {
	for name, r := range map[string]tsp.Request{
		"SHA-256 alone":       {Hash: crypto.SHA256, Sum: make([]byte, 32)},
		"SHA-512":             {Hash: crypto.SHA512, Sum: make([]byte, 64)},
		"with every field":    request([]byte("content")),
		"nonce of zero":       {Hash: crypto.SHA256, Sum: make([]byte, 32), Nonce: new(big.Int)},
		"nonce without certs": {Hash: crypto.SHA384, Sum: make([]byte, 48), Nonce: big.NewInt(1 << 62)},
	} {
		der, err := r.Marshal()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		again, err := tsp.ParseRequest(der)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(r, again, compareBig); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
	if _, err := (tsp.Request{Hash: crypto.MD5, Sum: make([]byte, 16)}).Marshal(); !errors.Is(err, ades.ErrAlgorithm) {
		t.Errorf("MD5: %v", err)
	}
	if _, err := (tsp.Request{Hash: crypto.SHA256, Sum: make([]byte, 20)}).Marshal(); err == nil {
		t.Error("a sum of another length is sent")
	}
}

// rawRequest is a TimeStampReq in encoding/asn1, which writes what Request would not.
type rawRequest struct {
	Version    int
	Imprint    rawImprint
	Policy     asn1.ObjectIdentifier `asn1:"optional"`
	Nonce      *big.Int              `asn1:"optional"`
	CertReq    bool                  `asn1:"optional"`
	Extensions asn1.RawValue         `asn1:"optional"`
	More       int                   `asn1:"optional"`
}

type rawImprint struct {
	Algorithm struct{ OID asn1.ObjectIdentifier }
	Sum       []byte
}

func newRawRequest() rawRequest {
	r := rawRequest{Version: 1, Imprint: rawImprint{Sum: make([]byte, 32)}, Nonce: big.NewInt(1)}
	r.Imprint.Algorithm.OID = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 1}
	return r
}

// RFC 3161 2.4.1 and 2.4.2: what is refused, and with which PKIFailureInfo.
func TestRefusals(t *testing.T) {
	unit := newRoot(t).unit(t, unitTemplate(), certtest.NewKey(t, elliptic.P256()))
	change := func(f func(*rawRequest)) []byte {
		r := newRawRequest()
		f(&r)
		der, err := asn1.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	good := change(func(*rawRequest) {})
	if _, err := tsp.ParseResponse(unit.Respond(good, time.Now())); err != nil {
		t.Fatalf("a good request is refused: %v", err)
	}
	for _, tt := range []struct {
		name    string
		request []byte
		want    tsp.Failure
	}{
		{"nothing", nil, tsp.BadDataFormat},
		{"text", []byte("GET / HTTP/1.1"), tsp.BadDataFormat},
		{"cut short", good[:len(good)-1], tsp.BadDataFormat},
		{"bytes after it", append(bytes.Clone(good), 0), tsp.BadDataFormat},
		{"more than any request has", make([]byte, 5<<20), tsp.BadDataFormat},
		{"version 2", change(func(r *rawRequest) { r.Version = 2 }), tsp.BadRequest},
		{"MD5", change(func(r *rawRequest) {
			r.Imprint.Algorithm.OID = asn1.ObjectIdentifier{1, 2, 840, 113549, 2, 5}
			r.Imprint.Sum = make([]byte, 16)
		}), tsp.BadAlg},
		{"SHA-1", change(func(r *rawRequest) {
			r.Imprint.Algorithm.OID = asn1.ObjectIdentifier{1, 3, 14, 3, 2, 26}
			r.Imprint.Sum = make([]byte, 20)
		}), tsp.BadAlg},
		{"sum of another length", change(func(r *rawRequest) { r.Imprint.Sum = make([]byte, 31) }), tsp.BadDataFormat},
		{"another policy", change(func(r *rawRequest) { r.Policy = otherPolicy }), tsp.UnacceptedPolicy},
		{"a nonce of a kilobyte", change(func(r *rawRequest) { r.Nonce = new(big.Int).Lsh(r.Nonce, 8192) }), tsp.BadRequest},
		{"an extension", change(func(r *rawRequest) {
			r.Extensions = asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: 0, IsCompound: true, Bytes: []byte{0x30, 0}}
		}), tsp.UnacceptedExtension},
		{"a field too many", change(func(r *rawRequest) { r.More = 7 }), tsp.BadDataFormat},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tsp.ParseResponse(unit.Respond(tt.request, time.Now()))
			var refusal *tsp.StatusError
			if !errors.As(err, &refusal) || refusal.Status != tsp.Rejection || refusal.Failure != tt.want {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

// A unit that cannot sign says so, and nothing of why.
func TestSystemFailure(t *testing.T) {
	unit := newRoot(t).unit(t, unitTemplate(), certtest.NewKey(t, elliptic.P256()))
	unit.Key = certtest.NewKey(t, elliptic.P224())
	der, err := request(nil).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	_, err = tsp.ParseResponse(unit.Respond(der, time.Now()))
	var refusal *tsp.StatusError
	if !errors.As(err, &refusal) || refusal.Failure != tsp.SystemFailure || refusal.Text != "" || !refusal.Temporary() {
		t.Errorf("%v", err)
	}
}

// Responses of others: BER, several reasons, several texts, none of them, lies.
func TestResponses(t *testing.T) {
	token := []byte{0x30, 3, 2, 1, 1}
	for _, tt := range []struct {
		name     string
		response []byte
		token    []byte
		want     error
	}{
		{"granted", append([]byte{0x30, 10, 0x30, 3, 2, 1, 0}, token...), token, nil},
		{"granted with modifications", append([]byte{0x30, 10, 0x30, 3, 2, 1, 1}, token...), token, nil},
		{"granted in BER", append(append([]byte{0x30, 0x80, 0x30, 0x80, 2, 1, 0, 0, 0}, token...), 0, 0), token, nil},
		{"granted without a token", []byte{0x30, 5, 0x30, 3, 2, 1, 0}, nil, tsp.ErrFormat},
		{"granted with two", append(append([]byte{0x30, 15, 0x30, 3, 2, 1, 0}, token...), token...), nil, tsp.ErrFormat},
		{"bytes after it", append(append([]byte{0x30, 10, 0x30, 3, 2, 1, 0}, token...), 0), nil, tsp.ErrFormat},
		{"too large", make([]byte, 5<<20), nil, tsp.ErrFormat},
		{"a page of HTML", []byte("<html>"), nil, tsp.ErrFormat},
		{"refused with a token", append([]byte{0x30, 10, 0x30, 3, 2, 1, 2}, token...), nil,
			&tsp.StatusError{Status: tsp.Rejection, Failure: tsp.NoFailure}},
		{"waiting", []byte{0x30, 5, 0x30, 3, 2, 1, 3}, nil, &tsp.StatusError{Status: tsp.Waiting, Failure: tsp.NoFailure}},
		{"two texts and timeNotAvailable", []byte{0x30, 19, 0x30, 17, 2, 1, 2, 0x30, 7, 12, 2, 'n', 'o', 12, 1, '!', 3, 3, 1, 0, 2}, nil,
			&tsp.StatusError{Status: tsp.Rejection, Failure: tsp.TimeNotAvailable, Text: "no !"}},
		{"an empty list of reasons", []byte{0x30, 8, 0x30, 6, 2, 1, 2, 3, 1, 0}, nil,
			&tsp.StatusError{Status: tsp.Rejection, Failure: tsp.NoFailure}},
		{"a list of reasons without octets", []byte{0x30, 7, 0x30, 5, 2, 1, 2, 3, 0}, nil,
			&tsp.StatusError{Status: tsp.Rejection, Failure: tsp.NoFailure}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tsp.ParseResponse(tt.response)
			if !bytes.Equal(got, tt.token) {
				t.Errorf("token %x", got)
			}
			var refusal *tsp.StatusError
			if errors.As(tt.want, &refusal) {
				if diff := cmp.Diff(tt.want, err); diff != "" {
					t.Error(diff)
				}
			} else if !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}
