package xades

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/validation"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

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

// run makes the checks of EN 319 102-1 5.2, from the format over the certificate, the digests and the
// value to the chain: the first that fails decides. The error is one of the context.
func (v *verification) run() error {
	v.report = ades.SignatureReport{Format: notETSI, Coverage: ades.Partial, CounterSignature: v.signs.counter}
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
	v.judge().Signer(&v.report, v.known)
	v.checkHashes()
	v.judge().Evidence(&v.report, v.proven)
	if v.report.Indication == "" {
		v.report.Indication = ades.TotalPassed
	}
	v.report.Format = v.format()
	return nil
}

// describe notes what the signer says.
func (v *verification) describe() {
	place := slices.DeleteFunc([]string{v.city, v.country}, func(s string) bool { return s == "" })
	v.report.ClaimedTime, v.report.Reason, v.report.Location = v.time, v.reason, strings.Join(place, ", ")
	v.report.Algorithm, v.report.Certificate = v.Algorithm, v.signer
}

// checkSigned checks which certificate is the signer's, what the signature signs, and the value.
func (v *verification) checkSigned() error {
	unsigned := errors.Is(v.irregularity, errUnsigned)
	switch {
	case v.irregularity == nil, unsigned:
	case v.signs.ambiguous && errors.Is(v.irregularity, xmldsig.ErrReference):
		v.reject(fmt.Errorf("%w: %w", errAmbiguous, v.irregularity))
	default:
		v.reject(fmt.Errorf("%w: %w", errElsewhere, v.irregularity))
	}
	early := v.identify()
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
		v.reject(fmt.Errorf("%w: %w", errElsewhere, v.irregularity))
	}
	if failed {
		return nil
	}
	v.report.Intact = v.signs.complete()
	switch {
	case err != nil && early == nil:
		v.reject(err)
	case err == nil && !v.named:
		v.report.Fail(ades.Indeterminate, ades.SigConstraintsFailure, "No SigningCertificate names the signer's certificate.")
	}
	v.checkNames()
	return nil
}

// identify makes sure that there is a certificate, and that one is the one that SigningCertificate names, where it names
// any. That comes before what is signed (EN 319 102-1 5.2.3.4).
func (v *verification) identify() error {
	switch {
	case v.signer == nil && v.KeyInfo == none:
		return errNoCertificate
	case !v.named && len(v.candidates()) > 0 && len(certificateNames(v.properties)) > 0:
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
	for _, r := range v.signs.references {
		hashes = append(hashes, r.Hash)
	}
	validation.CheckHashes(&v.report, hashes...)
}

// reject notes what an error of the signature comes to. One that is made of several is one problem.
func (v *verification) reject(err error) {
	indication, sub := consequence(err)
	v.report.Fail(indication, sub, strings.ReplaceAll(err.Error(), "\n", "; "))
}

// consequence is what an error of the signature comes to. What this package does not know is no failure of
// the signature.
func consequence(err error) (ades.Indication, ades.SubIndication) {
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
	case isAny(err, errElsewhere, xmldsig.ErrReference, xmldsig.ErrTransform, xmldsig.ErrLimit):
		return ades.Indeterminate, ades.SignedDataNotFound
	}
	return ades.TotalFailed, ades.FormatFailure
}

func isAny(err error, kinds ...error) bool {
	return slices.ContainsFunc(kinds, func(kind error) bool { return errors.Is(err, kind) })
}
