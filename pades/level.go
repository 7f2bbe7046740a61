package pades

import (
	"slices"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/validation"
)

// level is what the signature has, which is found as the validators find it (EN 319 142-1
// 6.3): whether a timestamp is there, not whether it is any good, which its report says.
func (v *verification) level() (ades.Level, error) {
	own := validation.Readable(v.signatureTimestamps)
	later := slices.DeleteFunc(v.laterTimestamps(), func(t judgedTimestamp) bool { return t.Token == nil })
	switch {
	case len(own)+len(later) == 0:
		return ades.B, nil
	case v.store.dict == nil || !v.hasValidationData(v.store.data, own, later):
		return ades.T, nil
	}
	if old, err := v.storeAt(v.ranges.end); err != nil || len(old.streams) == len(v.store.streams) {
		return ades.T, err // what was there before the signature cannot have been collected for it
	}
	covered, err := v.coversValidationData(own, later)
	if err != nil || !covered {
		return ades.LT, err
	}
	return ades.LTA, nil
}

// later are the document timestamps over the signature.
func (v *verification) laterTimestamps() []judgedTimestamp {
	return slices.DeleteFunc(slices.Clone(v.timestamps), func(t judgedTimestamp) bool { return t.ranges.end <= v.ranges.end })
}

// suffices reports whether the data has what level LT needs for the signer and the timestamp
// authorities, but that of the last document timestamp: what proves it comes with its
// renewal. The others are those of all signatures, and looked at once.
func (v *verification) hasValidationData(data *validation.Data, own []validation.Timestamp, later []judgedTimestamp) bool {
	signer := validation.Target{Certificate: v.report.Certificate, BestSignatureTime: v.report.BestTime}
	proven := tokensOf(later[:max(len(later)-1, 0)])
	return data.Present(v.known, append(validation.Targets(own), signer)...) &&
		data.Present(v.inspection.known, validation.Targets(proven)...)
}

// coversValidationData reports whether the last document timestamp is over validation data that
// suffices for the signature (EN 319 142-1 5.5): it covers all that earlier ones do.
func (v *verification) coversValidationData(own []validation.Timestamp, later []judgedTimestamp) (bool, error) {
	if len(later) == 0 {
		return false, nil
	}
	s, err := v.storeAt(later[len(later)-1].ranges.end)
	if err != nil || s.dict == nil {
		return false, err
	}
	return v.hasValidationData(s.data, own, later), nil
}

// Formats of signatures, as EU DSS names them. The first two go on with the level.
const (
	baseline = "PAdES-BASELINE"
	pkcs7    = "PKCS7"
	ltv      = "PAdES-LTV"
	epes     = "PAdES-EPES"
	bes      = "PAdES-BES"
	notETSI  = "PDF-NOT-ETSI"
)

// The encodings of ISO 32000-1 12.8.3.3, of which the second carries the SHA-1 digest of the document.
const (
	pkcs7Detached = "adbe.pkcs7.detached"
	pkcs7SHA1     = "adbe.pkcs7.sha1"
)

// subFilter is the encoding that the dictionary says Contents has.
func (v *verification) subFilter() string {
	name, _ := v.file.Name(v.field.Signature["SubFilter"])
	return string(name)
}

// family is what a signature is meant to be, whether or not it is any good: of the baseline (EN 319 142-1 6.3),
// of an extended profile (EN 319 142-2 5) or of ISO 32000-1 12.8.3.3.
func (v *verification) family() string {
	switch v.subFilter() {
	case "ETSI.CAdES.detached":
		return v.profile()
	case pkcs7Detached:
		if v.signed.HasDigest() && v.signed.CarriesSigner() {
			return pkcs7
		}
	case pkcs7SHA1:
		if v.signed.CarriesDigest() && v.signed.CarriesSigner() {
			return pkcs7
		}
	}
	return notETSI
}

// advanced tells the profiles of PAdES apart. Reason and a commitment or policy exclude each other (EN 319
// 142-1 6.3 (d), (m), EN 319 142-2 5.3).
func (v *verification) profile() string {
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

// noteFormat names the format, with the level where it has one. An extended profile with validation data and a
// timestamp over them is LTV (EN 319 142-2 5.5).
func (v *verification) noteFormat() error {
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
