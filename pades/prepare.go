package pades

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/internal/pki/cms"
	"github.com/innsigli/innsigli/internal/pki/signerjson"
	"github.com/innsigli/innsigli/internal/pki/validation"
)

// Prepare makes a document ready to be signed: it lays out the revision in which
// only the signature value is missing. [ades.ErrUnreadable], [ErrEncrypted],
// [ades.ErrForbidden], [ades.ErrBroken], [ErrField], [ErrPage], [ErrRect], [ErrAppearance],
// [ades.ErrAlgorithm], [ades.ErrOutsideValidity] for a time at which the signer's certificate is not valid.
// Options that contradict themselves are an error of no kind.
func Prepare(ctx context.Context, doc Document, signer ades.Signer, options Options) (*Pending, error) {
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

// Check reports whether a document takes a signature with these options, without a signer and
// without hashing the document. Its errors are those of [Prepare] but [ades.ErrAlgorithm] and
// [ades.ErrOutsideValidity]; which certificate and which hash a field's seed value requires is left to
// Prepare. The Appearance of Visible may be nil: it is still to come.
func Check(ctx context.Context, doc Document, options Options) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := layOut(doc, ades.Signer{}, options, 0)
	return err
}

// Encrypted reports whether a document is encrypted, also when it opens without a password. A
// document that does not is [ErrEncrypted], as in [Prepare], and [ades.ErrUnreadable] is one that
// cannot be read.
func Encrypted(doc Document) (encrypted bool, err error) {
	err = pdf.WithRepaired(doc, doc.Size, func(file *pdf.File) error {
		_, encrypted = file.Permissions()
		return nil
	})
	return encrypted, readError(err)
}

// prepare is what [Prepare] and [PrepareCMS] share. The certificate of a signer who is not
// known yet is nil.
func prepare(ctx context.Context, doc Document, signer ades.Signer, options Options, reserved int) (*Pending, error) {
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
	layout, err := layOut(doc, signer, options, reserved)
	if err != nil {
		return nil, err
	}
	p := &Pending{signer: signer, base: doc.Size, before: layout.before, after: layout.after, reserved: reserved, level: options.Level, usageRights: layout.usageRights}
	if err := p.computeAttributes(ctx, doc); err != nil {
		return nil, err
	}
	return p, nil
}

// bind hashes the document and the revision around the signature, and fixes the
// attributes to sign.
func (p *Pending) computeAttributes(ctx context.Context, doc Document) error {
	sum, err := doc.hashed(ctx, p.signer.Algorithm.Hash)
	if err != nil {
		return err
	}
	if p.baseState, err = save(sum); err != nil {
		return err
	}
	p.baseSum = sum.Sum(nil)
	sum.Write(p.before)
	sum.Write(p.after)
	if p.externalCMS() {
		p.attributes = sum.Sum(nil)
		return nil
	}
	p.attributes, err = cms.SignedAttributes(p.signer.Certificate, p.signer.Algorithm, sum.Sum(nil))
	return err
}

// contentsSize is the length in bytes that the CMS of the signer will not exceed:
// that of one with the longest signature value.
func contentsSize(signer ades.Signer) (int, error) {
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

// layOut lays out the revision in which only the signature value is missing.
func layOut(doc Document, signer ades.Signer, options Options, reserved int) (l layout, err error) {
	if err := options.check(); err != nil {
		return l, err
	}
	err = pdf.WithRepaired(doc, doc.Size, func(file *pdf.File) (err error) {
		l, err = layOutFile(doc, file, signer, options, reserved)
		return err
	})
	return l, readError(err)
}

// layOutIn lays it out for the document as it was opened.
func layOutFile(doc Document, file *pdf.File, signer ades.Signer, options Options, reserved int) (layout, error) {
	plan, err := newPlan(doc, file, signer, options)
	if err != nil {
		return layout{}, err
	}
	if err := plan.dryRun(doc.Size); err != nil {
		return layout{}, err
	}
	update := file.NewUpdate()
	signature := newSignatureDictionary(subFilter(signer), options, plan.references, reserved)
	ref := update.Add(signature.source)
	if err := plan.apply(update, ref); err != nil {
		return layout{}, err
	}
	l, err := signature.layout(update, ref, doc.Size)
	l.usageRights = plan.usageRights
	return l, err
}

// noSigner says that nothing is known about a signer: of one who is known, or whose CMS is
// awaited, there is at least a hash.
func noSigner(signer ades.Signer) bool { return signer.Algorithm == ades.Algorithm{} }

// The formats of a signature.
const (
	cadesFormat pdf.Name = "ETSI.CAdES.detached"
	cmsFormat   pdf.Name = "adbe.pkcs7.detached" // which demands no attributes
)

// subFilter is the format of a signature.
func subFilter(signer ades.Signer) pdf.Name {
	if signer.Certificate == nil && !noSigner(signer) {
		return cmsFormat
	}
	return cadesFormat
}
