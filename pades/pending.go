package pades

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"fmt"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/hashstate"
	"github.com/innsigli/innsigli/internal/pki/cms"
	"github.com/innsigli/innsigli/internal/pki/signerjson"
	"github.com/innsigli/innsigli/internal/pki/tsp"
)

// Pending is a prepared signature that lacks only its value. It does not refer to the document, and
// can be stored.
type Pending struct {
	signer            ades.SignerIdentity // without a certificate for an external CMS
	level             ades.Level
	documentSize      int64
	documentSum       []byte // digest of the document
	documentHashState []byte // state of the hash after the document
	revision          unsignedRevision

	signedAttributes []byte // nil for an external CMS
	messageDigest    []byte // the digest of document and revision, for an external CMS; else nil
}

// Digest returns the digest to sign. Its Algorithm names the hash and the scheme with which the key
// has to sign it.
func (p *Pending) Digest() ades.Digest {
	if p.externalCMS() {
		return ades.Digest{Algorithm: p.signer.Algorithm, Sum: p.messageDigest}
	}
	return p.signer.Algorithm.Digest(p.signedAttributes)
}

// Signer returns the signer that the signature was prepared for; after [PrepareCMS] it has no
// certificate.
func (p *Pending) Signer() ades.SignerIdentity { return p.signer }

// SignerOf returns the signer of the value that [Pending.Complete] takes. After [Prepare] this is
// [Pending.Signer]. After [PrepareCMS] it is the signer that the CMS names, with the certificates
// in the CMS. The error is [ades.ErrValue] if the value is no such CMS. SignerOf does not verify the
// signature: Complete does.
func (p *Pending) SignerOf(value []byte) (ades.SignerIdentity, error) {
	if !p.externalCMS() {
		return p.signer, nil
	}
	signed, certificate, err := parseCMS(value)
	if err != nil {
		return ades.SignerIdentity{}, err
	}
	return ades.SignerIdentity{Certificate: certificate, Chain: signed.Certificates, Algorithm: signed.Algorithm()}, nil
}

// Base returns the length of the document that the signature was prepared for, and its digest by
// the hash of [Pending.Digest]. [Pending.Complete] does not read the document: a caller for whom it
// may have changed since Prepare compares both before it appends the revision.
func (p *Pending) Base() (size int64, sum []byte) { return p.documentSize, p.documentSum }

// UsageRights reports whether the document has usage rights, which enable features of Adobe Reader
// (ISO 32000-2 12.8.2.3). A change that the author of the document did not foresee ends them, and
// Acrobat reports this when it opens the file. The signature is not affected.
func (p *Pending) UsageRights() bool { return p.revision.usageRights }

// Level returns the level that the signature was prepared for.
func (p *Pending) Level() ades.Level { return p.level }

// Complete checks the signature value against the signer's certificate and returns the revision to
// append to the document. It does not read the document: see [Pending.Base]. ECDSA values are in
// DER. The error is [ades.ErrValue] if the value is not a signature of the digest by that signer.
//
// For level T and above, Complete gets a signature timestamp from t. For level B, t may be nil. The
// error is [ades.ErrTimestamp] if t is nil or gives no timestamp, and [ades.ErrOutsideValidity] if
// the timestamp is later than the end of the signer's certificate. The value stays good after such
// an error, and the caller may call Complete again. Complete leaves out a token that is longer than
// the space that was reserved for it. [Extender.ExtendLast] then adds a document timestamp instead,
// and for each level what else is missing.
//
// After [PrepareCMS] the value is the CMS, in DER or BER, and t is ignored. The error is
// [ades.ErrValue] if the CMS does not sign the digest, [ades.ErrPurpose] if its certificate was not
// issued for signing documents, and [ades.ErrAlgorithm] if its algorithm or key is not accepted.
func (p *Pending) Complete(ctx context.Context, value []byte, t ades.Timestamper) (Revision, error) {
	if err := ctx.Err(); err != nil {
		return Revision{}, err
	}
	var der []byte
	var err error
	if p.externalCMS() {
		der, err = p.checkCMS(value)
	} else {
		der, err = p.buildCMS(ctx, value, t)
	}
	if err != nil {
		return Revision{}, err
	}
	if reserved := p.revision.reserved; len(der) > reserved {
		return Revision{}, fmt.Errorf("pades: the signature has %d bytes, but only %d are reserved for it", len(der), reserved)
	}
	sum, err := hashstate.Restore(p.signer.Algorithm.Hash, p.documentHashState)
	if err != nil {
		return Revision{}, err
	}
	return newRevision(p.documentSize, p.revision.filled(der), p.signer.Algorithm.Hash, sum)
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
		SignedAttributes:   p.signedAttributes,
		Value:              value,
		SignatureTimestamp: token,
	}
	der, err := cms.Marshal(parts)
	if err != nil || token == nil || len(der) <= p.revision.reserved {
		return der, err
	}
	// ExtendLast adds a document timestamp instead of the token, so the signer need not sign again.
	parts.SignatureTimestamp = nil
	return cms.Marshal(parts)
}

