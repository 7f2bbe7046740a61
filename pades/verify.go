package pades

import (
	"cmp"
	"context"
	"crypto"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/internal/pki/cms"
	"github.com/innsigli/innsigli/internal/pki/validation"
	"github.com/innsigli/innsigli/pades/internal/form"
)

// Verify reports on the signatures of a document. A signature that does not verify
// is no error but a result; [ades.ErrUnreadable] and [ErrEncrypted] when there is
// nothing to report on. The signatures of a document with a broken cross-reference, which
// viewers mend and show, fail with FORMAT_FAILURE.
//
// Certificates are judged by the revocation data that the document carries, as of the
// earliest time at which a timestamp that is trusted proves the signature, else as of
// Time. Without such data the result is INDETERMINATE with TRY_LATER, or with CERTIFICATE_CHAIN_GENERAL_FAILURE
// where a certificate is not valid any more. With data whose signer has
// expired since, and which no document timestamp proves, it is OUT_OF_BOUNDS_NO_POE if the
// certificate has expired too, else REVOCATION_OUT_OF_BOUNDS_NO_POE.
//
// What the options' Revocation and Issuers return counts as data that exists now. It says since when a
// certificate is revoked, so that it is as good for a Time in the past, but says nothing of a certificate that
// has expired, and is no part of the level, which is what the document has. What was asked for in vain is in
// the report's Warnings.
func Verify(ctx context.Context, doc Document, options ades.VerifyOptions) (*ades.Report, error) {
	if options.Time.IsZero() {
		options.Time = time.Now()
	}
	file, err := pdf.Open(doc, doc.Size)
	if err != nil {
		return verifyBroken(ctx, doc, options, readError(err))
	}
	report, err := inspect(ctx, doc, file, false, options)
	if errors.Is(err, pdf.ErrMisplaced) {
		return verifyBroken(ctx, doc, options, err)
	}
	return report, err
}

// inspect reports on the signatures of a document as a file has it, which may be broken.
func inspect(ctx context.Context, doc Document, file *pdf.File, broken bool, options ades.VerifyOptions) (*ades.Report, error) {
	covers, err := newCoverage(doc, file)
	if err != nil {
		return nil, readError(err)
	}
	fields, err := form.Read(file)
	if err != nil {
		return nil, readError(err)
	}
	d := &inspection{
		ctx: ctx, coverage: covers, options: options, broken: broken,
		sums:     newRangeHashes(Document{ReaderAt: doc, Size: doc.Size}, covers.ranges(fields)...),
		usedGaps: make(map[int64]bool), earlierStores: make(map[int64]store),
		decoded: make(map[streamLocation]stream), signedRevisions: covers.signedRevisionEnds(fields),
		known:  validation.NewKnown(ctx, ades.Sources{Roots: options.Roots, TimestampRoots: options.TimestampRoots, Chains: new(ades.Chains)}),
		online: validation.NewOnline(ctx, ades.Sources{Roots: options.Roots, TimestampRoots: options.TimestampRoots, Revocation: options.Revocation, Issuers: options.Issuers}),
	}
	if d.store, err = d.readMergedStore(file); err != nil {
		return nil, readError(err)
	}
	if err := d.readTimestamps(fields.Timestamps); err != nil {
		return nil, err
	}
	return d.report(fields.Signatures)
}

// run makes the checks of EN 319 102-1 5.2, from the format over the digest, the
// value and the certificate to its chain: the first that fails decides. The error is
// one of reading.
func (v *verification) run() error {
	v.describe()
	contents := v.checkCoverage()
	signed, fault := cms.Read(contents)
	if v.signed = signed; signed == nil {
		v.reject(fault)
		return nil
	}
	v.data = v.withArchived(v.store.data)
	v.report.Algorithm = v.signed.Algorithm()
	v.report.Certificate, _ = v.signed.Signer()
	if err := v.check(cmp.Or(fault, v.checkContent())); err != nil {
		return err
	}
	if v.report.Indication == "" {
		v.report.Indication = ades.TotalPassed
	}
	return v.noteFormat()
}

// cover notes what the signature is over, and returns what stands in Contents: of a signature that is over
// something else, for what it was meant to be.
func (v *verification) checkCoverage() []byte {
	ranges, contents, problem := v.readUniqueContents(v.field)
	if v.ranges = ranges; problem != "" {
		v.report.Coverage = ades.Partial
		v.report.Fail(ades.TotalFailed, ades.FormatFailure, problem)
		contents, _ = v.file.Bytes(v.field.Signature["Contents"])
		return contents
	}
	v.report.Coverage, v.report.CoveredBytes = v.coverageOf(v.ranges), v.ranges.end
	if v.report.Coverage == ades.Partial {
		v.report.Fail(ades.TotalFailed, ades.FormatFailure, "The signature does not cover a whole revision of the document.")
	}
	return contents
}

// check makes the checks after that of the format, given what is amiss with the CMS.
func (v *verification) check(fault error) (err error) {
	covered := v.report.CoveredBytes > 0
	if fault == nil && covered {
		if fault, err = v.checkValue(); err != nil {
			return err
		}
	}
	unknown := errors.Is(fault, ades.ErrAlgorithm)
	if fault != nil && !unknown {
		v.reject(fault)
	}
	v.checkTimestamps()
	if !covered {
		return nil
	}
	v.judge().Signer(&v.report, v.known)
	v.checkEncapsulatedDigest()
	if unknown {
		v.indeterminateAlgorithm(fault)
	}
	return v.checkPOE()
}

