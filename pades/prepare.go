package pades

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/hashstate"
	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/internal/pki/cms"
	"github.com/innsigli/innsigli/internal/pki/signerjson"
	"github.com/innsigli/innsigli/internal/pki/validation"
)

// Prepare prepares a document for a signature: it lays out the revision in which only the signature
// value is missing.
//
// Errors: [ades.ErrUnreadable], [ErrEncrypted], [ades.ErrForbidden], [ades.ErrBroken], [ErrField],
// [ErrPage], [ErrRect], [ErrAppearance], [ades.ErrAlgorithm], [ades.ErrPurpose] when the signer's
// certificate was not issued for signing documents, and [ades.ErrOutsideValidity] when it is not
// valid at options.Time. Options that contradict each other are an error that is none of these.
func Prepare(ctx context.Context, doc Document, signer ades.SignerIdentity, options Options) (*Pending, error) {
	signer, err := signer.Resolve()
	if err != nil {
		return nil, err
	}
	reserved, err := contentsSize(signer)
	if err != nil {
		return nil, err
	}
	if options.Level >= ades.T {
		reserved += tokenSize
	}
	return prepare(ctx, doc, signer, options, reserved)
}

// cmsSize is the number of bytes reserved for a CMS that an external signer makes. With the
// certificates of an RSA-4096 chain such a CMS has 6 to 8 KB; signers may add attributes.
const cmsSize = 32 << 10

// PrepareCMS prepares a document for a signer that returns a whole CMS instead of a signature
// value: an RFC 5652 SignedData, detached, with one signer and the certificate of that signer. The
// caller does not have to know the signer beforehand. [Pending.Digest] returns the digest of the document
// by h, without a signature scheme: the signer signs it as the message-digest attribute.
// [Pending.Complete] takes the CMS.
//
// The attributes of the CMS are not known beforehand either. The result is therefore not a
// baseline signature of EN 319 142-1 but a signature of ISO 32000-2 12.8.3.3 (SubFilter adbe.pkcs7.detached)
// at level B, and [Options].Level has to be B. [Extender.Extend] can extend it later.
//
// Errors are those of [Prepare]. [ades.ErrForbidden] is also returned for a field that requires a
// certificate, and [ades.ErrAlgorithm] for hashes other than SHA-256, SHA-384 and SHA-512.
func PrepareCMS(ctx context.Context, doc Document, h crypto.Hash, options Options) (*Pending, error) {
	if !signerjson.KnowsHash(h) {
		return nil, fmt.Errorf("pades: %w: hash %v", ades.ErrAlgorithm, h)
	}
	if options.Level != ades.B {
		return nil, fmt.Errorf("pades: PrepareCMS prepares level B only, not %v", options.Level)
	}
	return prepare(ctx, doc, ades.SignerIdentity{Algorithm: ades.Algorithm{Hash: h}}, options, cmsSize)
}

// Check returns the error that [Prepare] would return for a document with these options. It needs no
// signer and does not hash the document, so it does not return [ades.ErrAlgorithm],
// [ades.ErrPurpose] and [ades.ErrOutsideValidity], and does not check the certificate and the hash
// that the seed value of a field requires. The Appearance of Visible may be nil, because the caller
// may not have it yet.
func Check(ctx context.Context, doc Document, options Options) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := reading(doc, func(doc Document) (unsignedRevision, error) {
		return buildRevision(doc, ades.SignerIdentity{}, options, 0)
	})
	return err
}

// Encrypted reports whether a document is encrypted. The error is [ErrEncrypted] for a document that
// needs a password, which [Prepare] does not accept either, and [ades.ErrUnreadable] for one that
// cannot be read.
func Encrypted(doc Document) (encrypted bool, err error) {
	return reading(doc, func(doc Document) (encrypted bool, err error) {
		err = pdf.WithRepaired(doc, doc.Size, func(file *pdf.File) error {
			_, encrypted = file.Permissions()
			return nil
		})
		return encrypted, readError(err)
	})
}

