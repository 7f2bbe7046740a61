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
	ctx                 context.Context
	document            *xmldoc.Document
	options             ades.VerifyOptions
	known               *validation.Known  // whom to trust, and what KeyInfo and the timestamps of all signatures carry
	shared              *validation.Data   // validation data of all signatures
	online              *validation.Online // nil: nobody is asked
	signatures          []signature        // those in unsigned properties come last
	scopes              []scope            // what each of them signs
	withUnsignedContent []xmldoc.Node      // those that carry something that they do not sign

	contents     map[xmldoc.Node]content // that were asked for
	instructions func() bool             // says whether some stand beside the root
}

// verification is the work on one signature.
type verification struct {
	*inspection
	*signature
	scope                      scope
	known                      *validation.Known // with what the signature carries
	validatedTimestamps        []validation.Timestamp
	validatedArchiveTimestamps []validation.Timestamp
	manifestIncomplete         bool // something that a Manifest lists is; that was told
	report                     ades.SignatureReport
}

// Verify reports on the signatures of a document. A signature that does not verify
// is no error but a result; [ades.ErrUnreadable] when there is nothing to report on.
//
// What is signed is found in the document alone: no address is asked, and a signature of
// anything elsewhere, or by a transform that is not on the list, is INDETERMINATE with
// SIGNED_DATA_NOT_FOUND. What a Manifest lists may be elsewhere: that is in the report's Warnings, and
// the signature covers the document in part.
//
// Counter-signatures (EN 319 132-1 5.2.7.2) follow the signature that they stand in, and have to
// be over its value, else they are TOTAL_FAILED with HASH_FAILURE. They cover nothing of the
// document, so that Coverage is Partial without a problem, but a document with one that does not
// pass does not pass.
//
// Certificates are judged by the revocation data that the signatures of the document carry, as of the
// earliest time at which a timestamp that is trusted proves the signature, else as of
// Time. Without such data the result is INDETERMINATE with TRY_LATER, or with CERTIFICATE_CHAIN_GENERAL_FAILURE
// when the certificate has expired since: later there will be none, either. With data whose signer has
// expired since, and which no archive timestamp proves, it is OUT_OF_BOUNDS_NO_POE if the
// certificate has expired too, else REVOCATION_OUT_OF_BOUNDS_NO_POE.
//
// What the options' Revocation and Issuers return counts as data that exists now. It says since when a
// certificate is revoked, so that it is as good for a Time in the past, but says nothing of a certificate that
// has expired, and is no part of the level, which is what the document has. What was asked for in vain is in
// the report's Warnings.
//
// Comments that no reference keeps are not signed. Where there are such in what is signed, that is in the report's Warnings.
//
// A signature that leaves out something of the document, such as one of an element in it,
// may pass, but with Coverage Partial, and the document does not.
func Verify(ctx context.Context, doc Document, options ades.VerifyOptions) (*ades.Report, error) {
	if options.Time.IsZero() {
		options.Time = time.Now()
	}
	b, err := readBytes(ctx, doc, nil)
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
	i := &inspection{
		ctx: ctx, document: d, options: options, signatures: signatures,
		known:    validation.NewKnown(ctx, ades.Sources{Roots: options.Roots, TimestampRoots: options.TimestampRoots, Chains: new(ades.Chains)}),
		online:   validation.NewOnline(ctx, ades.Sources{Roots: options.Roots, TimestampRoots: options.TimestampRoots, Revocation: options.Revocation, Issuers: options.Issuers}),
		contents: make(map[xmldoc.Node]content), instructions: sync.OnceValue(func() bool { return hasInstructions(d) }),
	}
	for _, s := range signatures {
		i.known = i.known.With(s.knownCertificates...)
	}
	i.shared = dataOf(signatures).ChargeTo(i.known)
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
		v := verification{inspection: i, signature: &i.signatures[n], scope: i.scopes[n]}
		if err := cmp.Or(v.run(), i.ctx.Err()); err != nil {
			return nil, err
		}
		report.Signatures = append(report.Signatures, v.report)
	}
	return report, nil
}

// order is that in which the signatures were made: one that is in the content of another ends before that
// one, parallel ones follow each other, and counter-signatures follow what they sign.
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

