package tsp

import (
	"fmt"
	"math/big"
	"time"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/internal/pki/der"
)

// parseInfo reads a TSTInfo (RFC 3161 2.4.2) into the token.
func (t *Token) parseInfo(content []byte) error {
	input := cryptobyte.String(content)
	var info, imprint cryptobyte.String
	var version int
	t.SerialNumber = new(big.Int)
	if !input.ReadASN1(&info, cbasn1.SEQUENCE) || !input.Empty() ||
		!info.ReadASN1Integer(&version) || version != 1 ||
		!info.ReadASN1ObjectIdentifier(&t.Policy) ||
		!info.ReadASN1(&imprint, cbasn1.SEQUENCE) ||
		!info.ReadASN1Integer(t.SerialNumber) {
		return fmt.Errorf("%w: not a TSTInfo of version 1", ErrFormat)
	}
	var err error
	if t.Hash, t.Sum, err = parseImprint(imprint); err != nil {
		return err
	}
	if t.Time, err = readTime(&info, cbasn1.GeneralizedTime); err != nil {
		return err
	}
	if err := t.parseOptionalFields(&info); err != nil {
		return err
	}
	return parseExtensions(&info)
}

// parseOptionalFields reads the fields between genTime and the extensions.
func (t *Token) parseOptionalFields(info *cryptobyte.String) error {
	var err error
	if t.Accuracy, err = readAccuracy(info); err != nil {
		return err
	}
	if info.PeekASN1Tag(cbasn1.BOOLEAN) && !info.ReadASN1Boolean(new(bool)) {
		return fmt.Errorf("%w: ordering in the TSTInfo is not a BOOLEAN", ErrFormat)
	}
	if info.PeekASN1Tag(cbasn1.INTEGER) {
		t.Nonce = new(big.Int)
		if !info.ReadASN1Integer(t.Nonce) {
			return fmt.Errorf("%w: nonce in the TSTInfo is not an INTEGER", ErrFormat)
		}
	}
	var present bool
	if !info.ReadOptionalASN1((*cryptobyte.String)(&t.tsa), &present, tagContext0) {
		return fmt.Errorf("%w: tsa in the TSTInfo is malformed", ErrFormat)
	}
	return nil
}

// parseExtensions refuses critical extensions, because none is known here.
func parseExtensions(info *cryptobyte.String) error {
	if info.Empty() {
		return nil
	}
	var element cryptobyte.String
	if !info.ReadASN1(&element, tagContext1) || !info.Empty() {
		return fmt.Errorf("%w: the TSTInfo has unknown fields after its extensions", ErrFormat)
	}
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) { b.AddBytes(element) }) // [1] IMPLICIT Extensions
	sequence := cryptobyte.String(b.BytesOrPanic())
	extensions, err := der.ReadExtensions(&sequence)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	for _, e := range extensions {
		if e.Critical {
			return fmt.Errorf("%w: the TSTInfo has the unknown critical extension %v", ErrFormat, e.ID)
		}
	}
	return nil
}

// readAccuracy reads an optional Accuracy. It returns zero if absent.
func readAccuracy(info *cryptobyte.String) (time.Duration, error) {
	var sequence cryptobyte.String
	var present bool
	if !info.ReadOptionalASN1(&sequence, &present, cbasn1.SEQUENCE) {
		return 0, fmt.Errorf("%w: accuracy in the TSTInfo is malformed or out of range", ErrFormat)
	}
	var accuracy time.Duration
	for _, part := range []struct {
		tag  cbasn1.Tag
		unit time.Duration
		max  int64
	}{
		{cbasn1.INTEGER, time.Second, 1 << 31},
		{tagMillis, time.Millisecond, 999},
		{tagMicros, time.Microsecond, 999},
	} {
		if !sequence.PeekASN1Tag(part.tag) {
			continue
		}
		var n int64
		if !sequence.ReadASN1Int64WithTag(&n, part.tag) || n < 0 || n > part.max {
			return 0, fmt.Errorf("%w: accuracy in the TSTInfo is malformed or out of range", ErrFormat)
		}
		accuracy += time.Duration(n) * part.unit
	}
	if !sequence.Empty() {
		return 0, fmt.Errorf("%w: accuracy in the TSTInfo is malformed or out of range", ErrFormat)
	}
	return accuracy, nil
}

// addInfo writes the TSTInfo of a token of a [Unit]: all fields but the optional ordering and
// extensions.
func (t *Token) addInfo(b *cryptobyte.Builder) error {
	imprint, err := marshalImprint(t.Hash, t.Sum)
	if err != nil {
		return err
	}
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1Int64(1)
		b.AddASN1ObjectIdentifier(t.Policy)
		b.AddBytes(imprint)
		b.AddASN1BigInt(t.SerialNumber)
		b.AddASN1GeneralizedTime(t.Time)
		b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) { b.AddASN1Int64(int64(t.Accuracy / time.Second)) })
		if t.Nonce != nil {
			b.AddASN1BigInt(t.Nonce)
		}
		b.AddASN1(tagContext0, func(b *cryptobyte.Builder) { b.AddBytes(t.tsa) })
	})
	return nil
}
