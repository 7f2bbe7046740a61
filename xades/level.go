package xades

import (
	"github.com/innsigli/innsigli/internal/pki/validation"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// Formats of signatures, as EU DSS names them: one of the first two and the level, or the third.
const (
	baseline = "XAdES-BASELINE-"
	extended = "XAdES-"
	notETSI  = "XML-NOT-ETSI"
)

// format is the name of the signature's format with its level, which is what the signature has: whether a
// timestamp is there, not whether it is any good, which its report says. Of a baseline signature (EN 319
// 132-1 6.3) each level asks for what is below it; the levels of XAdES-E (EN 319 132-2) are of all others.
func (v *verification) format() string {
	s := &v.signs
	switch {
	case !s.isETSI():
		return notETSI
	case !v.isStamped(1, len(v.stamps)):
		return v.untimed()
	}
	sufficient, conforms := v.suffices(), s.isBaseline() && v.isStamped(1, 1)
	switch {
	case conforms && sufficient && v.hasBaselineValues():
		return baseline + v.longTerm()
	case sufficient || v.refers():
		return extended + v.extendedLevel(sufficient)
	case conforms:
		return baseline + "T"
	}
	return extended + "T"
}

// untimed is the format of a signature without a timestamp.
func (v *verification) untimed() string {
	switch {
	case v.signs.isBaseline():
		return baseline + "B"
	case v.signs.hasPolicy():
		return extended + "EPES"
	}
	return extended + "BES"
}

// isStamped reports whether there is a timestamp from before the signer's certificate expired, and in each
// SignatureTimeStamp as many as these (EN 319 132-1 6.3, requirements n and o).
func (v *verification) isStamped(least, most int) bool {
	own := validation.Readable(v.stamps)
	for _, t := range own {
		if v.signer != nil && !t.Token.Time.Before(v.signer.NotAfter) {
			return false
		}
	}
	for _, property := range named(v.unsigned, "SignatureTimeStamp") {
		if !fit(counts{property, least, most, []string{"EncapsulatedTimeStamp"}}) {
			return false
		}
	}
	return len(own) > 0
}

// hasBaselineValues reports whether the validation data is what a baseline signature may have, and not referred
// to (EN 319 132-1 6.3).
func (v *verification) hasBaselineValues() bool {
	return fit(
		counts{v.unsigned, 0, 1, []string{"CertificateValues"}},
		counts{v.unsigned, 0, 1, []string{"RevocationValues"}},
		counts{v.unsigned, 0, 1, []string{"AttrAuthoritiesCertValues"}},
		counts{v.unsigned, 0, 1, []string{"AttributeRevocationValues"}},
	) && !v.has("CompleteCertificateRefs", "CompleteRevocationRefs") && !v.hasStampedReferences()
}

// longTerm is the level of a baseline signature with its validation data.
func (v *verification) longTerm() string {
	if len(validation.Readable(v.archives)) == 0 {
		return "LT"
	}
	return "LTA"
}

// extendedLevel is that of another signature that has its validation data, or refers to it.
func (v *verification) extendedLevel(sufficient bool) string {
	switch stamped := v.hasStampedReferences(); {
	case sufficient && len(validation.Readable(v.archives))+len(v.old) > 0:
		return "A"
	case sufficient && !v.refers():
		return "LT"
	case sufficient && stamped:
		return "XL"
	case stamped:
		return "X"
	}
	return "C"
}

// refers reports whether validation data is referred to.
func (v *verification) refers() bool {
	return v.has("CompleteCertificateRefs") && v.has("CompleteRevocationRefs")
}

// has reports whether there is one of these properties, in the first edition or, with V2 behind the name, in
// that of 1.4.1.
func (v *verification) has(locals ...string) bool {
	for e := range v.unsigned.Elements() {
		for _, local := range locals {
			if e.Is(ns132, local) || e.Is(ns141, local+"V2") {
				return true
			}
		}
	}
	return false
}

// hasStampedReferences reports whether there is a timestamp over references to validation data.
func (v *verification) hasStampedReferences() bool {
	return v.has("SigAndRefsTimeStamp", "RefsOnlyTimeStamp")
}

// suffices reports whether the data has what level LT needs for the signer and the timestamp authorities, but
// that of the last archive timestamp: what proves it comes with its renewal.
func (v *verification) suffices() bool {
	targets := validation.Targets(v.stamps)
	if v.signer != nil {
		targets = append(targets, validation.Target{Certificate: v.signer, BestSignatureTime: v.report.BestTime})
	}
	earlier := validation.Readable(v.archives)
	if len(earlier) > 0 {
		targets = append(targets, validation.Targets(earlier[:len(earlier)-1])...)
	}
	return v.unsigned != (xmldoc.Node{}) && v.data.Present(v.known, targets...)
}