// lineage is the signature that is no counter-signature of another, and that this one belongs to.
func outermostSignature(element xmldoc.Node) xmldoc.Node {
	for parent := xmldsig.Countersigned(element); parent != none; parent = xmldsig.Countersigned(element) {
		element = parent
	}
	return element
}

// run makes the checks of EN 319 102-1 5.2, from the format over the certificate, the digests and the
// value to the chain: the first that fails decides. The error is one of the context.
func (v *verification) run() error {
	v.report = ades.SignatureReport{Format: formatNotETSI, Coverage: ades.Partial, CounterSignature: v.scope.isCounterSignature}
	v.report.Name = v.name()
	if v.fault != nil {
		v.reject(v.fault)
		return nil
	}
	v.describe()
	if err := v.checkSigned(); err != nil {
		return err
	}
	v.noteCoverage()
	if err := v.checkTimestamps(); err != nil {
		return err
	}
	v.newJudge().Signer(&v.report, v.known)
	v.checkHashes()
	v.newJudge().Evidence(&v.report, v.proofsOfExistence)
	if v.report.Indication == "" {
		v.report.Indication = ades.TotalPassed
	}
	v.report.Format = v.format()
	return nil
}

// describe notes what the signer says.
func (v *verification) describe() {
	place := slices.DeleteFunc([]string{v.city, v.country}, func(s string) bool { return s == "" })
	v.report.ClaimedTime, v.report.Reason, v.report.Location = v.signingTime, v.reason, strings.Join(place, ", ")
	v.report.Algorithm, v.report.Certificate = v.Algorithm, v.signer
}

// checkSigned checks which certificate is the signer's, what the signature signs, and the value.
func (v *verification) checkSigned() error {
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
	if err := v.checkReferences(); err != nil {
		return err
	}
	v.warnOfComments()
	err := v.checkSigner()
	if unsigned && errors.Is(err, errNoSigner) { // the properties that name him are there: it is SignedInfo that was changed
		err = fmt.Errorf("%w: %w", ades.ErrValue, err)
	}
	failed := err != nil && !errors.Is(err, errOtherCertificate)
	if failed && !(early != nil && errors.Is(err, errNoCertificate)) {
		v.reject(err)
	}
	if unsigned { // the value tells whether a reference to them was taken away
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
	v.checkIssuerSerial()
	return nil
}

// identify makes sure that there is a certificate, and that one is the one that SigningCertificate names, where it names
// any. That comes before what is signed (EN 319 102-1 5.2.3.4).
func (v *verification) checkSigningCertificate() error {
	switch {
	case v.signer == nil && v.KeyInfo == none:
		return errNoCertificate
	case !v.signerNamed && len(v.candidates()) > 0 && len(certificateNames(v.properties)) > 0:
		return errOtherCertificate
	}
	return nil
}

// checkHashes makes sure that the digests of what is signed are some to rely on: each reference has a hash of its
// own.
func (v *verification) checkHashes() {
	if v.signer == nil {
		return
	}
	var hashes []crypto.Hash
	for _, r := range v.scope.references {
		hashes = append(hashes, r.Hash)
	}
	validation.CheckHashes(&v.report, hashes...)
}

// judge judges by the data that the signatures of the document carry: what is said of a certificate is true of it in
// whichever of them. For the sake of one that has failed already nobody is asked.
func (v *verification) newJudge() validation.Judge {
	j := validation.Judge{Data: v.shared, Time: v.options.Time, Online: v.online}
	if v.report.Indication != "" {
		j.Online = nil
	}
	return j
}

// reject notes what an error of the signature comes to. One that is made of several is one problem.
func (v *verification) reject(err error) {
	indication, sub := indicationOf(err)
	v.report.Fail(indication, sub, strings.ReplaceAll(err.Error(), "\n", "; "))
}

// consequence is what an error of the signature comes to. What this package does not know is no failure of
// the signature.
func indicationOf(err error) (ades.Indication, ades.SubIndication) {
	switch {
	case errors.Is(err, xmldsig.ErrDigest), errors.Is(err, errCountersigned) && !errors.Is(err, errAmbiguous):
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

func (v *verification) warn(format string, args ...any) {
	v.report.Warnings = append(v.report.Warnings, fmt.Sprintf(format, args...))
}
