package pades

import (
	"slices"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/validation"
)

// Formats of signatures, as EU DSS names them. The first two are followed by the level.
const (
	baseline = "PAdES-BASELINE"
	pkcs7    = "PKCS7"
	ltv      = "PAdES-LTV"
	epes     = "PAdES-EPES"
	bes      = "PAdES-BES"
	notETSI  = "PDF-NOT-ETSI"
)

// Values of SubFilter: of EN 319 142-1, and the two of ISO 32000-1 12.8.3.3. In pkcs7SHA1 the content
// of the CMS is the SHA-1 digest of the document.
const (
	cadesDetached = "ETSI.CAdES.detached"
	pkcs7Detached = "adbe.pkcs7.detached"
	pkcs7SHA1     = "adbe.pkcs7.sha1"
)

// noteFormat sets the format, with the level where the format has levels. A signature of an
// extended profile is PAdES-LTV if it has validation data and a document timestamp over that (EN
// 319 142-2 5.5).
func (v *signatureValidation) noteFormat() error {
	family := v.family()
	if family == notETSI {
		return nil
	}
	level, err := v.level()
	switch {
	case family == baseline, family == pkcs7:
		family += "-" + level.String()
	case level == ades.LTA:
		family = ltv
	}
	v.report.Format = family
	return err
}

// family returns the format without the level: a baseline signature (EN 319 142-1 6.3), one of an
// extended profile (EN 319 142-2 5), or one of ISO 32000-1 12.8.3.3. The signature need not be
// valid.
func (v *signatureValidation) family() string {
	switch v.subFilter() {
	case cadesDetached:
		return v.profile()
	case pkcs7Detached:
		if v.signed.HasDigest() && v.signed.HasSignerCertificate() {
			return pkcs7
		}
	case pkcs7SHA1:
		if v.signed.HasDigestContent() && v.signed.HasSignerCertificate() {
			return pkcs7
		}
	}
	return notETSI
}

// subFilter returns the encoding of Contents that the signature dictionary states.
func (v *signatureValidation) subFilter() string {
	name, _ := v.file.Name(v.field.Signature["SubFilter"])
	return string(name)
}

// profile returns which profile of PAdES a signature follows: baseline, EPES or BES. Reason
// excludes a commitment and a signature policy (EN 319 142-1 6.3 (d), (m), EN 319 142-2 5.3).
func (v *signatureValidation) profile() string {
	reason := v.report.Reason != ""
	_, filter := v.field.Signature["Filter"]
	_, cert := v.field.Signature["Cert"]
	switch {
	case !filter || !v.signed.IsAdvanced() || reason && v.signed.HasCommitment():
		return notETSI
	case v.signed.IsBaseline() && !cert && !v.report.ClaimedTime.IsZero() && !(reason && v.signed.HasPolicy()):
		return baseline
	case v.signed.HasPolicy() && !reason:
		return epes
	}
	return bes
}

// level returns the level of the signature, determined as other validators do (EN 319 142-1 6.3):
// timestamps and validation data count if they are present, valid or not. The reports of the
// timestamps state whether these are trusted.
func (v *signatureValidation) level() (ades.Level, error) {
	own := validation.ReadableTimestamps(v.signatureTimestamps)
	later := slices.DeleteFunc(v.laterTimestamps(), func(t judgedTimestamp) bool { return t.Token == nil })
	switch {
	case len(own)+len(later) == 0:
		return ades.B, nil
	case v.store.dict == nil || !v.hasValidationData(v.store.data, own, later):
		return ades.T, nil
	}
	if old, err := v.storeAt(v.ranges.end); err != nil || len(old.streams) == len(v.store.streams) {
		return ades.T, err // validation data from before the signature was not collected for it
	}
	covered, err := v.coversValidationData(own, later)
	if err != nil || !covered {
		return ades.LT, err
	}
	return ades.LTA, nil
}

// hasValidationData reports whether the data has what level LT needs for the signer and the
// timestamp authorities. It leaves out the last document timestamp, whose validation data is added
// when it is renewed. The other document timestamps are looked up in known, once for all signatures.
func (v *signatureValidation) hasValidationData(data *validation.Data, own []validation.Timestamp, later []judgedTimestamp) bool {
	signer := validation.Target{Certificate: v.report.Certificate, BestSignatureTime: v.report.BestTime}
	earlier := tokensOf(later[:max(len(later)-1, 0)])
	return data.Present(v.knownWithSignature, append(validation.Targets(own), signer)...) &&
		data.Present(v.known, validation.Targets(earlier)...)
}

// coversValidationData reports whether the last document timestamp covers validation data that
// suffices for the signature (EN 319 142-1 5.5). It covers all that earlier timestamps do.
func (v *signatureValidation) coversValidationData(own []validation.Timestamp, later []judgedTimestamp) (bool, error) {
	if len(later) == 0 {
		return false, nil
	}
	s, err := v.storeAt(later[len(later)-1].ranges.end)
	if err != nil || s.dict == nil {
		return false, err
	}
	return v.hasValidationData(s.data, own, later), nil
}
