package pades

import (
	"cmp"
	"context"
	"crypto"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/internal/pki/cms"
	"github.com/innsigli/innsigli/internal/pki/validation"
	"github.com/innsigli/innsigli/pades/internal/form"
)

// documentValidation is the validation of all signatures of one document.
type documentValidation struct {
	ctx     context.Context
	options ades.VerifyOptions
	// crossReferenceBroken: no signature covers what viewers show.
	crossReferenceBroken bool

	coverage
	usedGaps        map[int64]bool // gaps of the fields read so far; timestamps come before signatures
	sums            *rangeHashes
	store           store                     // of the last revision, with the data of earlier stores
	timestamps      []judgedTimestamp         // document timestamps, by the end of their ranges
	earlierStores   map[int64]store           // of earlier revisions, by the end of the revision
	decoded         map[streamLocation]stream // of the stores of all revisions
	signedRevisions []int64                   // ends of the revisions that a signature or timestamp covers
	// known has the roots and the certificates in the document timestamps.
	known *validation.Known
	// online fetches what the document lacks; nil: nothing is fetched.
	online *validation.Online
}

// signatureValidation is the validation of one signature.
type signatureValidation struct {
	*documentValidation
	field form.SignatureField

	ranges     byteRange
	rangeValid bool // ranges can be verified; they may cover a part of the document only
	signed     *cms.SignedData
	// knownWithSignature is known with the certificates in the signature and its timestamps.
	knownWithSignature *validation.Known
	// data is the data of the store with the revocation data in the signature.
	data                *validation.Data
	signatureTimestamps []validation.Timestamp
	// report keeps the result of the first check that fails, see [ades.SignatureReport.Fail]. Methods
	// named note… and reject… write to it; those named check… return a problem.
	report ades.SignatureReport
}

// Verify validates the signatures of a document and returns a report on each of them. A signature
// that does not verify is a result in the report and not an error. The error is
// [ades.ErrUnreadable] or [ErrEncrypted] if the document cannot be read. If the cross-reference of
// the document is broken, all its signatures fail with FORMAT_FAILURE, because viewers repair the
// cross-reference silently and show the document.
//
// Verify judges certificates by the revocation data in the document, as of the best signature time:
// the earliest time at which a trusted timestamp shows that the signature existed, or options.Time
// if there is no such timestamp. A signature without usable revocation data is INDETERMINATE with:
//
//   - TRY_LATER: there is none that covers a certificate of the chain, or a certificate is on hold.
//   - CERTIFICATE_CHAIN_GENERAL_FAILURE: there is none that covers a certificate of the chain, and the
//     signer's certificate has expired, or one of the chain is outside of its validity.
//   - REVOCATION_OUT_OF_BOUNDS_NO_POE: the certificate that signed the revocation data has expired,
//     and no document timestamp is a proof of existence (POE) of that data.
//   - OUT_OF_BOUNDS_NO_POE: the same, and the signer's certificate has expired too.
//
// [ades.Report.Passed] and [ades.SignatureReport.Passed] accept a signature that only lacks
// revocation data (TRY_LATER), as every signature of level B or T without sources does. A caller who
// requires the revocation status of each certificate compares Indication with [ades.TotalPassed].
//
// Verify also uses data from options.Revocation and options.Issuers, which is known to exist from
// now on. This data counts for a past options.Time too, because it states since when a certificate
// is revoked, but not for a certificate that has expired. The level depends on the document alone.
// The Warnings of the report name the data that could not be fetched.
//
// Verify hashes the document itself and does not use doc.Hashed.
func Verify(ctx context.Context, doc Document, options ades.VerifyOptions) (*ades.Report, error) {
	if options.Time.IsZero() {
		options.Time = time.Now()
	}
	return reading(doc, func(doc Document) (*ades.Report, error) { return verifyDocument(ctx, doc, options) })
}

