package tsp

import (
	"encoding/asn1"
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// rawInfo is a TSTInfo for encoding/asn1, which writes what a Unit does not.
type rawInfo struct {
	Version      int
	Policy       asn1.ObjectIdentifier
	Imprint      rawImprint
	SerialNumber *big.Int
	Time         asn1.RawValue
	Accuracy     asn1.RawValue `asn1:"optional"`
	Ordering     bool          `asn1:"optional"`
	Nonce        *big.Int      `asn1:"optional"`
	Extensions   asn1.RawValue `asn1:"optional"`
}

// TestTSTInfo reads the fields of a TSTInfo (RFC 3161 2.4.2).
func TestTSTInfo(t *testing.T) {
	accuracy := func(contents ...byte) func(*rawInfo) {
		return func(i *rawInfo) { i.Accuracy = asn1.RawValue{Tag: asn1.TagSequence, IsCompound: true, Bytes: contents} }
	}
	extension := func(critical ...byte) func(*rawInfo) { // with the OID 2.5 and an empty value
		body := append(append([]byte{6, 1, 0x55}, critical...), 4, 0)
		return func(i *rawInfo) {
			i.Extensions = asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: 1, IsCompound: true, Bytes: append([]byte{0x30, byte(len(body))}, body...)}
		}
	}
	for _, test := range []struct {
		name     string
		change   func(*rawInfo)
		accuracy time.Duration
		nonce    *big.Int
		want     error
	}{
		{"no optional fields", func(*rawInfo) {}, 0, nil, nil},
		{"ordering and nonce", func(i *rawInfo) { i.Ordering, i.Nonce = true, big.NewInt(7) }, 0, big.NewInt(7), nil},
		{"accuracy in seconds", accuracy(2, 1, 1), time.Second, nil, nil},
		{"accuracy in milliseconds", accuracy(0x80, 2, 1, 0xf4), 500 * time.Millisecond, nil, nil},
		{"accuracy in microseconds", accuracy(0x81, 1, 1), time.Microsecond, nil, nil},
		{"empty accuracy", accuracy(), 0, nil, nil},
		{"negative accuracy", accuracy(2, 1, 0xff), 0, nil, ErrFormat},
		{"accuracy of 1000 milliseconds", accuracy(0x80, 2, 3, 0xe8), 0, nil, ErrFormat},
		{"accuracy of centuries", accuracy(2, 8, 0x7f, 0, 0, 0, 0, 0, 0, 0), 0, nil, ErrFormat},
		{"accuracy that is NULL", accuracy(5, 0), 0, nil, ErrFormat},
		{"extension", extension(), 0, nil, nil},
		{"extension with critical FALSE", extension(1, 1, 0), 0, nil, nil},
		{"critical extension", extension(1, 1, 0xff), 0, nil, ErrFormat},
		{"version 2", func(i *rawInfo) { i.Version = 2 }, 0, nil, ErrFormat},
		{"empty time", func(i *rawInfo) { i.Time.Bytes = nil }, 0, nil, ErrFormat},
		{"digest of another length", func(i *rawInfo) { i.Imprint.Sum = make([]byte, 20) }, 0, nil, ErrFormat},
		{"unknown hash", func(i *rawInfo) { i.Imprint = newRawImprint(oidMD5, 16) }, 0, nil, ades.ErrAlgorithm},
		{"field after the last", func(i *rawInfo) { i.Extensions = asn1.RawValue{Tag: asn1.TagNull} }, 0, nil, ErrFormat},
	} {
		info := rawInfo{Version: 1, Policy: policy, SerialNumber: big.NewInt(1), Imprint: newRawImprint(oidSHA256, 32),
			Time: asn1.RawValue{Tag: asn1.TagGeneralizedTime, Bytes: []byte("20260101000000.5Z")}}
		test.change(&info)
		der, err := asn1.Marshal(info)
		testenv.NoError(t, err)
		var got Token
		if err := got.parseInfo(der); !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, err, test.want)
		}
		at := time.Date(2026, 1, 1, 0, 0, 0, 500_000_000, time.UTC)
		if test.want == nil && (got.Accuracy != test.accuracy || !cmp.Equal(got.Nonce, test.nonce, compareBig) || !got.Time.Equal(at)) {
			t.Errorf("%s: got %+v", test.name, got)
		}
		if err := new(Token).parseInfo(append(der, 0)); !errors.Is(err, ErrFormat) {
			t.Errorf("%s, and a byte after it: got %v, want ErrFormat", test.name, err)
		}
	}
}
