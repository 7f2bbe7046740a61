package xades

import (
	"cmp"
	"context"
	"crypto"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/validation"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

// inspection is the verification of one document.
type inspection struct {
	ctx        context.Context
	document   *xmldoc.Document
	options    ades.VerifyOptions
	known      *validation.Known  // the roots, and the certificates in all signatures
	shared     *validation.Data   // validation data of all signatures
	online     *validation.Online // nil: no source is asked
	signatures []signature        // those in unsigned properties come last
	scopes     []scope            // of signatures, by index

	withUnsignedContent []xmldoc.Node // signatures with content that they do not sign

	contents     map[xmldoc.Node]content // cache
	instructions func() bool             // caches hasInstructions
}

// signatureValidation is the validation of one signature.
type signatureValidation struct {
	*inspection
	*signature
	scope                      scope
	knownWithSignature         *validation.Known    // known with the certificates of this signature
	validatedTimestamps        []validatedTimestamp // signature timestamps, in document order
	validatedArchiveTimestamps []validatedTimestamp // in document order
	manifestIncomplete         bool                 // the document lacks an entry of a Manifest
	// report keeps the result of the first check that fails, see [ades.SignatureReport.Fail].
	// Methods named note…, reject… and warn… write to it; those named check… return a problem.
	report ades.SignatureReport
}

// Verify reports on the signatures of a document. A signature that does not verify is a result and
// not an error. The error is [ades.ErrUnreadable] if the document cannot be read.
//
// References are resolved in the document alone; Verify never opens an address. A signature with a
// reference to anything else, or with a transform that is not on the list of this package, is
// INDETERMINATE with SIGNED_DATA_NOT_FOUND. An entry of a Manifest may be outside of the document:
// the report then has a warning, and the signature covers only a part of the document.
//
// Counter-signatures (EN 319 132-1 5.2.7.2) come after the signature that they are in. They have to
// be over its value; otherwise they are TOTAL_FAILED with HASH_FAILURE. A counter-signature covers
// nothing of the document, so its Coverage is Partial without a problem, but a document with a
// counter-signature that does not pass does not pass.
//
// Verify validates certificates with the revocation data of all signatures of the document. It does
// so at the earliest time for which a trusted timestamp is a proof of existence (POE) of the
// signature, or else at the Time of the options. If no revocation data covers a certificate of the
// chain, or a certificate is on hold, the result is INDETERMINATE with TRY_LATER. Without such data
// it is CERTIFICATE_CHAIN_GENERAL_FAILURE if the signer's certificate has expired, or one of the
// chain is outside of its validity, because then there will be none later either. If the
// certificate that signed the revocation data has expired since, and no archive timestamp is a POE
// of that data, the result is OUT_OF_BOUNDS_NO_POE if the signer's certificate has expired too, and
// otherwise REVOCATION_OUT_OF_BOUNDS_NO_POE.
//
// The data that the options' Revocation and Issuers return exists from now on. A revocation status
// contains the time of the revocation, so it is usable also for a Time in the past, but not for a
// certificate that has expired. This data does not count for the level, which depends on the
// document alone. If a source has no answer, the report has a warning.
//
// If the signed data has comments that no reference keeps, they are not signed, and the report has
// a warning. So has one on signed data with a value that uses a prefix whose namespace is not
// signed.
//
// A signature that does not cover all of the document, such as one over a single element, may pass,
// but its Coverage is Partial, and the document does not pass.
func Verify(ctx context.Context, doc Document, options ades.VerifyOptions) (*ades.Report, error) {
	if options.Time.IsZero() {
		options.Time = time.Now()
	}
	b, err := readBytes(ctx, doc)
	if err != nil {
		return nil, err
	}
	d, err := xmldoc.Parse(b)
	if err != nil {
		return nil, readError(err)
	}
	i, err := newInspection(ctx, d, options)
	if err != nil {
		return nil, err
	}
	return i.reports()
}

func newInspection(ctx context.Context, d *xmldoc.Document, options ades.VerifyOptions) (*inspection, error) {
	found, unsigned := xmldsig.Find(d), xmldsig.FindUnsigned(d)
	if err := checkNumber(len(found) + len(unsigned)); err != nil {
		return nil, err
	}
	reader := newSignatureReader(ctx, d)
	signatures := reader.readAll(found)
	markEnclosed(signatures)
	signatures = append(signatures, reader.readAll(unsigned)...)
	sources := ades.Sources{
		Revocation: options.Revocation, Issuers: options.Issuers,
		Roots: options.Roots, TimestampRoots: options.TimestampRoots, Chains: options.Chains,
	}
	i := &inspection{
		ctx: ctx, document: d, options: options, signatures: signatures,
		known:    validation.NewKnown(ctx, sources),
		online:   validation.NewOnline(ctx, sources),
		contents: make(map[xmldoc.Node]content), instructions: sync.OnceValue(func() bool { return hasInstructions(d) }),
	}
	for _, s := range signatures {
		i.known = i.known.With(s.knownCertificates...)
	}
	i.shared = dataOf(signatures).ShareLimit(i.known)
	_, ambiguous := d.DuplicateID()
	for n := range signatures {
		s := scopeOf(&signatures[n], ambiguous)
		s.misplaced = n >= len(found) && !s.isCounterSignature
		i.scopes = append(i.scopes, s)
		if s.hasUnsignedContent() {
			i.withUnsignedContent = append(i.withUnsignedContent, s.element)
		}
	}
	return i, ctx.Err()
}

func dataOf(signatures []signature) *validation.Data {
	var all []*validation.Data
	for _, s := range signatures {
		all = append(all, s.validationData)
	}
	return validation.Merge(all...)
}

func (i *inspection) reports() (*ades.Report, error) {
	report := new(ades.Report)
	for _, n := range i.order() {
		v := signatureValidation{inspection: i, signature: &i.signatures[n], scope: i.scopes[n]}
		if err := v.run(); err != nil {
			return nil, err
		}
		if err := i.ctx.Err(); err != nil {
			return nil, err
		}
		report.Signatures = append(report.Signatures, v.report)
	}
	return report, nil
}

// order returns the indexes of the signatures in the order in which they were made: a signature in
// the content of another one comes before that one, parallel signatures are in document order, and
// counter-signatures come after the signature that they are in.
func (i *inspection) order() []int {
	order, end := make([]int, len(i.signatures)), make([]int64, len(i.signatures))
	for n := range order {
		order[n] = n
		_, end[n] = outermostSignature(i.signatures[n].element).Span()
	}
	start := func(n int) int64 { start, _ := i.signatures[n].element.Span(); return start }
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(end[a], end[b]), cmp.Compare(start(a), start(b)))
	})
	return order
}

