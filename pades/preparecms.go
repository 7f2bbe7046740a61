package pades

import (
	"context"
	"crypto"
	"fmt"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/internal/pki/cms"
	"github.com/innsigli/innsigli/internal/pki/signerjson"
)

// cmsSize is the room in bytes for a CMS that is made elsewhere. With the certificates of
// an RSA-4096 chain it takes 6 to 8 KB.
const cmsSize = 32 << 10

// PrepareCMS makes a document ready for a signer who returns a whole CMS (RFC 5652
// SignedData, detached, of one signer, with its certificate) instead of a signature value,
// and who need not be known beforehand. What is to be signed, as the message-digest
// attribute or by whoever computes it, is the digest of the document by h that
// [Pending.Digest] returns, without a scheme; [Pending.Complete] takes the CMS.
//
// Which attributes it has is not known either, so that the result is no baseline signature
// of EN 319 142-1 but one of ISO 32000-2 12.8.3.3 (SubFilter adbe.pkcs7.detached), at level B: [Options].Level
// has to be that. [Extender.Extend] may follow. Fields that require a certificate are
// [ades.ErrForbidden]. Other errors are those of [Prepare]; [ades.ErrAlgorithm] for hashes other
// than SHA-256, SHA-384 and SHA-512.
func PrepareCMS(ctx context.Context, doc Document, h crypto.Hash, options Options) (*Pending, error) {
	if !signerjson.KnowsHash(h) {
		return nil, fmt.Errorf("pades: %w: hash %v", ades.ErrAlgorithm, h)
	}
	if options.Level != ades.B {
		return nil, fmt.Errorf("pades: a CMS that is made elsewhere is of level B, not %v", options.Level)
	}
	return prepare(ctx, doc, ades.Signer{Algorithm: ades.Algorithm{Hash: h}}, options, cmsSize)
}

// anonymous says that the signer is not known before Complete.
func (p *Pending) anonymous() bool { return p.signer.Certificate == nil }

// The formats of a signature.
const (
	cadesFormat pdf.Name = "ETSI.CAdES.detached"
	cmsFormat   pdf.Name = "adbe.pkcs7.detached" // which demands no attributes
)

// subFilter is the format of a signature.
func subFilter(signer ades.Signer) pdf.Name {
	if signer.Certificate == nil && !anybody(signer) {
		return cmsFormat
	}
	return cadesFormat
}

// SignerOf is who signed, by the value that [Pending.Complete] takes: [Pending.Signer], or
// after [PrepareCMS] whom the CMS names and what certificates it brings. [ades.ErrValue] when
// it is none. Whether the signature is that signer's is for Complete to check.
func (p *Pending) SignerOf(value []byte) (ades.Signer, error) {
	if !p.anonymous() {
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

// foreign checks a CMS that was made elsewhere, and returns it in DER.
func (p *Pending) foreign(ber []byte) ([]byte, error) {
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
