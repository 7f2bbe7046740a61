// Package ades is the vocabulary that the signature formats share: levels,
// algorithms, the signer, the digest that is signed elsewhere, certificate
// chains and the report of a validation. It knows neither PDF nor XML.
//
// The terms are those of ETSI EN 319 102-1 (validation), EN 319 122-1, 319 132-1
// and 319 142-1 (CAdES, XAdES, PAdES baseline levels).
package ades

import (
	"fmt"
	"strings"
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
