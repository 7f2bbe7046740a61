package dsig

import (
	"bytes"
	"crypto"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/asn1"
	"errors"
	"math/big"
	"slices"
	"testing"

	"github.com/innsigli/innsigli/ades"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
)

func TestECDSAIsAsWideAsItsCurve(t *testing.T) {
	for want, curve := range map[int]elliptic.Curve{64: elliptic.P256(), 96: elliptic.P384(), 132: elliptic.P521()} {
		key := certtest.NewKey(t, curve)
		a, err := ades.DefaultAlgorithm(key.Public())
		if err != nil {
			t.Fatal(err)
		}
		for range 50 { // of which some have an integer that begins with zeros
			digest := a.Digest([]byte("x"))
			der, err := key.Sign(rand.Reader, digest.Sum, a.SignerOpts())
			if err != nil {
				t.Fatal(err)
			}
			octets, err := EncodeValue(a, key.Public(), der)
			if err != nil || len(octets) != want {
				t.Errorf("%d octets, want %d: %v", len(octets), want, err)
			}
			if !bytes.Equal(decodeValue(a, octets), der) {
				t.Error("the value does not come back")
			}
		}
	}
}

func TestEncodeValueRefuses(t *testing.T) {
	key := certtest.NewKey(t, elliptic.P256())
	a := ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA}
	one, order := big.NewInt(1), key.Params().N
	marshal := func(r, s *big.Int) []byte {
		der, err := asn1.Marshal(pair{r, s})
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	if _, err := EncodeValue(a, key.Public(), marshal(one, one)); err != nil {
		t.Errorf("one and one: %v", err)
	}
	for name, der := range map[string][]byte{
		"none":           nil,
		"r and s":        make([]byte, 64),
		"zero":           marshal(new(big.Int), one),
		"negative":       marshal(one, big.NewInt(-1)),
		"the order":      marshal(order, one),
		"s beyond it":    marshal(one, new(big.Int).Lsh(order, 8)),
		"trailing bytes": append(marshal(one, one), 0),
	} {
		if _, err := EncodeValue(a, key.Public(), der); !errors.Is(err, ades.ErrValue) {
			t.Errorf("%s: %v", name, err)
		}
	}
	rsa := newRSASigner(t, ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.PKCS1v15})
	if _, err := EncodeValue(a, rsa.key.Public(), marshal(one, one)); !errors.Is(err, ades.ErrAlgorithm) {
		t.Errorf("a key of RSA: %v", err)
	}
	value := []byte{1, 2, 3}
	if got, err := EncodeValue(rsa.algorithm, rsa.key.Public(), value); err != nil || !slices.Equal(got, value) {
		t.Errorf("RSA: %x, %v", got, err)
	}
}

// What is as good as the value for a calculation is none for who reads it: there is one form of it.
func TestValuesOfAnotherWidth(t *testing.T) {
	key := certtest.NewKey(t, elliptic.P256())
	for n, want := range map[int]error{0: ades.ErrValue, 62: ades.ErrValue, 63: ades.ErrValue, 64: nil, 66: ades.ErrValue} {
		if err := checkWidth(key.Public(), make([]byte, n)); !errors.Is(err, want) {
			t.Errorf("%d octets: %v, want %v", n, err, want)
		}
	}
	for n, known := range map[int]bool{0: false, 63: false, 64: true, 2 * maxWidth: true, 2*maxWidth + 2: false} {
		if value := decodeValue(ades.Algorithm{Scheme: ades.ECDSA}, make([]byte, n)); (value != nil) != known {
			t.Errorf("%d octets: %x", n, value)
		}
	}
}

func TestBase64(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "",
		" aGVs\n\r\tbG8=\n":        "hello",
		"aGVs<!-- c -->bG8=":       "hello",
		"<![CDATA[aGVsbG8=]]>":     "hello",
		"aGVsbG9=":                 "", // bits that are no octet's
		"aGVsbG8":                  "",
		"aGVs-G8=":                 "",
		"aGVsbG8=aGVs":             "",
		"aGVs\u00a0bG8=":           "",
		"aGVs<c>bG8=</c>":          "",
		"aGVsbG8=<!-- c -->=":      "",
		"&#x61;GVsbG8=<?c aGVs ?>": "hello",
	} {
		got, err := binaryOf(parse(t, "<a>"+text+"</a>").Root())
		if string(got) != want || (err != nil) != (want == "" && text != "") || err != nil && !errors.Is(err, ErrFormat) {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}