// outermostSignature returns the signature, itself not a counter-signature, that element is a
// counter-signature of, directly or through other counter-signatures. That is element itself if it
// is no counter-signature.
func outermostSignature(element xmldoc.Node) xmldoc.Node {
	for parent := xmldsig.Countersigned(element); parent != none; parent = xmldsig.Countersigned(element) {
		element = parent
	}
	return element
}

// run validates one signature by EN 319 102-1 5.2: first the format, then the certificate, the
// digests and the value, then the chain. The first check that fails decides the indication. The
// only errors are those of the context.
func (v *signatureValidation) run() error {
	v.report = ades.SignatureReport{Format: formatNotETSI, Coverage: ades.Partial, CounterSignature: v.scope.isCounterSignature}
	v.report.Name = v.name()
	if v.fault != nil {
		v.reject(v.fault)
		return nil
	}
	v.describe()
	if err := v.noteSigned(); err != nil {
		return err
	}
	v.noteCoverage()
	if err := v.validateTimestamps(); err != nil {
		return err
	}
	v.newValidator().Signer(&v.report, v.knownWithSignature)
	v.noteHashes()
	v.newValidator().PastValidation(&v.report, v.proofsOfExistence)
	if v.report.Indication == "" {
		v.report.Indication = ades.TotalPassed
	}
	v.report.Format = v.format()
	return nil
}

// describe copies the signer's claims, the algorithm and the certificate to the report.
func (v *signatureValidation) describe() {
	place := slices.DeleteFunc([]string{v.city, v.country}, func(s string) bool { return s == "" })
	v.report.ClaimedTime, v.report.Reason, v.report.Location = v.signingTime, v.reason, strings.Join(place, ", ")
	v.report.Algorithm, v.report.Certificate = v.Algorithm, v.signer
}

