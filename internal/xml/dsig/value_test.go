package dsig

import (
	"bytes"
	"crypto"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/asn1"
	"encoding/base64"
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// TestECDSAWidth checks that r and s are as wide as the curve in 50 values for each curve, of which some
// have an integer with leading zeros, and that decoding returns the same value.
func TestECDSAWidth(t *testing.T) {
	for want, curve := range map[int]elliptic.Curve{64: elliptic.P256(), 96: elliptic.P384(), 132: elliptic.P521()} {
		key := certtest.NewKey(t, curve)
		a, err := ades.DefaultAlgorithm(key.Public())
		if err != nil {
			t.Fatal(err)
		}
		for range 50 {
			der, err := key.Sign(rand.Reader, a.Digest([]byte("x")).Sum, a.SignerOpts())
			if err != nil {
				t.Fatal(err)
			}
			octets, err := EncodeValue(a, key.Public(), der)
			if err != nil || len(octets) != want || !bytes.Equal(decodeValue(a, octets), der) {
				t.Errorf("got %x, want %d octets of %x: %v", octets, want, der, err)
			}
		}
	}
}

// TestEncodeValueRefuses checks DER that is no ECDSA value, and keys of another type.
func TestEncodeValueRefuses(t *testing.T) {
	key := certtest.NewKey(t, elliptic.P256())
	a := ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA}
	one, order := big.NewInt(1), key.Params().N
	encode := func(r, s *big.Int) []byte {
		der, err := asn1.Marshal(pair{r, s})
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	for name, row := range map[string]struct {
		der  []byte
		want error
	}{
		"r and s are 1":          {encode(one, one), nil},
		"empty":                  {nil, ades.ErrValue},
		"r and s without DER":    {make([]byte, 64), ades.ErrValue},
		"r is 0":                 {encode(new(big.Int), one), ades.ErrValue},
		"s is negative":          {encode(one, big.NewInt(-1)), ades.ErrValue},
		"r is the order":         {encode(order, one), ades.ErrValue},
		"s is wider than curve":  {encode(one, new(big.Int).Lsh(order, 8)), ades.ErrValue},
		"octets after the value": {append(encode(one, one), 0), ades.ErrValue},
	} {
		if _, err := EncodeValue(a, key.Public(), row.der); !errors.Is(err, row.want) {
			t.Errorf("%s: got %v, want %v", name, err, row.want)
		}
	}
	rsa := newRSASigner(t, ades.PKCS1v15, crypto.SHA256)
	if _, err := EncodeValue(a, rsa.key.Public(), encode(one, one)); !errors.Is(err, ades.ErrAlgorithm) {
		t.Errorf("RSA key: got %v, want %v", err, ades.ErrAlgorithm)
	}
}

// TestVerifyValueRefuses replaces the ECDSA value of a signature. The only form of a value is r and s,
// each as wide as the curve (xmldsig-core1 6.4.3).
func TestVerifyValueRefuses(t *testing.T) {
	k := newECDSASigner(t)
	signed := k.sign(t, `<a>`+k.signature(t, reference("", filter2, excC14N))+`</a>`)
	s := readAll(t, signed)[0]
	r, right := s.octets[:32], s.octets[32:]
	for name, octets := range map[string][]byte{
		"DER":                    s.Value,
		"empty":                  {},
		"one octet less":         s.octets[1:],
		"only s":                 right,
		"two octets less":        s.octets[:62],
		"leading zeros":          slices.Concat([]byte{0}, r, []byte{0}, right),
		"only zeros":             make([]byte, 64),
		"s is 0":                 slices.Concat(r, make([]byte, 32)),
		"s before r":             slices.Concat(right, r),
		"wider than all curves":  make([]byte, 2*maxWidth+2),
		"as wide as the largest": make([]byte, 2*maxWidth),
	} {
		document := strings.Replace(signed, base64.StdEncoding.EncodeToString(s.octets), base64.StdEncoding.EncodeToString(octets), 1)
		if err := verify(t.Context(), document); !errors.Is(err, ades.ErrValue) {
			t.Errorf("%s: got %v, want %v", name, err, ades.ErrValue)
		}
	}
}

// TestHMACWithPublicKey forges an HMAC value with the public key of the certificate as the secret.
func TestHMACWithPublicKey(t *testing.T) {
	k := newECDSASigner(t)
	signed := k.sign(t, `<a>`+k.signature(t, reference("", filter2, excC14N))+`</a>`)
	forged := strings.Replace(signed, more2001+"ecdsa-sha256", more2001+"hmac-sha256", 1)
	d := parse(t, forged)
	h := hmac.New(sha256.New, k.cert.RawSubjectPublicKeyInfo)
	signedInfo := sequenceOf(Find(d)[0]).rest[0]
	if err := d.Canonicalize(h, xmldoc.Canonicalization{Method: xmldoc.Exclusive}, xmldoc.Subset{Apex: signedInfo}); err != nil {
		t.Fatal(err)
	}
	value := base64.StdEncoding.EncodeToString(readAll(t, signed)[0].octets)
	forged = strings.Replace(forged, value, base64.StdEncoding.EncodeToString(h.Sum(nil)), 1)
	if err := verify(t.Context(), forged); !errors.Is(err, ades.ErrAlgorithm) {
		t.Errorf("got %v, want %v", err, ades.ErrAlgorithm)
	}
}

// TestBinary checks base64 in the text of an element, and the limit.
func TestBinary(t *testing.T) {
	for text, row := range map[string]struct {
		want string
		err  error
	}{
		"":                         {"", nil},
		" aGVs\n\r\tbG8=\n":        {"hello", nil},
		"aGVs<!-- c -->bG8=":       {"hello", nil},
		"<![CDATA[aGVsbG8=]]>":     {"hello", nil},
		"&#x61;GVsbG8=<?c aGVs ?>": {"hello", nil},
		"aGVsbG9=":                 {"", ErrFormat}, // unused bits are not zero
		"aGVsbG8":                  {"", ErrFormat},
		"aGVs-G8=":                 {"", ErrFormat},
		"aGVsbG8=aGVs":             {"", ErrFormat},
		"aGVs\u00a0bG8=":           {"", ErrFormat},
		"aGVs<c>bG8=</c>":          {"", ErrFormat},
		"aGVsbG8=<!-- c -->=":      {"", ErrFormat},
		"aGVsbG8haGVsbG8=":         {"", ErrLimit},
	} {
		got, err := Binary(parse(t, "<a>"+text+"</a>").Root(), 9)
		if string(got) != row.want || !errors.Is(err, row.err) {
			t.Errorf("%q: got %q, %v; want %q, %v", text, got, err, row.want, row.err)
		}
	}
}
