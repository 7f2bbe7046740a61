package pades

import (
	"context"
	"crypto"
	"crypto/rand"
	"encoding/json"
	"fmt"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/cms"
	"github.com/innsigli/innsigli/internal/pki/signerjson"
	"github.com/innsigli/innsigli/internal/pki/tsp"
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
	attributes    []byte // the signed attributes; of a signer who is not known, the digest in them
	level         ades.Level

	usageRights bool
}

// Digest is what has to be signed.
func (p *Pending) Digest() ades.Digest {
	if p.externalCMS() {
		return ades.Digest{Algorithm: p.signer.Algorithm, Sum: p.attributes}
	}
	return p.signer.Algorithm.Digest(p.attributes)
}

// Signer is who the signature was prepared for; without a certificate by [PrepareCMS].
func (p *Pending) Signer() ades.Signer { return p.signer }

// SignerOf is who signed, by the value that [Pending.Complete] takes: [Pending.Signer], or
// after [PrepareCMS] whom the CMS names and what certificates it brings. [ades.ErrValue] when
// it is none. Whether the signature is that signer's is for Complete to check.
func (p *Pending) SignerOf(value []byte) (ades.Signer, error) {
	if !p.externalCMS() {
		return p.signer, nil
	}
	signed, err := cms.Parse(value)
	if err != nil {
		return ades.Signer{}, fmt.Errorf("%w: %w", ades.ErrValue, err)
	}
	certificate, err := signed.Signer()
	if err != nil {
		return ades.Signer{}, fmt.Errorf("%w: %w", ades.ErrValue, err)
	}
	return ades.Signer{Certificate: certificate, Chain: signed.Certificates, Algorithm: signed.Algorithm()}, nil
}

// Base is the length of the document that the signature was prepared for, and
// its digest by the hash of Digest.
func (p *Pending) Base() (size int64, sum []byte) { return p.base, p.baseSum }

// UsageRights reports whether the document was enabled for features of Adobe Reader
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
// for level B alone: [Extender.ExtendLast] adds the rest, also the timestamp if the token is
// longer than any that was foreseen, and has no place in the signature. [ades.ErrTimestamp]
// when there is none, and [ades.ErrOutsideValidity] when it is from after the end of the
// signer's certificate; the value stays good, and Complete may be called again.
//
// After [PrepareCMS] the value is the CMS, in DER or BER: [ades.ErrValue] when it is none
// that signs the digest.
func (p *Pending) Complete(ctx context.Context, value []byte, t ades.Timestamper) (Revision, error) {
	if err := ctx.Err(); err != nil {
		return Revision{}, err
	}
	build := p.buildCMS
	if p.externalCMS() {
		build = func(_ context.Context, value []byte, _ ades.Timestamper) ([]byte, error) { return p.checkCMS(value) }
	}
	der, err := build(ctx, value, t)
	if err != nil {
		return Revision{}, err
	}
	if len(der) > p.reserved {
		return Revision{}, fmt.Errorf("pades: signature of %d bytes for a place of %d", len(der), p.reserved)
	}
	return p.revision(der)
}

// Sign signs the digest with a key that is at hand, and completes the signature as
// [Pending.Complete] does.
func (p *Pending) Sign(ctx context.Context, key crypto.Signer, t ades.Timestamper) (Revision, error) {
	digest := p.Digest()
	value, err := key.Sign(rand.Reader, digest.Sum, digest.Algorithm.SignerOpts())
	if err != nil {
		return Revision{}, fmt.Errorf("pades: signing: %w", err)
	}
	return p.Complete(ctx, value, t)
}

// signed makes the CMS of a value that belongs to the signer, with the timestamp that the
// level asks for.
func (p *Pending) buildCMS(ctx context.Context, value []byte, t ades.Timestamper) ([]byte, error) {
	a := p.signer.Algorithm
	if err := a.Verify(p.signer.Certificate.PublicKey, p.Digest().Sum, value); err != nil {
		return nil, err
	}
	token, err := p.signatureTimestamp(ctx, value, t)
	if err != nil {
		return nil, err
	}
	parts := cms.Parts{
		Certificate:        p.signer.Certificate,
		Chain:              p.signer.Chain,
		Algorithm:          a,
		SignedAttributes:   p.attributes,
		Value:              value,
		SignatureTimestamp: token,
	}
	der, err := cms.Marshal(parts)
	if len(der) > p.reserved { // nobody signs again for that
		parts.SignatureTimestamp = nil
		return cms.Marshal(parts)
	}
	return der, err
}

// foreign checks a CMS that was made elsewhere, and returns it in DER.
func (p *Pending) checkCMS(ber []byte) ([]byte, error) {
	signed, err := cms.Parse(ber)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ades.ErrValue, err)
	}
	if h := signed.Algorithm().Hash; h != p.signer.Algorithm.Hash {
		return nil, fmt.Errorf("%w: the digest is by %v", ades.ErrValue, h)
	}
	if err := signed.Verify(p.attributes); err != nil {
		return nil, fmt.Errorf("%w: %w", ades.ErrValue, err)
	}
	signer, err := signed.Signer()
	if err != nil {
		return nil, err
	}
	if err := ades.CheckPurpose(signer); err != nil {
		return nil, err
	}
	return signed.Raw, signed.Algorithm().Check(signer.PublicKey)
}

// timestamp gets the token over the value that level T asks for (EN 319 142-1 6.3).
func (p *Pending) signatureTimestamp(ctx context.Context, value []byte, t ades.Timestamper) ([]byte, error) {
	if p.level == ades.B {
		return nil, nil
	}
	if t == nil {
		return nil, fmt.Errorf("pades: %w: level %v without a timestamp authority", ades.ErrTimestamp, p.level)
	}
	h := p.signer.Algorithm.Hash
	sum := h.New()
	sum.Write(value)
	token, err := tsp.Obtain(ctx, t, h, sum.Sum(nil))
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

// externalCMS says that the signer is not known before Complete.
func (p *Pending) externalCMS() bool { return p.signer.Certificate == nil }

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
