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
	ctx context.Context
	coverage
	options ades.VerifyOptions
	// broken: the cross-reference is broken, so no signature covers what viewers show.
	broken          bool
	usedGaps        map[int64]bool // gaps of the byte ranges of the fields read so far
	sums            *rangeHashes
	store           store                     // of the last revision, see readMergedStore
	timestamps      []judgedTimestamp         // document timestamps, by the end of their ranges
	earlierStores   map[int64]store           // of earlier revisions, by the end of the revision
	decoded         map[streamLocation]stream // of the stores of all revisions
	signedRevisions []int64                   // see signedRevisionEnds
	// known has the roots and the certificates in the document timestamps.
	known *validation.Known
	// online fetches what the document lacks; nil: nothing is fetched.
	online *validation.Online
}

// signatureValidation is the validation of one signature.
type signatureValidation struct {
	*documentValidation
	field form.SignatureField

	ranges byteRange
	signed *cms.SignedData
	// known is inspection.known with the certificates in the signature and its timestamps.
	known *validation.Known
	// data is the data of the store with the revocation data in the signature.
	data                *validation.Data
	signatureTimestamps []validation.Timestamp
	report              ades.SignatureReport
}

// Verify validates the signatures of a document and returns a report on each of them. A signature
// that does not verify is a result in the report and not an error. The error is
// [ades.ErrUnreadable] or [ErrEncrypted] if the document cannot be read. If the cross-reference of
// the document is broken, all its signatures fail with FORMAT_FAILURE, because viewers repair the
// cross-reference silently and show the document.
//
// Verify judges certificates by the revocation data in the document. It judges them as of the best
// signature time, which is the earliest time at which a trusted timestamp shows that the signature
// existed, and as of options.Time if there is no such timestamp. Without revocation data the result
// is INDETERMINATE with TRY_LATER, or with CERTIFICATE_CHAIN_GENERAL_FAILURE if a certificate is no
// longer valid. Revocation data whose signer has expired since then needs a document timestamp as
// its proof of existence (POE). Without one the result is INDETERMINATE with OUT_OF_BOUNDS_NO_POE if the
// signer's certificate has expired too, else with REVOCATION_OUT_OF_BOUNDS_NO_POE.
//
// [ades.Report.Passed] and [ades.SignatureReport.Passed] accept a signature that only lacks
// revocation data (TRY_LATER), as every signature of level B or T without sources does. A caller who
// requires the revocation status of each certificate compares Indication with [ades.TotalPassed].
//
// Verify also uses data from options.Revocation and options.Issuers. Data that is fetched counts as
// known to exist at the current time. It is used for a Time in the past too, because it states since
// when a certificate is revoked. It is not used for a certificate that has expired. The level depends
// on the document alone. The Warnings of the report name the data that could not be fetched.
//
// Verify hashes the document itself and does not use doc.Hashed.
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

// inspect reports on the signatures of a document. broken states that the cross-reference of the
// document is broken; file is then the salvaged one.
func inspect(ctx context.Context, doc Document, file *pdf.File, broken bool, options ades.VerifyOptions) (*ades.Report, error) {
	covers, err := newCoverage(doc, file)
	if err != nil {
		return nil, readError(err)
	}
	fields, err := form.Read(file)
	if err != nil {
		return nil, readError(err)
	}
	sources := ades.Sources{
		Revocation: options.Revocation, Issuers: options.Issuers,
		Roots: options.Roots, TimestampRoots: options.TimestampRoots, Chains: options.Chains,
	}
	d := &documentValidation{
		ctx: ctx, coverage: covers, options: options, broken: broken,
		sums:     newRangeHashes(Document{ReaderAt: doc, Size: doc.Size}, covers.ranges(fields)...),
		usedGaps: make(map[int64]bool), earlierStores: make(map[int64]store),
		decoded: make(map[streamLocation]stream), signedRevisions: covers.signedRevisionEnds(fields),
		known:  validation.NewKnown(ctx, sources),
		online: validation.NewOnline(ctx, sources),
	}
	if d.store, err = d.readMergedStore(file); err != nil {
		return nil, readError(err)
	}
	if err := d.readTimestamps(fields.Timestamps); err != nil {
		return nil, err
	}
	return d.report(fields.Signatures)
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
	report, err := inspect(ctx, doc, file, true, options)
	if err != nil || len(report.Signatures) == 0 {
		return nil, cmp.Or(ctx.Err(), cause)
	}
	return report, nil
}

