package ocsp

import (
	"encoding/asn1"
	"fmt"
	"slices"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/internal/pki/der"
)

// readExplicitExtensions reads optional extensions behind an explicit tag and
// refuses a critical one that is not among those known (RFC 6960 4.4).
func readExplicitExtensions(s *cryptobyte.String, tag cbasn1.Tag, known ...asn1.ObjectIdentifier) ([]der.Extension, error) {
	var explicit cryptobyte.String
	var present bool
	if !s.ReadOptionalASN1(&explicit, &present, tag) {
		return nil, fmt.Errorf("%w: extensions", ErrFormat)
	}
	if !present {
		return nil, nil
	}
	all, err := der.ReadExtensions(&explicit)
	if err != nil || !explicit.Empty() {
		return nil, fmt.Errorf("%w: extensions", ErrFormat)
	}
	for _, e := range all {
		if e.Critical && !slices.ContainsFunc(known, e.ID.Equal) {
			return nil, fmt.Errorf("%w: critical extension %v", ErrFormat, e.ID)
		}
	}
	return all, nil
}

// valueOf returns what the extension contains, if it is there.
func valueOf(extensions []der.Extension, id asn1.ObjectIdentifier) (cryptobyte.String, bool) {
	for _, e := range extensions {
		if e.ID.Equal(id) {
			return e.Value, true
		}
	}
	return nil, false
}

// nonceOf returns the nonce, nil when there is none. It is an OCTET STRING in the
// extension (RFC 9654 2.1); RFC 2560 did not say so, and old messages have the bare
// bytes there.
func nonceOf(extensions []der.Extension) ([]byte, error) {
	value, ok := valueOf(extensions, oidNonce)
	if !ok {
		return nil, nil
	}
	var nonce cryptobyte.String
	if inner := value; !inner.ReadASN1(&nonce, cbasn1.OCTET_STRING) || !inner.Empty() {
		nonce = value
	}
	if len(nonce) == 0 || len(nonce) > MaxNonce {
		return nil, fmt.Errorf("%w: nonce of %d bytes", ErrFormat, len(nonce))
	}
	return nonce, nil
}

// appendNonce writes extensions of which the nonce is the only one; none without a
// nonce.
func appendNonce(b *cryptobyte.Builder, tag cbasn1.Tag, nonce []byte) {
	if nonce == nil {
		return
	}
	if len(nonce) == 0 || len(nonce) > MaxNonce {
		b.SetError(fmt.Errorf("ocsp: nonce of %d bytes", len(nonce)))
		return
	}
	var value cryptobyte.Builder
	value.AddASN1OctetString(nonce)
	appendExtension(b, tag, oidNonce, value.BytesOrPanic()) // at most 131 bytes
}

// appendExtension writes extensions of which there is one, behind an explicit tag.
func appendExtension(b *cryptobyte.Builder, tag cbasn1.Tag, id asn1.ObjectIdentifier, value []byte) {
	b.AddASN1(tag, func(b *cryptobyte.Builder) {
		b.AddASN1(cbasn1.SEQUENCE, der.Extension{ID: id, Value: value}.Append)
	})
}
