package pades

import (
	"encoding/json"
	"fmt"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/signerjson"
)

// encodedPending is the encoding of a Pending. Later versions of this package go
// on reading it.
type encodedPending struct {
	Version int `json:"version"`
	signerjson.Signer
	Base        int64  `json:"base"`
	BaseSum     []byte `json:"baseSum"`
	BaseState   []byte `json:"baseState"`
	Before      []byte `json:"before"`
	After       []byte `json:"after"`
	Reserved    int    `json:"reserved"`
	Attributes  []byte `json:"attributes"`
	UsageRights bool   `json:"usageRights,omitempty"`
	Level       int    `json:"level,omitempty"`
}

const pendingVersion = 1

// MarshalBinary encodes the signature so far.
func (p *Pending) MarshalBinary() ([]byte, error) {
	return json.Marshal(encodedPending{
		Version: pendingVersion, Signer: signerjson.Encode(p.signer),
		Base: p.base, BaseSum: p.baseSum, BaseState: p.baseState,
		Before: p.before, After: p.after, Reserved: p.reserved, Attributes: p.attributes,
		UsageRights: p.usageRights, Level: int(p.level),
	})
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

// signer is who was known when the signature was prepared: by [PrepareCMS] nobody.
func (e encodedPending) signer() (ades.Signer, error) {
	if a := e.Algorithm(); e.Certificate == nil && a.Scheme == 0 && a.Hash != 0 {
		return ades.Signer{Algorithm: a}, nil
	}
	return e.Decode()
}
