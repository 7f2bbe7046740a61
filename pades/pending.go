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

// Pending is a prepared signature that lacks only its value. It does not refer to the document, and
// can be stored.
type Pending struct {
	signer    ades.SignerIdentity
	base      int64  // length of the document
	baseSum   []byte // digest of the document
	baseState []byte // state of the hash after the document

	before, after []byte // the revision before and after the string of /Contents
	reserved      int    // bytes reserved in /Contents
	attributes    []byte // the signed attributes; for an external CMS, the digest of the document
	level         ades.Level

	usageRights bool
}

// Digest returns the digest to sign. Its Algorithm names the hash and the scheme with which the key
// has to sign it.
func (p *Pending) Digest() ades.Digest {
	if p.externalCMS() {
		return ades.Digest{Algorithm: p.signer.Algorithm, Sum: p.attributes}
	}
	return p.signer.Algorithm.Digest(p.attributes)
}

// Signer returns the signer that the signature was prepared for; after [PrepareCMS] it has no
// certificate.
func (p *Pending) Signer() ades.SignerIdentity { return p.signer }

// SignerOf returns the signer of the value that [Pending.Complete] takes. After [Prepare] this is
// [Pending.Signer]. After [PrepareCMS] it is the signer that the CMS names, with the certificates
// in the CMS; [ades.ErrValue] when the value is no such CMS. SignerOf does not verify the
// signature: Complete does.
func (p *Pending) SignerOf(value []byte) (ades.SignerIdentity, error) {
	if !p.externalCMS() {
		return p.signer, nil
	}
	signed, err := cms.Parse(value)
	if err != nil {
		return ades.SignerIdentity{}, fmt.Errorf("%w: %w", ades.ErrValue, err)
	}
	certificate, err := signed.Signer()
	if err != nil {
		return ades.SignerIdentity{}, fmt.Errorf("%w: %w", ades.ErrValue, err)
	}
	return ades.SignerIdentity{Certificate: certificate, Chain: signed.Certificates, Algorithm: signed.Algorithm()}, nil
}

// Base returns the length of the document that the signature was prepared for, and its digest by
// the hash of [Pending.Digest]. [Pending.Complete] does not read the document: a caller for whom it
// may have changed since Prepare compares both before it appends the revision.
func (p *Pending) Base() (size int64, sum []byte) { return p.base, p.baseSum }

// UsageRights reports whether the document has usage rights, which enable features of Adobe Reader
// (ISO 32000-2 12.8.2.3). A change that the author of the document did not foresee ends them, and
// Acrobat reports this when it opens the file. The signature is not affected.
func (p *Pending) UsageRights() bool { return p.usageRights }

// Level returns the level that the signature was prepared for.
func (p *Pending) Level() ades.Level { return p.level }

// Complete checks the signature value against the signer's certificate and returns the revision to
// append to the document, which it does not read: see [Pending.Base]. ECDSA values are in DER. [ades.ErrValue] when the value is not a
// signature of the digest by that signer.
//
// For level T and above, Complete gets a signature timestamp from t. For level B, t may be nil.
// [Extender.ExtendLast] adds the rest. It also adds a document timestamp when the token is longer
// than the space that was reserved in the signature. [ades.ErrTimestamp] when t is nil or gives no
// timestamp, and [ades.ErrOutsideValidity] when the timestamp is later than the end of the signer's
// certificate. The value stays good after such an error, and the caller may call Complete again.
//
// After [PrepareCMS] the value is the CMS, in DER or BER: [ades.ErrValue] when it does not sign the
// digest.
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
		return Revision{}, fmt.Errorf("pades: the signature has %d bytes, but only %d are reserved for it", len(der), p.reserved)
	}
	return p.revision(der)
}

// Sign signs the digest with a key in this process, and completes the signature as
// [Pending.Complete] does.
func (p *Pending) Sign(ctx context.Context, key crypto.Signer, t ades.Timestamper) (Revision, error) {
	digest := p.Digest()
	value, err := key.Sign(rand.Reader, digest.Sum, digest.Algorithm.SignerOpts())
	if err != nil {
		return Revision{}, fmt.Errorf("pades: signing: %w", err)
	}
	return p.Complete(ctx, value, t)
}

// buildCMS verifies a signature value and returns the CMS with it, and with the signature timestamp
// for level T and above.
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
	if len(der) > p.reserved {
		// A document timestamp can take the place of the token, so the signer need not sign again.
		parts.SignatureTimestamp = nil
		return cms.Marshal(parts)
	}
	return der, err
}

// checkCMS checks an external CMS, in DER or BER, and returns it in DER.
func (p *Pending) checkCMS(ber []byte) ([]byte, error) {
	signed, err := cms.Parse(ber)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ades.ErrValue, err)
	}
	if h := signed.Algorithm().Hash; h != p.signer.Algorithm.Hash {
		return nil, fmt.Errorf("%w: the CMS has a digest by %v", ades.ErrValue, h)
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

// signatureTimestamp returns the token of the signature timestamp that level T requires (EN 319
// 142-1 6.3); nil for level B.
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

// revision returns the revision with the CMS in /Contents.
func (p *Pending) revision(der []byte) (Revision, error) {
	r := unsignedRevision{before: p.before, after: p.after, reserved: p.reserved}
	sum, err := restore(p.signer.Algorithm.Hash, p.baseState)
	if err != nil {
		return Revision{}, err
	}
	return newRevision(p.base, r.filled(der), p.signer.Algorithm.Hash, sum)
}

// externalCMS reports whether an external signer makes the CMS, so that the signer is not known
// before [Pending.Complete].
func (p *Pending) externalCMS() bool { return p.signer.Certificate == nil }

// encodedPending is the stored form of a Pending. Later versions of this package keep reading it.
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

// MarshalBinary encodes the pending signature for storage.
func (p *Pending) MarshalBinary() ([]byte, error) {
	return json.Marshal(encodedPending{
		Version: pendingVersion, Signer: signerjson.Encode(p.signer),
		Base: p.base, BaseSum: p.baseSum, BaseState: p.baseState,
		Before: p.before, After: p.after, Reserved: p.reserved, Attributes: p.attributes,
		UsageRights: p.usageRights, Level: int(p.level),
	})
}

// UnmarshalBinary decodes what MarshalBinary of this version or an earlier one encoded.
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
		return Pending{}, fmt.Errorf("unknown version %d", e.Version)
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

// signer returns the signer that the signature was prepared for; after [PrepareCMS] it is a hash
// alone.
func (e encodedPending) signer() (ades.SignerIdentity, error) {
	if a := e.Algorithm(); e.Certificate == nil && a.Scheme == 0 && a.Hash != 0 {
		return ades.SignerIdentity{Algorithm: a}, nil
	}
	return e.Decode()
}
