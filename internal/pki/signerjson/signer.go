// Package signerjson has the form in which both formats keep the signer of a signature that waits for its
// value. What is stored once is read for good: names and numbers stay what they are.
package signerjson

import (
	"crypto"
	"crypto/x509"

	"github.com/innsigli/innsigli/ades"
)

// Signer is an [ades.Signer] in JSON, to be embedded where the rest of the signature is.
type Signer struct {
	Hash        string   `json:"hash"`
	Scheme      int      `json:"scheme"`
	Certificate []byte   `json:"certificate,omitempty"` // DER; none of a signer who is not known yet
	Chain       [][]byte `json:"chain,omitempty"`
}

var hashNames = map[crypto.Hash]string{crypto.SHA256: "SHA-256", crypto.SHA384: "SHA-384", crypto.SHA512: "SHA-512"}

// KnowsHash says whether signatures by a hash can be stored.
func KnowsHash(h crypto.Hash) bool { return hashNames[h] != "" }

// Encode is the form of a signer whose algorithm is set.
func Encode(s ades.Signer) Signer {
	e := Signer{Hash: hashNames[s.Algorithm.Hash], Scheme: int(s.Algorithm.Scheme)}
	if s.Certificate != nil {
		e.Certificate = s.Certificate.Raw
	}
	for _, c := range s.Chain {
		e.Chain = append(e.Chain, c.Raw)
	}
	return e
}

// Algorithm is that of the signer. Its hash is zero where the stored one is not known.
func (e Signer) Algorithm() ades.Algorithm {
	a := ades.Algorithm{Scheme: ades.Scheme(e.Scheme)}
	for h, name := range hashNames {
		if name == e.Hash {
			a.Hash = h
		}
	}
	return a
}

// Decode is the signer, or why signatures cannot be made with it.
func (e Signer) Decode() (s ades.Signer, err error) {
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
