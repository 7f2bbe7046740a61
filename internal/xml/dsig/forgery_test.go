package dsig

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// r and s are as wide as the curve, and nothing else is a value (xmldsig-core1 6.4.3).
func TestECDSAValues(t *testing.T) {
	k := newECDSASigner(t)
	signed := k.sign(t, `<a>`+k.signature(t, reference("", filter2, excC14N))+`</a>`)
	s := signatures(t, signed)[0]
	right := s.octets
	for name, octets := range map[string][]byte{
		"DER":               s.Value,
		"none":              {},
		"an octet less":     right[1:],
		"s alone":           right[32:],
		"two octets less":   right[:62],
		"zeros":             make([]byte, 64),
		"r and no s":        append(append([]byte{}, right[:32]...), make([]byte, 32)...),
		"wider":             append(append(append([]byte{0}, right[:32]...), 0), right[32:]...),
		"s and r":           append(append([]byte{}, right[32:]...), right[:32]...),
		"beyond the curves": make([]byte, 2*maxWidth+2),
	} {
		document := strings.Replace(signed, base64.StdEncoding.EncodeToString(right), base64.StdEncoding.EncodeToString(octets), 1)
		if err := verify(t.Context(), document); !errors.Is(err, ades.ErrValue) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Who takes a public key for a secret can be given a value by everybody.
func TestHMACWithThePublicKey(t *testing.T) {
	k := newECDSASigner(t)
	signed := k.sign(t, `<a>`+k.signature(t, reference("", filter2, excC14N))+`</a>`)
	forged := strings.Replace(signed, more2001+"ecdsa-sha256", more2001+"hmac-sha256", 1)
	d := parse(t, forged)
	element := Find(d)[0]
	signedInfo := sequenceOf(element).rest[0]
	h := hmac.New(sha256.New, k.cert.RawSubjectPublicKeyInfo)
	if err := d.Canonicalize(h, xmldoc.Canonicalization{Method: xmldoc.Exclusive}, xmldoc.Subset{Apex: signedInfo}); err != nil {
		t.Fatal(err)
	}
	value := base64.StdEncoding.EncodeToString(signatures(t, signed)[0].octets)
	forged = strings.Replace(forged, value, base64.StdEncoding.EncodeToString(h.Sum(nil)), 1)
	if err := verify(t.Context(), forged); !errors.Is(err, ades.ErrAlgorithm) {
		t.Error(err)
	}
}