// prepare implements [Prepare] and [PrepareCMS]. For PrepareCMS the signer has no certificate.
func prepare(ctx context.Context, doc Document, signer ades.SignerIdentity, options Options, reserved int) (*Pending, error) {
	if options.Visible != nil && options.Visible.Appearance == nil {
		return nil, errors.New("pades: a visible signature without an appearance")
	}
	if options.Time.IsZero() {
		options.Time = time.Now()
	}
	if signer.Certificate != nil {
		if err := validation.CheckClaimedTime(signer.Certificate, options.Time); err != nil {
			return nil, fmt.Errorf("pades: signing time: %w", err)
		}
	}
	return reading(doc, func(doc Document) (*Pending, error) {
		r, err := buildRevision(doc, signer, options, reserved)
		if err != nil {
			return nil, err
		}
		p := &Pending{signer: signer, level: options.Level, documentSize: doc.Size, revision: r}
		if err := p.computeDigests(ctx, doc); err != nil {
			return nil, err
		}
		return p, nil
	})
}

// computeDigests hashes the document and the revision around /Contents, and sets the signed
// attributes; for an external CMS, the message digest.
func (p *Pending) computeDigests(ctx context.Context, doc Document) error {
	sum, err := doc.hashed(ctx, p.signer.Algorithm.Hash)
	if err != nil {
		return err
	}
	if p.documentHashState, err = hashstate.Save(sum); err != nil {
		return err
	}
	p.documentSum = sum.Sum(nil)
	sum.Write(p.revision.before)
	sum.Write(p.revision.after)
	if p.externalCMS() {
		p.messageDigest = sum.Sum(nil)
		return nil
	}
	p.signedAttributes, err = cms.SignedAttributes(p.signer.Certificate, p.signer.Algorithm, sum.Sum(nil))
	return err
}

// contentsSize returns an upper bound on the length in bytes of the CMS of a signer: the length
// with the longest possible signature value.
func contentsSize(signer ades.SignerIdentity) (int, error) {
	attributes, err := cms.SignedAttributes(signer.Certificate, signer.Algorithm, make([]byte, signer.Algorithm.Hash.Size()))
	if err != nil {
		return 0, err
	}
	der, err := cms.Marshal(cms.Parts{
		Certificate:      signer.Certificate,
		Chain:            signer.Chain,
		Algorithm:        signer.Algorithm,
		SignedAttributes: attributes,
		Value:            make([]byte, signer.Algorithm.MaxValueSize(signer.Certificate.PublicKey)),
	})
	return len(der), err
}

// buildRevision builds the revision in which only the signature value is missing. It reserves room for a CMS of that many
// bytes. The signer is one of three: one with a certificate, an external CMS with the hash alone, or none, as in [Check].
func buildRevision(doc Document, signer ades.SignerIdentity, options Options, reserved int) (r unsignedRevision, err error) {
	if err := options.check(); err != nil {
		return r, err
	}
	err = pdf.WithRepaired(doc, doc.Size, func(file *pdf.File) (err error) {
		r, err = buildRevisionOf(doc, file, signer, options, reserved)
		return err
	})
	return r, readError(err)
}

// buildRevisionOf is buildRevision for an open file.
func buildRevisionOf(doc Document, file *pdf.File, signer ades.SignerIdentity, options Options, reserved int) (unsignedRevision, error) {
	plan, err := newPlan(doc, file, signer, options)
	if err != nil {
		return unsignedRevision{}, err
	}
	if err := plan.dryRun(doc.Size); err != nil {
		return unsignedRevision{}, err
	}
	update := file.NewUpdate()
	signature := newSignatureDictionary(subFilter(signer), options, plan.references, reserved)
	ref := update.Add(signature.source)
	if err := plan.apply(update, ref); err != nil {
		return unsignedRevision{}, err
	}
	r, err := signature.revision(update, ref, doc.Size)
	r.usageRights = plan.usageRights
	return r, err
}

// noSigner reports whether nothing is known about the signer, as in [Check]. For an external CMS at
// least the hash is known.
func noSigner(signer ades.SignerIdentity) bool { return signer.Algorithm == ades.Algorithm{} }

// subFilter returns the SubFilter of a signature: pkcs7Detached, which requires no signed attributes,
// for an external CMS, else cadesDetached.
func subFilter(signer ades.SignerIdentity) pdf.Name {
	if signer.Certificate == nil && !noSigner(signer) {
		return pkcs7Detached
	}
	return cadesDetached
}