// report validates the given signatures and reports on them in the order in which they were made.
func (d *documentValidation) report(fields []form.SignatureField) (*ades.Report, error) {
	all := make([]signatureValidation, 0, len(fields))
	for _, f := range fields {
		v := signatureValidation{documentValidation: d, field: f}
		if err := cmp.Or(v.run(), d.ctx.Err()); err != nil {
			return nil, readError(err)
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
// certificate, certificate chain. The first check that fails decides the result, except that an unknown
// algorithm replaces an INDETERMINATE result about the signer. The error is an error of reading.
func (v *signatureValidation) run() error {
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

// checkCoverage notes what the signature covers, and returns its Contents. It returns them also if
// ByteRange is wrong, so that the report can describe the signature.
func (v *signatureValidation) checkCoverage() []byte {
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

// readUniqueContents is [coverage.readContents] with two more checks: the cross-reference is not
// broken, and no other field has the same gap. problem is empty if there is none.
func (d *documentValidation) readUniqueContents(f form.SignatureField) (r byteRange, contents []byte, problem string) {
	if d.broken {
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

// check makes the checks that follow the format: signature value, timestamps, signer, and proofs of
// existence. fault is the problem of the CMS that was found so far; nil if it has none.
func (v *signatureValidation) check(fault error) (err error) {
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
	v.validator().Signer(&v.report, v.known)
	v.checkEncapsulatedDigest()
	if unknown {
		v.indeterminateAlgorithm(fault)
	}
	return v.checkPOE()
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

// checkEncapsulatedDigest checks whether SHA-1, the hash of an encapsulated digest, may be relied
// on at the time of judgement, whatever algorithm the signature itself uses.
func (v *signatureValidation) checkEncapsulatedDigest() {
	if v.encapsulatesDigest() {
		validation.CheckHashes(&v.report, crypto.SHA1)
	}
}

// checkValue checks the digest, the signature value and the certificate that the signed attributes
// name. fault is the problem of the signature, err an error of reading.
func (v *signatureValidation) checkValue() (fault, err error) {
	h, verify := v.signed.Algorithm().Hash, v.signed.Verify
	if v.encapsulatesDigest() {
		h, verify = crypto.SHA1, v.signed.VerifyDigestContent
	}
	sum, err := v.sums.digest(v.ctx, h, v.ranges)
	if err != nil {
		return nil, err
	}
	// EN 319 102-1 5.2.3.4: the signing certificate is identified before the value is verified.
	if mismatch := v.signed.CheckBindings(); errors.Is(mismatch, cms.ErrOtherCertificate) {
		v.reject(mismatch)
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

// checkBinding checks that the signing-certificate attribute names the signer's certificate. A
// signature of ISO 32000-1 12.8.3.3 need not have that attribute.
func (v *signatureValidation) checkBinding() {
	if v.family() == pkcs7 && !v.signed.HasSigningCertificateAttribute() {
		return
	}
	if err := v.signed.CheckSingleBinding(); errors.Is(err, cms.ErrOtherCertificate) {
		return // checkValue has rejected it
	} else if err != nil {
		v.reject(err)
	} else if err := v.signed.CheckIssuerSerial(); err != nil {
		v.report.Warnings = append(v.report.Warnings, fmt.Sprintf("The digest of the certificate is right, but its issuer and serial number are not: %v.", err))
	}
}

// indeterminateAlgorithm notes that this package does not know the algorithm of the signature, so
// that the value is neither right nor wrong. This result replaces an INDETERMINATE one about the
// signer, unless the signing certificate or its chain was not found (EN 319 102-1 5.2.3, 5.2.6).
func (v *signatureValidation) indeterminateAlgorithm(fault error) {
	if _, err := v.signed.Signer(); err != nil {
		v.reject(err)
		return
	}
	if v.report.Indication == ades.Indeterminate && v.report.SubIndication != ades.NoCertificateChainFound {
		v.report.Indication = "" // so that reject, which keeps the first result, sets this one
	}
	v.reject(fault)
}

// reject notes the result of an error. If the report has a result already, that one stays. An algorithm that this package does not know, a
// missing digest, and a certificate that is missing or is not the one that was named are
// INDETERMINATE. Every other error is TOTAL_FAILED.
func (v *signatureValidation) reject(err error) {
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
		if v.signed.HasSignerCertificate() { // Go cannot parse the certificate, so it has no chain
			sub = ades.NoCertificateChainFound
		}
	case errors.Is(err, cms.ErrOtherCertificate):
		indication, sub = ades.Indeterminate, ades.NoSigningCertificateFound
	case errors.Is(err, cms.ErrBinding):
		indication, sub = ades.Indeterminate, ades.SigConstraintsFailure
	case errors.Is(err, ades.ErrAlgorithm):
		indication, sub = ades.Indeterminate, ades.CryptoConstraintsFailureNoPOE
	}
	v.report.Fail(indication, sub, err.Error())
}
