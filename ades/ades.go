// Package ades holds what the signature formats share: levels, algorithms, the signer's identity,
// the digest that a remote key signs, certificate chains, the sources of timestamps and revocation
// data, and the report of a validation. It depends neither on PDF nor on XML.
//
// The terms are those of ETSI EN 319 102-1 (validation), and of EN 319 122-1, EN 319 132-1 and EN
// 319 142-1 (baseline levels of CAdES, XAdES and PAdES).
package ades

import (
	"errors"
	"fmt"
	"strings"
)

// Errors about documents, which the packages of both formats return.
var (
	// ErrUnreadable: the document is not a file of the format, or exceeds a bound.
	ErrUnreadable = errors.New("ades: document cannot be read")
	// ErrForbidden: the document does not allow such a signature, or not in that place: an existing
	// signature forbids the new one, or the new one would break it.
	ErrForbidden = errors.New("ades: document does not allow such a signature")
	// ErrBroken: the document alone shows that one of its signatures is invalid. A further
	// signature, or validation data for the broken one, would seem to confirm it.
	ErrBroken = errors.New("ades: signature of the document is broken")
	// ErrUnsigned: the document has no signature to extend.
	ErrUnsigned = errors.New("ades: document has no signature")
)

// Level is a baseline signature level (EN 319 142-1 clause 6, EN 319 132-1 clause 6). The zero
// value is B. The numbers are stored and never change.
type Level int

const (
	B   Level = iota // a signature
	T                // B, and a timestamp over the signature
	LT               // T, and the validation data to validate signature and timestamp later
	LTA              // LT, and a timestamp over all of it
)

var levelNames = [...]string{B: "B", T: "T", LT: "LT", LTA: "LTA"}

// String returns the level as format names have it: "B", "T", "LT", "LTA".
func (l Level) String() string {
	if l < B || l > LTA {
		return fmt.Sprintf("Level(%d)", int(l))
	}
	return levelNames[l]
}

// ParseLevel reads a level in upper or lower case: "LT", "Lt".
func ParseLevel(s string) (Level, error) {
	for l, name := range levelNames {
		if strings.EqualFold(s, name) {
			return Level(l), nil
		}
	}
	return B, fmt.Errorf("ades: unknown level %q (B, T, LT, LTA)", s)
}
