package tsp

import (
	"encoding/asn1"
	"errors"
	"math/big"
	"testing"
	"time"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/ades"
)

// RFC 3161 2.4.2, genTime: UTC, with seconds; a fraction is allowed.
func TestGenTime(t *testing.T) {
	at := time.Date(2026, 2, 28, 23, 59, 8, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"20260228235908Z":           at,
		"20260228235908.5Z":         at.Add(500 * time.Millisecond),
		"20260228235908.000000001Z": at.Add(1),
		"20260228235908.500Z":       at.Add(500 * time.Millisecond), // not DER, and seen
		"202602282359Z":             {},
		"20260228235908":            {},
		"20260228235908+0100":       {},
		"20260228235908,5Z":         {},
		"20260228235908.Z":          {},
		"20260229235908Z":           {},
		"260228235908Z":             {},
		"":                          {},
	} {
		var b cryptobyte.Builder
		b.AddASN1(cbasn1.GeneralizedTime, func(b *cryptobyte.Builder) { b.AddBytes([]byte(text)) })
		s := cryptobyte.String(b.BytesOrPanic())
		got, err := readTime(&s, cbasn1.GeneralizedTime)
		if !got.Equal(want) || (err != nil) != want.IsZero() || err != nil && !errors.Is(err, ErrFormat) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

// rawInfo is a TSTInfo in encoding/asn1, which writes what a Unit would not.
type rawInfo struct {
	Version      int
	Policy       asn1.ObjectIdentifier
	Imprint      rawImprint
	SerialNumber *big.Int
	Time         asn1.RawValue
	Accuracy     asn1.RawValue `asn1:"optional"`
	Ordering     bool          `asn1:"optional"`
	Nonce        *big.Int      `asn1:"optional"`
	Name         asn1.RawValue `asn1:"optional"`
	Extensions   asn1.RawValue `asn1:"optional"`
}

type rawImprint struct {
	Algorithm struct{ OID asn1.ObjectIdentifier }
	Sum       []byte
}

func newRawInfo() rawInfo {
	i := rawInfo{Version: 1, Policy: asn1.ObjectIdentifier{2, 999, 1}, SerialNumber: big.NewInt(1),
		Imprint: rawImprint{Sum: make([]byte, 32)},
		Time:    asn1.RawValue{Tag: asn1.TagGeneralizedTime, Bytes: []byte("20260101000000Z")}}
	i.Imprint.Algorithm.OID = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 1}
	return i
}

func sequence(contents ...byte) asn1.RawValue {
	return asn1.RawValue{Tag: asn1.TagSequence, IsCompound: true, Bytes: contents}
}

// extensions holds one with the OID 2.5 and the octets between it and its value.
func extensions(critical ...byte) asn1.RawValue {
	body := append(append([]byte{6, 1, 0x55}, critical...), 4, 0)
	return asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: 1, IsCompound: true, Bytes: append([]byte{0x30, byte(len(body))}, body...)}
}

// RFC 3161 2.4.2, TSTInfo
func TestInfo(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*rawInfo)
		want   Token // the optional fields
		err    error
	}{
		{"the least", func(*rawInfo) {}, Token{}, nil},
		{"ordering and nonce", func(i *rawInfo) { i.Ordering, i.Nonce = true, big.NewInt(7) }, Token{Nonce: big.NewInt(7)}, nil},
		{"accuracy of a second", func(i *rawInfo) { i.Accuracy = sequence(2, 1, 1) }, Token{Accuracy: time.Second}, nil},
		{"of milliseconds", func(i *rawInfo) { i.Accuracy = sequence(0x80, 2, 1, 0xf4) }, Token{Accuracy: 500 * time.Millisecond}, nil},
		{"of microseconds", func(i *rawInfo) { i.Accuracy = sequence(0x81, 1, 1) }, Token{Accuracy: time.Microsecond}, nil},
		{"of nothing", func(i *rawInfo) { i.Accuracy = sequence() }, Token{}, nil},
		{"of less than nothing", func(i *rawInfo) { i.Accuracy = sequence(2, 1, 0xff) }, Token{}, ErrFormat},
		{"of 1000 milliseconds", func(i *rawInfo) { i.Accuracy = sequence(0x80, 2, 3, 0xe8) }, Token{}, ErrFormat},
		{"of centuries", func(i *rawInfo) { i.Accuracy = sequence(2, 8, 0x7f, 0, 0, 0, 0, 0, 0, 0) }, Token{}, ErrFormat},
		{"of something else", func(i *rawInfo) { i.Accuracy = sequence(5, 0) }, Token{}, ErrFormat},
		{"an extension", func(i *rawInfo) { i.Extensions = extensions() }, Token{}, nil},
		{"one that says it is not critical", func(i *rawInfo) { i.Extensions = extensions(1, 1, 0) }, Token{}, nil},
		{"a critical one", func(i *rawInfo) { i.Extensions = extensions(1, 1, 0xff) }, Token{}, ErrFormat},
		{"version 2", func(i *rawInfo) { i.Version = 2 }, Token{}, ErrFormat},
		{"no time", func(i *rawInfo) { i.Time.Bytes = nil }, Token{}, ErrFormat},
		{"sum of another length", func(i *rawInfo) { i.Imprint.Sum = make([]byte, 20) }, Token{}, ErrFormat},
		{"MD5", func(i *rawInfo) { i.Imprint.Algorithm.OID = asn1.ObjectIdentifier{1, 2, 840, 113549, 2, 5} }, Token{}, ades.ErrAlgorithm},
		{"a field too many", func(i *rawInfo) { i.Extensions = asn1.RawValue{Tag: asn1.TagNull} }, Token{}, ErrFormat},
	} {
		t.Run(tt.name, func(t *testing.T) {
			info := newRawInfo()
			tt.change(&info)
			der, err := asn1.Marshal(info)
			if err != nil {
				t.Fatal(err)
			}
			var got Token
			if err := got.parseInfo(der); !errors.Is(err, tt.err) {
				t.Fatalf("got %v, want %v", err, tt.err)
			}
			if tt.err != nil {
				return
			}
			if got.Accuracy != tt.want.Accuracy || (got.Nonce == nil) != (tt.want.Nonce == nil) {
				t.Errorf("%+v", got)
			}
			if err := new(Token).parseInfo(append(der, 0)); !errors.Is(err, ErrFormat) {
				t.Errorf("a byte after it: %v", err)
			}
		})
	}
}

// RFC 3161 2.4.2, tsa: one of the names of the certificate, in whatever kind of string.
func TestNames(t *testing.T) {
	name := func(tag cbasn1.Tag, cn string) []byte {
		var b cryptobyte.Builder
		b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
			b.AddASN1(cbasn1.SET, func(b *cryptobyte.Builder) {
				b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
					b.AddASN1ObjectIdentifier(asn1.ObjectIdentifier{2, 5, 4, 3})
					b.AddASN1(tag, func(b *cryptobyte.Builder) { b.AddBytes([]byte(cn)) })
				})
			})
		})
		return directoryName(b.BytesOrPanic())
	}
	own := name(cbasn1.UTF8String, "TSA")
	for _, tt := range []struct {
		name string
		of   []byte
		want bool
	}{
		{"itself", own, true},
		{"as a PrintableString", name(cbasn1.PrintableString, "TSA"), true},
		{"another", name(cbasn1.UTF8String, "TSB"), false},
		{"a host", []byte{0x82, 3, 'T', 'S', 'A'}, false},
		{"a broken one", own[:len(own)-1], false},
		{"an empty directory name", []byte{0xa4, 0}, false},
	} {
		if got := equalGeneralNames(tt.of, own); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
