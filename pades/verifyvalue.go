package pades

import (
	"crypto"
	"errors"
	"fmt"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/cms"
	"github.com/innsigli/innsigli/internal/pki/validation"
)

// checkContent makes sure that the signature carries nothing but what its encoding allows.
func (v *verification) checkContent() error {
	if v.carriesDigest() {
		return nil
	}
	return v.signed.CheckDetached()
}

func (v *verification) carriesDigest() bool {
	return v.subFilter() == pkcs7SHA1 && v.signed.CarriesDigest()
}

// checkCarried: nobody relies on the SHA-1 that a digest which is carried is by, whatever else it was signed with.
func (v *verification) checkCarried() {
	if v.carriesDigest() {
		validation.CheckHashes(&v.report, crypto.SHA1)
	}
}

// checkValue checks the digest, the value and the certificate that goes with it. The fault is what is amiss, the
// error one of reading.
func (v *verification) checkValue() (fault, err error) {
	h, verify := v.signed.Algorithm().Hash, v.signed.Verify
	if v.carriesDigest() {
		h, verify = crypto.SHA1, v.signed.VerifyCarried
	}
	sum, err := v.sums.of(v.ctx, h, v.ranges)
	if err != nil {
		return nil, err
	}
	if another := v.signed.CheckNamed(); errors.Is(another, cms.ErrAnother) { // before the value: EN 319 102-1 5.2.3.4
		v.reject(another)
	}
	if fault = verify(sum); fault != nil {
		return fault, nil
	}
	if v.doubled(v.field) {
		return errDoubled, nil
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
