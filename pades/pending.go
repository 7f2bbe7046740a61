package pades

import (
	"context"
	"crypto"
	"crypto/x509"
	"encoding/json"
	"fmt"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/cms"
)

// Pending is a signature that lacks only its value. It does not refer to the
// document and can be stored.
type Pending struct {
	signer    ades.Signer
	base      int64  // length of the document
	baseSum   []byte // its digest
	baseState []byte // and the state of the hash after it

	before, after []byte // the revision around the string of /Contents
	reserved      int    // bytes of /Contents
	attributes    []byte // the signed attributes
	level         ades.Level

	usageRights bool
}

// Digest is what has to be signed.
func (p *Pending) Digest() ades.Digest {
	return p.signer.Algorithm.Digest(p.attributes)
}

// Signer is who the signature was prepared for.
func (p *Pending) Signer() ades.Signer { return p.signer }

// Base is the length of the document that the signature was prepared for, and
// its digest by the hash of Digest.
func (p *Pending) Base() (size int64, sum []byte) { return p.base, p.baseSum }

// UsageRights says whether the document was enabled for features of Adobe Reader
// (ISO 32000-2 12.8.2.3). Any change that its author did not foresee ends that, and Acrobat
// says so when it opens the file. The signature is not affected.
func (p *Pending) UsageRights() bool { return p.usageRights }

// Level is the level that the signature was prepared for.
func (p *Pending) Level() ades.Level { return p.level }

// Complete checks the signature value against the signer's certificate and
// returns the revision to append to the document. [ades.ErrValue] when the value
// does not belong to it. ECDSA values are DER.
//
// Prepared for level T or above, the signature gets its timestamp from t, which is nil
// for level B alone, and what Complete returns has level T: [Extend] adds the rest.
// [ades.ErrTimestamp] when there is none; the value stays good, and Complete may be
// called again.
func (p *Pending) Complete(ctx context.Context, value []byte, t ades.Timestamper) (Revision, error) {
	if err := ctx.Err(); err != nil {
		return Revision{}, err
	}
	a := p.signer.Algorithm
	if err := a.Verify(p.signer.Certificate.PublicKey, p.Digest().Sum, value); err != nil {
		return Revision{}, err
	}
	token, err := p.timestamp(ctx, value, t)
	if err != nil {
		return Revision{}, err
	}
	der, err := cms.Marshal(cms.Parts{
		Certificate:        p.signer.Certificate,
		Chain:              p.signer.Chain,
		Algorithm:          a,
		SignedAttributes:   p.attributes,
		Value:              value,
		SignatureTimestamp: token,
	})
	if err != nil {
		return Revision{}, err
	}
	if len(der) > p.reserved {
		return Revision{}, fmt.Errorf("pades: signature of %d bytes, %d of them a timestamp, for a place of %d", len(der), len(token), p.reserved)
	}
	return p.revision(der)
}

// timestamp gets the token over the value that level T asks for (EN 319 142-1 6.3).
func (p *Pending) timestamp(ctx context.Context, value []byte, t ades.Timestamper) ([]byte, error) {
	if p.level == ades.B {
		return nil, nil
	}
	if t == nil {
		return nil, fmt.Errorf("pades: %w: level %v without a timestamp authority", ades.ErrTimestamp, p.level)
	}
	h := p.signer.Algorithm.Hash
	sum := h.New()
	sum.Write(value)
	token, err := timestampOver(ctx, t, h, sum.Sum(nil))
	if err != nil {
		return nil, err
	}
	if c := p.signer.Certificate; token.Time.After(c.NotAfter) {
		return nil, fmt.Errorf("pades: %w: the signer's certificate expired at %v, before the timestamp of %v", ades.ErrOutsideValidity, c.NotAfter, token.Time)
	}
	return token.Raw, nil
}

// revision puts the CMS into its place.
func (p *Pending) revision(der []byte) (Revision, error) {
	l := layout{before: p.before, after: p.after, reserved: p.reserved}
	sum, err := restore(p.signer.Algorithm.Hash, p.baseState)
	if err != nil {
		return Revision{}, err
	}
	return newRevision(p.base, l.filled(der), p.signer.Algorithm.Hash, sum)
}

// encodedPending is the encoding of a Pending. Later versions of this package go
// on reading it.
type encodedPending struct {
	Version     int      `json:"version"`
	Hash        string   `json:"hash"`
	Scheme      int      `json:"scheme"`
	Certificate []byte   `json:"certificate"` // DER
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
		Certificate: p.signer.Certificate.Raw,
		Base:        p.base, BaseSum: p.baseSum, BaseState: p.baseState,
		Before: p.before, After: p.after, Reserved: p.reserved, Attributes: p.attributes,
		UsageRights: p.usageRights, Level: int(p.level),
	}
	for _, c := range p.signer.Chain {
		e.Chain = append(e.Chain, c.Raw)
	}
	return json.Marshal(e)
}

// UnmarshalBinary decodes what MarshalBinary of this or an earlier version made.
func (p *Pending) UnmarshalBinary(b []byte) error {
	var e encodedPending
	if err := json.Unmarshal(b, &e); err != nil {
		return fmt.Errorf("pades: decoding a pending signature: %w", err)
	}
	if e.Version != pendingVersion {
		return fmt.Errorf("pades: pending signature of version %d is not known", e.Version)
	}
	signer := ades.Signer{Algorithm: ades.Algorithm{Scheme: ades.Scheme(e.Scheme)}}
	for h, name := range hashNames {
		if name == e.Hash {
			signer.Algorithm.Hash = h
		}
	}
	var err error
	if signer.Certificate, err = x509.ParseCertificate(e.Certificate); err != nil {
		return fmt.Errorf("pades: decoding a pending signature: %w", err)
	}
	for _, raw := range e.Chain {
		c, err := x509.ParseCertificate(raw)
		if err != nil {
			return fmt.Errorf("pades: decoding a pending signature: %w", err)
		}
		signer.Chain = append(signer.Chain, c)
	}
	if signer, err = signer.Resolve(); err != nil {
		return fmt.Errorf("pades: decoding a pending signature: %w", err)
	}
	level := ades.Level(e.Level)
	if err := checkLevel(level); err != nil {
		return fmt.Errorf("pades: decoding a pending signature: %w", err)
	}
	*p = Pending{signer, e.Base, e.BaseSum, e.BaseState, e.Before, e.After, e.Reserved, e.Attributes, level, e.UsageRights}
	return nil
}
