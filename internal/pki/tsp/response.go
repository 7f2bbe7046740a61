package tsp

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/internal/pki/cms"
)

// A StatusError is a refusal: the PKIStatusInfo of a response without a token. Authorities write
// it, clients read it.
type StatusError struct {
	Status  int // PKIStatus
	Failure Failure
	Text    string // for humans; may be empty
}

// A Failure is the reason of a refusal: the number of a bit of PKIFailureInfo (RFC 3161 2.4.2).
type Failure int

// Values of PKIStatus (RFC 3161 2.4.2). Only responses with Granted and GrantedWithMods have a
// token. Values 4 and 5, without names here, announce a revocation.
const (
	Granted         = 0
	GrantedWithMods = 1
	Rejection       = 2
	Waiting         = 3
)

const (
	NoFailure           Failure = -1 // the authority gives no reason
	BadAlg              Failure = 0
	BadRequest          Failure = 2
	BadDataFormat       Failure = 5
	TimeNotAvailable    Failure = 14
	UnacceptedPolicy    Failure = 15
	UnacceptedExtension Failure = 16
	AddInfoNotAvailable Failure = 17
	SystemFailure       Failure = 25
)

var failureNames = map[Failure]string{
	BadAlg: "badAlg", BadRequest: "badRequest", BadDataFormat: "badDataFormat",
	TimeNotAvailable: "timeNotAvailable", UnacceptedPolicy: "unacceptedPolicy",
	UnacceptedExtension: "unacceptedExtension", AddInfoNotAvailable: "addInfoNotAvailable",
	SystemFailure: "systemFailure",
}

// String returns the name that RFC 3161 gives the failure.
func (f Failure) String() string {
	if name, ok := failureNames[f]; ok {
		return name
	}
	return fmt.Sprintf("failure %d", int(f))
}

func (e *StatusError) Error() string {
	text := fmt.Sprintf("tsp: request refused with status %d", e.Status)
	if e.Failure != NoFailure {
		text += ", " + e.Failure.String()
	}
	if e.Text != "" {
		text += fmt.Sprintf(": %q", e.Text)
	}
	return text
}

// Temporary reports whether the same request may succeed later.
func (e *StatusError) Temporary() bool {
	return e.Status == Waiting || e.Failure == TimeNotAvailable || e.Failure == SystemFailure
}

func refuse(f Failure, text string) *StatusError { return &StatusError{Rejection, f, text} }

// ParseResponse returns the token of a TimeStampResp in DER (RFC 3161 2.4.2), not parsed. It
// accepts BER. The error is a [StatusError] if the authority refuses the request, and [ErrFormat]
// if the bytes are not a response.
func ParseResponse(response []byte) (token []byte, err error) {
	if len(response) > maxSize {
		return nil, fmt.Errorf("%w: the response has %d bytes, which are too many", ErrFormat, len(response))
	}
	der, rest, err := cms.DER(response)
	if err != nil || len(rest) > 0 {
		return nil, fmt.Errorf("%w: it is not a TimeStampResp", ErrFormat)
	}
	input := cryptobyte.String(der)
	var sequence cryptobyte.String
	if !input.ReadASN1(&sequence, cbasn1.SEQUENCE) {
		return nil, fmt.Errorf("%w: it is not a TimeStampResp", ErrFormat)
	}
	status, err := readStatus(&sequence)
	if err != nil {
		return nil, err
	}
	if status.Status != Granted && status.Status != GrantedWithMods {
		return nil, status
	}
	if !sequence.ReadASN1Element((*cryptobyte.String)(&token), cbasn1.SEQUENCE) || !sequence.Empty() {
		return nil, fmt.Errorf("%w: the TimeStampResp grants the request and has no token", ErrFormat)
	}
	return token, nil
}

// marshalResponse returns the TimeStampResp with a token, or with a refusal if err is not nil. An
// error that is not a [StatusError] is a failure of the authority, and its text is not sent.
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

// maxText bounds the stored text of a refusal in bytes.
const maxText = 1000

// readStatus reads a PKIStatusInfo.
func readStatus(s *cryptobyte.String) (*StatusError, error) {
	e := &StatusError{Failure: NoFailure}
	var info, texts, failure cryptobyte.String
	var hasText, hasFailure bool
	if !s.ReadASN1(&info, cbasn1.SEQUENCE) || !info.ReadASN1Integer(&e.Status) ||
		!info.ReadOptionalASN1(&texts, &hasText, cbasn1.SEQUENCE) ||
		!info.ReadOptionalASN1(&failure, &hasFailure, cbasn1.BIT_STRING) || !info.Empty() {
		return nil, fmt.Errorf("%w: the PKIStatusInfo is malformed", ErrFormat)
	}
	var text cryptobyte.String
	for len(e.Text) < maxText && texts.ReadASN1(&text, cbasn1.UTF8String) {
		e.Text = strings.TrimSpace(e.Text + " " + strings.ToValidUTF8(string(text[:min(len(text), maxText)]), ""))
	}
	if hasFailure {
		e.Failure = firstBit(failure)
	}
	return e, nil
}

// firstBit returns the number of the first bit that is set in the contents of a BIT STRING. A
// refusal has one reason.
func firstBit(contents []byte) Failure {
	for i, octet := range contents[min(1, len(contents)):] { // after the number of unused bits
		for bit := range 8 {
			if octet&(0x80>>bit) != 0 {
				return Failure(8*i + bit)
			}
		}
	}
	return NoFailure
}

// add writes the PKIStatusInfo.
func (e *StatusError) add(b *cryptobyte.Builder) {
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1Int64(int64(e.Status))
		if e.Text != "" && utf8.ValidString(e.Text) {
			b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
				b.AddASN1(cbasn1.UTF8String, func(b *cryptobyte.Builder) { b.AddBytes([]byte(e.Text)) })
			})
		}
		if e.Failure >= 0 {
			b.AddASN1(cbasn1.BIT_STRING, func(b *cryptobyte.Builder) {
				octets := make([]byte, 2+e.Failure/8) // a named bit list ends with its last bit, X.690 11.2.2
				octets[0] = byte(7 - e.Failure%8)
				octets[len(octets)-1] = 0x80 >> (e.Failure % 8)
				b.AddBytes(octets)
			})
		}
	})
}
