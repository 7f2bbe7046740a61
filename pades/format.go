package pades

import "github.com/innsigli/innsigli/ades"

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
		return v.advanced()
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
func (v *verification) advanced() string {
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
