package tsp

import (
	"errors"
	"fmt"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/internal/pki/cms"
)

// ParseResponse returns the token of a TimeStampResp (RFC 3161 2.4.2) in DER, not
// looked into; a [StatusError] when the request was refused, [ErrFormat] when it is
// no response. BER is accepted.
func ParseResponse(response []byte) (token []byte, err error) {
	if len(response) > maxSize {
		return nil, fmt.Errorf("%w: response of %d bytes", ErrFormat, len(response))
	}
	der, rest, err := cms.DER(response)
	if err != nil || len(rest) > 0 {
		return nil, fmt.Errorf("%w: no response", ErrFormat)
	}
	input := cryptobyte.String(der)
	var sequence cryptobyte.String
	if !input.ReadASN1(&sequence, cbasn1.SEQUENCE) {
		return nil, fmt.Errorf("%w: no response", ErrFormat)
	}
	status, err := readStatus(&sequence)
	if err != nil {
		return nil, err
	}
	if status.Status != Granted && status.Status != GrantedWithMods {
		return nil, status
	}
	if !sequence.ReadASN1Element((*cryptobyte.String)(&token), cbasn1.SEQUENCE) || !sequence.Empty() {
		return nil, fmt.Errorf("%w: granted without a token", ErrFormat)
	}
	return token, nil
}

// marshalResponse returns the TimeStampResp around a token, or around the refusal
// when err is not nil. What is no [StatusError] is a failure of the authority, and
// its text is nobody's concern.
func marshalResponse(token []byte, err error) ([]byte, error) {
	status := &StatusError{Status: Granted, Failure: NoFailure}
	if err != nil && !errors.As(err, &status) {
		status = refuse(SystemFailure, "")
	}
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		status.add(b)
		if err == nil {
			b.AddBytes(token)
		}
	})
	return b.Bytes()
}