// checkCMS checks an external CMS, in DER or BER, and returns it in DER.
func (p *Pending) checkCMS(ber []byte) ([]byte, error) {
	signed, signer, err := parseCMS(ber)
	if err != nil {
		return nil, err
	}
	if h := signed.Algorithm().Hash; h != p.signer.Algorithm.Hash {
		return nil, fmt.Errorf("%w: the CMS has a digest by %v", ades.ErrValue, h)
	}
	if err := signed.Verify(p.messageDigest); err != nil {
		return nil, fmt.Errorf("%w: %w", ades.ErrValue, err)
	}
	if err := ades.CheckPurpose(signer); err != nil {
		return nil, err
	}
	if err := signed.Algorithm().Check(signer.PublicKey); err != nil {
		return nil, err
	}
	return signed.Raw, nil // in DER, whatever ber is in
}

// parseCMS parses an external CMS and returns it with the certificate of its signer.
func parseCMS(ber []byte) (signed *cms.SignedData, signer *x509.Certificate, err error) {
	if signed, err = cms.Parse(ber); err == nil {
		signer, err = signed.Signer()
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ades.ErrValue, err)
	}
	return signed, signer, nil
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

// externalCMS reports whether [PrepareCMS] made p: an external signer, who is not known before
// [Pending.Complete], makes the CMS.
func (p *Pending) externalCMS() bool { return p.signer.Certificate == nil }

// encodedPending is the stored form of a Pending.
type encodedPending struct {
	Version int `json:"version"`
	signerjson.Signer
	Base        int64  `json:"base"`
	BaseSum     []byte `json:"baseSum"`
	BaseState   []byte `json:"baseState"`
	Before      []byte `json:"before"`
	After       []byte `json:"after"`
	Reserved    int    `json:"reserved"`
	Attributes  []byte `json:"attributes"` // signedAttributes; for an external CMS, messageDigest
	UsageRights bool   `json:"usageRights,omitempty"`
	Level       int    `json:"level,omitempty"` // an ades.Level, whose numbers do not change
}

// pendingVersion is the only version so far. Later versions of this package keep decoding it.
const pendingVersion = 1

// MarshalBinary encodes the pending signature for storage.
func (p *Pending) MarshalBinary() ([]byte, error) {
	e := encodedPending{
		Version: pendingVersion, Signer: signerjson.Encode(p.signer),
		Base: p.documentSize, BaseSum: p.documentSum, BaseState: p.documentHashState,
		Before: p.revision.before, After: p.revision.after, Reserved: p.revision.reserved,
		Attributes: p.signedAttributes, UsageRights: p.revision.usageRights, Level: int(p.level),
	}
	if p.externalCMS() {
		e.Attributes = p.messageDigest
	}
	return json.Marshal(e)
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
	p := Pending{
		signer: signer, level: level,
		documentSize: e.Base, documentSum: e.BaseSum, documentHashState: e.BaseState,
		revision: unsignedRevision{before: e.Before, after: e.After, reserved: e.Reserved, usageRights: e.UsageRights},
	}
	if p.externalCMS() {
		p.messageDigest = e.Attributes
	} else {
		p.signedAttributes = e.Attributes
	}
	return p, nil
}

// signer returns the signer that the signature was prepared for; after [PrepareCMS] it is a hash
// alone.
func (e encodedPending) signer() (ades.SignerIdentity, error) {
	if a := e.Algorithm(); e.Certificate == nil && a.Scheme == 0 && a.Hash != 0 {
		return ades.SignerIdentity{Algorithm: a}, nil
	}
	return e.Decode()
}
