// Package ades is the vocabulary that the signature formats share: levels,
// algorithms, the signer, the digest that is signed elsewhere, certificate
// chains and the report of a validation. It knows neither PDF nor XML.
//
// The terms are those of ETSI EN 319 102-1 (validation), EN 319 122-1, 319 132-1
// and 319 142-1 (CAdES, XAdES, PAdES baseline levels).
package ades

import (
	"errors"
	"fmt"
	"strings"
)

// Errors about documents, of the packages of both formats.
var (
	// ErrUnreadable: the document is not a file of the format, or exceeds a bound.
	ErrUnreadable = errors.New("ades: document cannot be read")
	// ErrForbidden: the document does not allow such a signature, or not in that place: a signature that it has forbids it
	// or would break.
	ErrForbidden = errors.New("ades: document does not allow such a signature")
	// ErrBroken: a signature that the document has is wrong by what the document itself shows, so that another one, or
	// validation data for it, would seem to confirm it.
	ErrBroken = errors.New("ades: signature of the document is broken")
	// ErrUnsigned: the document has no signature to extend.
	ErrUnsigned = errors.New("ades: document has no signature")
)

// Level is a baseline signature level (EN 319 142-1 clause 6, EN 319 132-1
// clause 6). The zero value is B. The numbers are stored, and stay what they are.
type Level int

const (
	B   Level = iota // a signature
	T                // and a timestamp over it
	LT               // and the data to validate both later
	LTA              // and a timestamp over all of that
)

var levelNames = [...]string{B: "B", T: "T", LT: "LT", LTA: "LTA"}

// String returns the level as it stands in format names: "B", "T", "LT", "LTA".
func (l Level) String() string {
	if l < B || l > LTA {
		return fmt.Sprintf("Level(%d)", int(l))
	}
	return levelNames[l]
}

// ParseLevel reads a level in any case: "LT", "Lt".
func ParseLevel(s string) (Level, error) {
	for l, name := range levelNames {
		if strings.EqualFold(s, name) {
			return Level(l), nil
		}
	}
	return B, fmt.Errorf("ades: %q is no level (B, T, LT, LTA)", s)
}
