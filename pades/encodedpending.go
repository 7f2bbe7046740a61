package pades

import (
	"crypto"
	"crypto/x509"
	"encoding/json"
	"fmt"

	"github.com/innsigli/innsigli/ades"
)

// encodedPending is the encoding of a Pending. Later versions of this package go
// on reading it.
type encodedPending struct {
	Version     int      `json:"version"`
	Hash        string   `json:"hash"`
	Scheme      int      `json:"scheme"`
	Certificate []byte   `json:"certificate,omitempty"` // DER; by PrepareCMS none
	Chain       [][]byte `json:"chain,omitempty"`
	Base        int64    `json:"base"`
	BaseSum     []byte   `json:"baseSum"`
	BaseState   []byte   `json:"baseState"`
	Before      []byte   `json:"before"`
	After       []byte   `json:"after"`
	Reserved    int      `json:"reserved"`
	Attributes  []byte   `json:"attributes"`
	UsageRights bool     `json:"usageRights,omitempty"`
	Level       int      `json:"level,omitempty"`
}

const pendingVersion = 1

var hashNames = map[crypto.Hash]string{crypto.SHA256: "SHA-256", crypto.SHA384: "SHA-384", crypto.SHA512: "SHA-512"}

// MarshalBinary encodes the signature so far.
func (p *Pending) MarshalBinary() ([]byte, error) {
	e := encodedPending{
		Version: pendingVersion, Hash: hashNames[p.signer.Algorithm.Hash], Scheme: int(p.signer.Algorithm.Scheme),
		Base: p.base, BaseSum: p.baseSum, BaseState: p.baseState,
		Before: p.before, After: p.after, Reserved: p.reserved, Attributes: p.attributes,
		UsageRights: p.usageRights, Level: int(p.level),
	}
	if !p.anonymous() {
		e.Certificate, e.Chain = p.signer.Certificate.Raw, encodings(p.signer.Chain)
	}
	return json.Marshal(e)
}

// UnmarshalBinary decodes what MarshalBinary of this or an earlier version made.
func (p *Pending) UnmarshalBinary(b []byte) error {
	decoded, err := decodePending(b)
	if err != nil {
		return fmt.Errorf("pades: decoding a pending signature: %w", err)
	}
	*p = decoded
	return nil
}

func decodePending(b []byte) (Pending, error) {
	var e encodedPending
	if err := json.Unmarshal(b, &e); err != nil {
		return Pending{}, err
	}
	if e.Version != pendingVersion {
		return Pending{}, fmt.Errorf("version %d is not known", e.Version)
	}
	signer, err := e.signer()
	if err != nil {
		return Pending{}, err
	}
	level := ades.Level(e.Level)
	if err := checkLevel(level); err != nil {
		return Pending{}, err
	}
	return Pending{signer, e.Base, e.BaseSum, e.BaseState, e.Before, e.After, e.Reserved, e.Attributes, level, e.UsageRights}, nil
}

func (e encodedPending) signer() (ades.Signer, error) {
	signer := ades.Signer{Algorithm: ades.Algorithm{Scheme: ades.Scheme(e.Scheme)}}
	for h, name := range hashNames {
		if name == e.Hash {
			signer.Algorithm.Hash = h
		}
	}
	if e.Certificate == nil && e.Scheme == 0 && signer.Algorithm.Hash != 0 {
		return signer, nil
	}
	var err error
	if signer.Certificate, err = x509.ParseCertificate(e.Certificate); err != nil {
		return signer, err
	}
	for _, raw := range e.Chain {
		c, err := x509.ParseCertificate(raw)
		if err != nil {
			return signer, err
		}
		signer.Chain = append(signer.Chain, c)
	}
	return signer.Resolve()
}