// indeterminateAlgorithm notes that a value by an algorithm which is not known here is neither right nor wrong. Nothing about
// the signer outweighs that, but that nobody knows or trusts him (EN 319 102-1 5.2.3, 5.2.6).
func (v *verification) indeterminateAlgorithm(fault error) {
	if _, err := v.signed.Signer(); err != nil {
		v.reject(err)
		return
	}
	if v.report.Indication == ades.Indeterminate && v.report.SubIndication != ades.NoCertificateChainFound {
		v.report.Indication = ""
	}
	v.reject(fault)
}

// describe notes what the dictionary says. Entries that cannot be read say
// nothing.
func (v *verification) describe() {
	d := v.field.Signature
	text := func(key pdf.Name) string {
		s, err := v.file.Bytes(d[key])
		if err != nil {
			return ""
		}
		return pdf.Text(pdf.String(s))
	}
	v.report = ades.SignatureReport{
		Name: v.field.Name, Format: notETSI,
		SignerName: text("Name"), Reason: text("Reason"), Location: text("Location"),
	}
	if m, err := v.file.Bytes(d["M"]); err == nil {
		if t, err := pdf.ParseDate(pdf.String(m)); err == nil {
			v.report.ClaimedTime = t
		}
	}
}

// brokenCrossReference is why no signature of a document with a broken cross-reference is any good: viewers mend it
// without a word, each in its own way, and what they show then is not what was signed.
const brokenCrossReference = "The cross-reference of the document is broken, so that what readers show is not what was signed."

// verifyBroken reports on a document that cannot be read as its cross-reference has it: the signatures that stand in
// it fail for their format (EN 319 102-1 5.2.2), instead of being passed over. Where there are none, or where it
// cannot be read for another reason, the cause is the error.
func verifyBroken(ctx context.Context, doc Document, options ades.VerifyOptions, cause error) (*ades.Report, error) {
	if !errors.Is(cause, pdf.ErrDamaged) {
		return nil, cause
	}
	file, err := pdf.Salvage(doc, doc.Size)
	if err != nil {
		return nil, cause
	}
	report, err := inspect(ctx, doc, file, true, options)
	if err != nil || len(report.Signatures) == 0 {
		return nil, cmp.Or(ctx.Err(), cause)
	}
	return report, nil
}

// checkContent makes sure that the signature carries nothing but what its encoding allows.
func (v *verification) checkContent() error {
	if v.encapsulatesDigest() {
		return nil
	}
	return v.signed.CheckDetached()
}

func (v *verification) encapsulatesDigest() bool {
	return v.subFilter() == pkcs7SHA1 && v.signed.CarriesDigest()
}

// checkEncapsulatedDigest: nobody relies on the SHA-1 that a digest which is carried is by, whatever else it was signed with.
func (v *verification) checkEncapsulatedDigest() {
	if v.encapsulatesDigest() {
		validation.CheckHashes(&v.report, crypto.SHA1)
	}
}

// checkValue checks the digest, the value and the certificate that goes with it. The fault is what is amiss, the
// error one of reading.
func (v *verification) checkValue() (fault, err error) {
	h, verify := v.signed.Algorithm().Hash, v.signed.Verify
	if v.encapsulatesDigest() {
		h, verify = crypto.SHA1, v.signed.VerifyCarried
	}
	sum, err := v.sums.digest(v.ctx, h, v.ranges)
	if err != nil {
		return nil, err
	}
	if another := v.signed.CheckNamed(); errors.Is(another, cms.ErrAnother) { // before the value: EN 319 102-1 5.2.3.4
		v.reject(another)
	}
	if fault = verify(sum); fault != nil {
		return fault, nil
	}
	if v.hasDuplicateKeys(v.field) {
		return errDuplicateKeys, nil
	}
	v.report.Intact = true
	v.checkBinding()
	return nil, nil
}

// checkBinding makes sure that the certificate is the one that was signed for. ISO 32000-1 12.8.3.3 asks for no
// such attribute.
func (v *verification) checkBinding() {
	if v.family() == pkcs7 && !v.signed.NamesCertificate() {
		return
	}
	if err := v.signed.CheckBinding(); errors.Is(err, cms.ErrAnother) {
		return // which is rejected already
	} else if err != nil {
		v.reject(err)
	} else if err := v.signed.CheckIssuerSerial(); err != nil {
		v.report.Warnings = append(v.report.Warnings, fmt.Sprintf("The signature names its certificate by a digest that is right, and beside it says something else: %v.", err))
	}
}

// reject notes what an error of the CMS comes to. What this package does not know
// is no failure of the signature.
func (v *verification) reject(err error) {
	indication, sub := ades.TotalFailed, ades.FormatFailure
	switch {
	case errors.Is(err, cms.ErrDigest):
		sub = ades.HashFailure
	case errors.Is(err, ades.ErrValue):
		sub = ades.SigCryptoFailure
	case errors.Is(err, cms.ErrNoDigest):
		indication, sub = ades.Indeterminate, ades.SignedDataNotFound
	case errors.Is(err, cms.ErrNoCertificate):
		indication, sub = ades.Indeterminate, ades.NoSigningCertificateFound
		if v.signed.CarriesSigner() { // one that cannot be read here: it is known which, and leads nowhere
			sub = ades.NoCertificateChainFound
		}
	case errors.Is(err, cms.ErrAnother):
		indication, sub = ades.Indeterminate, ades.NoSigningCertificateFound
	case errors.Is(err, cms.ErrBinding):
		indication, sub = ades.Indeterminate, ades.SigConstraintsFailure
	case errors.Is(err, ades.ErrAlgorithm):
		indication, sub = ades.Indeterminate, ades.CryptoConstraintsFailureNoPOE
	}
	v.report.Fail(indication, sub, err.Error())
}