// noteSigned reports problems with the signer's certificate, the signed data and the value.
func (v *signatureValidation) noteSigned() error {
	unsigned := errors.Is(v.irregularity, errUnsignedProperties)
	switch {
	case v.irregularity == nil, unsigned:
	case v.scope.ambiguous && errors.Is(v.irregularity, xmldsig.ErrReference):
		v.reject(fmt.Errorf("%w: %w", errAmbiguous, v.irregularity))
	default:
		v.reject(fmt.Errorf("%w: %w", errMisplaced, v.irregularity))
	}
	early := v.checkSigningCertificate()
	if early != nil {
		v.reject(early)
	}
	if err := v.noteReferences(); err != nil {
		return err
	}
	v.warnOfComments()
	v.warnOfPrefixes()
	err := v.checkSigner()
	if unsigned && errors.Is(err, errNoSigner) {
		// The properties exist, so SignedInfo was changed: it has no reference to them.
		err = fmt.Errorf("%w: %w", ades.ErrValue, err)
	}
	failed := err != nil && !errors.Is(err, errOtherCertificate)
	if failed && !(early != nil && errors.Is(err, errNoCertificate)) {
		v.reject(err)
	}
	if unsigned { // after the value, which shows whether the reference to them was removed
		v.reject(fmt.Errorf("%w: %w", errMisplaced, v.irregularity))
	}
	if failed {
		return nil
	}
	v.report.Intact = v.scope.complete()
	switch {
	case err != nil && early == nil:
		v.reject(err)
	case err == nil && !v.signerNamed:
		v.report.Fail(ades.Indeterminate, ades.SigConstraintsFailure, "No SigningCertificate names the signer's certificate.")
	}
	v.warnOfIssuerSerial()
	return nil
}

// checkSigningCertificate checks that the document has a certificate for the signature and, if
// SigningCertificate(V2) names any, that it names one of the candidates. This comes before the
// signed data (EN 319 102-1 5.2.3.4).
func (v *signatureValidation) checkSigningCertificate() error {
	switch {
	case v.signer == nil && v.KeyInfo == none:
		return errNoCertificate
	case !v.signerNamed && len(v.candidates()) > 0 && len(certificateNames(v.properties)) > 0:
		return errOtherCertificate
	}
	return nil
}

// noteHashes reports a reference whose hash is not reliable.
func (v *signatureValidation) noteHashes() {
	if v.signer == nil {
		return
	}
	var hashes []crypto.Hash
	for _, r := range v.scope.references {
		hashes = append(hashes, r.Hash)
	}
	validation.CheckHashes(&v.report, hashes...)
}

// newValidator returns the rules to validate certificates with: the validation data of all
// signatures of the document, because data about a certificate is valid whichever signature it is
// in. If the signature has failed already, no online source is asked.
func (v *signatureValidation) newValidator() validation.Validator {
	j := validation.Validator{Data: v.shared, Time: v.options.Time, Online: v.online}
	if v.report.Indication != "" {
		j.Online = nil
	}
	return j
}

// reject reports the indication of an error. An error that joins several is one problem.
func (v *signatureValidation) reject(err error) {
	indication, sub := indicationOf(err)
	v.report.Fail(indication, sub, strings.ReplaceAll(err.Error(), "\n", "; "))
}

// indicationOf returns the indication of an error of a signature. What this package does not
// support is INDETERMINATE, not a failure of the signature.
func indicationOf(err error) (ades.Indication, ades.SubIndication) {
	switch {
	case errors.Is(err, xmldsig.ErrDigest), errors.Is(err, errNotCountersigning) && !errors.Is(err, errAmbiguous):
		return ades.TotalFailed, ades.HashFailure
	case errors.Is(err, ades.ErrValue):
		return ades.TotalFailed, ades.SigCryptoFailure
	case isAny(err, errNoCertificate, errNoSigner, errOtherCertificate):
		return ades.Indeterminate, ades.NoSigningCertificateFound
	case errors.Is(err, ades.ErrAlgorithm):
		return ades.Indeterminate, ades.CryptoConstraintsFailureNoPOE
	case errors.Is(err, errAmbiguous):
		return ades.TotalFailed, ades.FormatFailure
	case isAny(err, errMisplaced, xmldsig.ErrReference, xmldsig.ErrTransform, xmldsig.ErrLimit):
		return ades.Indeterminate, ades.SignedDataNotFound
	}
	return ades.TotalFailed, ades.FormatFailure
}

func isAny(err error, kinds ...error) bool {
	return slices.ContainsFunc(kinds, func(kind error) bool { return errors.Is(err, kind) })
}

func (v *signatureValidation) warn(format string, args ...any) {
	v.report.Warnings = append(v.report.Warnings, fmt.Sprintf(format, args...))
}