// verifyDocument implements [Verify].
func verifyDocument(ctx context.Context, doc Document, options ades.VerifyOptions) (*ades.Report, error) {
	file, err := pdf.Open(doc, doc.Size)
	if err != nil {
		return verifyBroken(ctx, doc, options, readError(err))
	}
	d := &documentValidation{ctx: ctx, options: options}
	report, err := d.verifyFile(doc, file)
	if errors.Is(err, pdf.ErrMisplaced) {
		return verifyBroken(ctx, doc, options, err)
	}
	return report, err
}

// verifyFile reports on the signatures of a document in the order in which they were made. file is
// the document, rebuilt if its cross-reference is broken.
func (d *documentValidation) verifyFile(doc Document, file *pdf.File) (_ *ades.Report, err error) {
	if d.coverage, err = newCoverage(doc, file); err != nil {
		return nil, readError(err)
	}
	fields, err := form.Read(file)
	if err != nil {
		return nil, readError(err)
	}
	unhashed := Document{ReaderAt: doc, Size: doc.Size} // Verify does not use doc.Hashed
	d.sums = newRangeHashes(unhashed, d.ranges(fields)...)
	d.signedRevisions = d.signedRevisionEnds(fields)
	d.usedGaps, d.earlierStores = make(map[int64]bool), make(map[int64]store)
	d.decoded = make(map[streamLocation]stream)
	sources := ades.Sources{
		Revocation: d.options.Revocation, Issuers: d.options.Issuers,
		Roots: d.options.Roots, TimestampRoots: d.options.TimestampRoots, Chains: d.options.Chains,
	}
	d.known, d.online = validation.NewKnown(d.ctx, sources), validation.NewOnline(d.ctx, sources)
	if d.store, err = d.readMergedStore(file); err != nil {
		return nil, readError(err)
	}
	if err := d.readTimestamps(fields.Timestamps); err != nil {
		return nil, err
	}
	return d.verifySignatures(fields.Signatures)
}

// brokenCrossReference is the problem of every signature in a document with a broken
// cross-reference. Viewers repair it silently, each in its own way, so that they may show something
// else than what was signed.
const brokenCrossReference = "The cross-reference of the document is broken, so that what readers show may differ from what was signed."

// verifyBroken reports on a document whose cross-reference is broken: its signatures fail with
// FORMAT_FAILURE (EN 319 102-1 5.2.2) instead of being ignored. It returns cause if the document
// has no signatures, or cannot be read for another reason.
func verifyBroken(ctx context.Context, doc Document, options ades.VerifyOptions, cause error) (*ades.Report, error) {
	if !errors.Is(cause, pdf.ErrDamaged) {
		return nil, cause
	}
	file, err := pdf.RebuildForReading(doc, doc.Size)
	if err != nil {
		return nil, cause
	}
	d := &documentValidation{ctx: ctx, options: options, crossReferenceBroken: true}
	report, err := d.verifyFile(doc, file)
	if err != nil || len(report.Signatures) == 0 {
		return nil, cmp.Or(ctx.Err(), cause)
	}
	return report, nil
}

