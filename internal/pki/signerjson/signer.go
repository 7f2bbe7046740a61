// Package signerjson has the JSON form of the signer in a prepared signature that waits for its
// signature value. Both PAdES and XAdES store it. Stored signatures must stay readable, so the
// names and numbers in it never change.
package signerjson

import (
	"crypto"
	"crypto/x509"

	"github.com/innsigli/innsigli/ades"
)

// A Signer is an [ades.SignerIdentity] in JSON. The prepared signature of each format embeds it.
type Signer struct {
	Hash        string   `json:"hash"`
	Scheme      int      `json:"scheme"`
	Certificate []byte   `json:"certificate,omitempty"` // DER; absent while the signer is unknown
	Chain       [][]byte `json:"chain,omitempty"`
}

var hashNames = map[crypto.Hash]string{crypto.SHA256: "SHA-256", crypto.SHA384: "SHA-384", crypto.SHA512: "SHA-512"}

// KnowsHash reports whether a signer with the hash h can be stored.
func KnowsHash(h crypto.Hash) bool { return hashNames[h] != "" }

// Encode returns the JSON form of a signer whose algorithm is set.
func Encode(s ades.SignerIdentity) Signer {
	e := Signer{Hash: hashNames[s.Algorithm.Hash], Scheme: int(s.Algorithm.Scheme)}
	if s.Certificate != nil {
		e.Certificate = s.Certificate.Raw
	}
	for _, c := range s.Chain {
		e.Chain = append(e.Chain, c.Raw)
	}
	return e
}

// Algorithm returns the algorithm of the signer. Its hash is zero if the stored name is unknown.
func (e Signer) Algorithm() ades.Algorithm {
	a := ades.Algorithm{Scheme: ades.Scheme(e.Scheme)}
	for h, name := range hashNames {
		if name == e.Hash {
			a.Hash = h
		}
	}
	return a
}

// Decode returns the signer. The error is from a certificate that Go cannot parse or from
// [ades.SignerIdentity.Resolve].
func (e Signer) Decode() (s ades.SignerIdentity, err error) {
	s.Algorithm = e.Algorithm()
	if s.Certificate, err = x509.ParseCertificate(e.Certificate); err != nil {
		return s, err
	}
	for _, raw := range e.Chain {
		c, err := x509.ParseCertificate(raw)
		if err != nil {
			return s, err
		}
		s.Chain = append(s.Chain, c)
	}
	return s.Resolve()
}