// verifySignatures validates the signatures in the fields and reports on them in the order in which
// they were made.
func (d *documentValidation) verifySignatures(fields []form.SignatureField) (*ades.Report, error) {
	all := make([]signatureValidation, 0, len(fields))
	for _, f := range fields {
		v := signatureValidation{documentValidation: d, field: f}
		if err := v.run(); err != nil {
			return nil, readError(err)
		}
		if err := d.ctx.Err(); err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	slices.SortStableFunc(all, func(a, b signatureValidation) int {
		return cmp.Or(cmp.Compare(a.ranges.end, b.ranges.end), cmp.Compare(a.report.CoveredBytes, b.report.CoveredBytes))
	})
	if err := d.noteChanges(all); err != nil {
		return nil, err
	}
	report := new(ades.Report)
	for _, v := range all {
		report.Signatures = append(report.Signatures, v.report)
	}
	return report, nil
}

// run makes the checks of EN 319 102-1 5.2 in this order: format, digest, signature value, signing
// certificate, certificate chain. The first check that fails decides the result, except that an
// unknown algorithm replaces an INDETERMINATE result about the signer. The error is one of reading.
func (v *signatureValidation) run() error {
	v.describe()
	signed, fault := cms.Read(v.noteCoverage())
	if signed == nil {
		v.reject(fault)
		return nil
	}
	v.signed = signed // even with a fault: it is described, but not verified
	v.data = v.withArchived(v.store.data)
	v.report.Algorithm = v.signed.Algorithm()
	v.report.Certificate, _ = v.signed.Signer()
	if fault == nil {
		fault = v.checkContent()
	}
	if err := v.validate(fault); err != nil {
		return err
	}
	if v.report.Indication == "" {
		v.report.Indication = ades.TotalPassed
	}
	return v.noteFormat()
}

// describe fills the report with the entries of the signature dictionary. It ignores entries that
// cannot be read.
func (v *signatureValidation) describe() {
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

// noteCoverage reports what the signature covers, and returns its Contents. It returns them also if
// ByteRange is wrong, so that the report can describe the signature.
func (v *signatureValidation) noteCoverage() []byte {
	ranges, contents, problem := v.readUniqueContents(v.field)
	v.ranges, v.rangeValid = ranges, problem == ""
	if !v.rangeValid {
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

// readUniqueContents is [coverage.readContents] with two more checks: the cross-reference is not
// broken, and no field read before has the same gap. problem is empty if there is none.
func (d *documentValidation) readUniqueContents(f form.SignatureField) (r byteRange, contents []byte, problem string) {
	if d.crossReferenceBroken {
		return r, nil, brokenCrossReference
	}
	r, contents, problem = d.readContents(f)
	if problem == "" && d.usedGaps[r.gap] {
		problem = "Another field has the same signature."
	}
	if problem == "" {
		d.usedGaps[r.gap] = true
	}
	return r, contents, problem
}

// validate makes the checks that follow the format: signature value, timestamps, signer, and proofs
// of existence. fault is the problem that Contents has so far, or nil. The error is one of reading.
func (v *signatureValidation) validate(fault error) error {
	if fault == nil && v.rangeValid {
		sum, err := v.coveredDigest()
		if err != nil {
			return err
		}
		v.rejectOtherCertificate() // and go on: the report also states whether the value is right
		if fault = v.checkValue(sum); fault == nil {
			v.report.Intact = true
			v.noteBinding()
		}
	}
	algorithmUnknown := errors.Is(fault, ades.ErrAlgorithm)
	if fault != nil && !algorithmUnknown {
		v.reject(fault)
	}
	v.validateSignatureTimestamps() // those in the signature cover its value, whatever its ByteRange is
	if !v.rangeValid {
		return nil
	}
	v.validator().Signer(&v.report, v.knownWithSignature)
	v.noteEncapsulatedDigest()
	if algorithmUnknown {
		v.rejectUnknownAlgorithm(fault)
	}
	return v.notePastValidation()
}

// checkContent returns an error if the CMS encapsulates content that its SubFilter does not allow.
func (v *signatureValidation) checkContent() error {
	if v.encapsulatesDigest() {
		return nil
	}
	return v.signed.CheckDetached()
}

// encapsulatesDigest reports whether the content of the CMS is the SHA-1 digest of the document, as
// in adbe.pkcs7.sha1 (ISO 32000-1 12.8.3.3).
func (v *signatureValidation) encapsulatesDigest() bool {
	return v.subFilter() == pkcs7SHA1 && v.signed.HasDigestContent()
}

// noteEncapsulatedDigest checks whether SHA-1, the hash of an encapsulated digest, may be relied
// on at the time of judgement, whatever algorithm the signature itself uses.
func (v *signatureValidation) noteEncapsulatedDigest() {
	if v.encapsulatesDigest() {
		validation.CheckHashes(&v.report, crypto.SHA1)
	}
}

// coveredDigest returns the digest of the covered bytes. The error is an error of reading.
func (v *signatureValidation) coveredDigest() ([]byte, error) {
	h := v.signed.Algorithm().Hash
	if v.encapsulatesDigest() {
		h = crypto.SHA1
	}
	return v.sums.digest(v.ctx, h, v.ranges)
}

// checkValue returns an error if the digest of the covered bytes or the signature value is wrong, or
// if another reader may see another signature.
func (v *signatureValidation) checkValue(sum []byte) error {
	verify := v.signed.Verify
	if v.encapsulatesDigest() {
		verify = v.signed.VerifyDigestContent
	}
	if err := verify(sum); err != nil {
		return err
	}
	if v.hasDuplicateKeys(v.field) {
		return errDuplicateKeys
	}
	return nil
}

// rejectOtherCertificate rejects a signature whose signed attributes name another certificate than
// the signer's. It comes before the signature value (EN 319 102-1 5.2.3.4).
func (v *signatureValidation) rejectOtherCertificate() {
	if mismatch := v.signed.CheckBindings(); errors.Is(mismatch, cms.ErrOtherCertificate) {
		v.reject(mismatch)
	}
}

// noteBinding makes the other checks of the signing-certificate attribute. A signature of ISO
// 32000-1 12.8.3.3 need not have that attribute.
func (v *signatureValidation) noteBinding() {
	if v.family() == pkcs7 && !v.signed.HasSigningCertificateAttribute() {
		return
	}
	if err := v.signed.CheckSingleBinding(); errors.Is(err, cms.ErrOtherCertificate) {
		return // rejectOtherCertificate has rejected it
	} else if err != nil {
		v.reject(err)
	} else if err := v.signed.CheckIssuerSerial(); err != nil {
		v.report.Warnings = append(v.report.Warnings, fmt.Sprintf("The digest of the certificate is right, but its issuer and serial number are not: %v.", err))
	}
}

// rejectUnknownAlgorithm rejects a signature whose algorithm this package does not know, so that the
// value is neither right nor wrong. This result replaces an INDETERMINATE one about the signer,
// unless the signing certificate or its chain was not found (EN 319 102-1 5.2.3, 5.2.6).
func (v *signatureValidation) rejectUnknownAlgorithm(fault error) {
	_, err := v.signed.Signer()
	switch {
	case err != nil:
		v.reject(err)
	case v.report.Indication == ades.Indeterminate && v.report.SubIndication != ades.NoCertificateChainFound:
		v.rejectInstead(fault)
	default:
		v.reject(fault)
	}
}

// reject adds an error to the problems of the report. The error decides the result, unless an
// earlier one did.
func (v *signatureValidation) reject(err error) {
	indication, sub := v.indicationOf(err)
	v.report.Fail(indication, sub, err.Error())
}

// rejectInstead is reject for an error that decides the result even after an earlier one.
func (v *signatureValidation) rejectInstead(err error) {
	v.report.Indication = ""
	v.reject(err)
}

// indicationOf returns the result of an error. An algorithm that this package does not know, a
// missing digest, and a certificate that is missing or is not the one that was named are
// INDETERMINATE. Every other error is TOTAL_FAILED.
func (v *signatureValidation) indicationOf(err error) (ades.Indication, ades.SubIndication) {
	switch {
	case errors.Is(err, cms.ErrDigest):
		return ades.TotalFailed, ades.HashFailure
	case errors.Is(err, ades.ErrValue):
		return ades.TotalFailed, ades.SigCryptoFailure
	case errors.Is(err, cms.ErrNoDigest):
		return ades.Indeterminate, ades.SignedDataNotFound
	case errors.Is(err, cms.ErrNoCertificate):
		if v.signed.HasSignerCertificate() { // Go cannot parse the certificate, so it has no chain
			return ades.Indeterminate, ades.NoCertificateChainFound
		}
		return ades.Indeterminate, ades.NoSigningCertificateFound
	case errors.Is(err, cms.ErrOtherCertificate):
		return ades.Indeterminate, ades.NoSigningCertificateFound
	case errors.Is(err, cms.ErrBinding):
		return ades.Indeterminate, ades.SigConstraintsFailure
	case errors.Is(err, ades.ErrAlgorithm):
		return ades.Indeterminate, ades.CryptoConstraintsFailureNoPOE
	}
	return ades.TotalFailed, ades.FormatFailure
}
