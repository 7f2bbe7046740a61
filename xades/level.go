package xades

import (
	"slices"
	"strings"

	"github.com/innsigli/innsigli/internal/pki/validation"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

// Formats of signatures, as EU DSS names them: one of the first two and the level, or the third.
const (
	formatBaseline = "XAdES-BASELINE-"
	formatExtended = "XAdES-"
	formatNotETSI  = "XML-NOT-ETSI"
)

// cardinality is how often a property may occur in parent. A property that XAdES has in two
// versions has two names, and the occurrences of both count.
type cardinality struct {
	parent      xmldoc.Node
	least, most int
	names       []string
}

// format returns the name of the signature's format with its level. The level depends on which
// properties are present, and not on their validity, which the report states. Each level of a
// baseline signature (EN 319 132-1 6.3) requires the levels below; other signatures have the levels
// of XAdES-E (EN 319 132-2).
func (v *signatureValidation) format() string {
	s := &v.scope
	switch {
	case !s.isETSI():
		return formatNotETSI
	case !v.hasTimestamps(1, len(v.validatedTimestamps)):
		return v.formatWithoutTimestamp()
	}
	sufficient, conforms := v.hasLongTermData(), s.isBaseline() && v.hasTimestamps(1, 1)
	switch {
	case conforms && sufficient && v.hasBaselineValues():
		return formatBaseline + v.baselineLongTermLevel()
	case sufficient || v.hasReferences():
		return formatExtended + v.extendedLevel(sufficient)
	case conforms:
		return formatBaseline + "T"
	}
	return formatExtended + "T"
}

func (v *signatureValidation) formatWithoutTimestamp() string {
	switch {
	case v.scope.isBaseline():
		return formatBaseline + "B"
	case v.scope.hasPolicy():
		return formatExtended + "EPES"
	}
	return formatExtended + "BES"
}

// baselineLongTermLevel returns the level of a baseline signature that has its validation data.
func (v *signatureValidation) baselineLongTermLevel() string {
	if len(readable(v.validatedArchiveTimestamps)) == 0 {
		return "LT"
	}
	return "LTA"
}

// extendedLevel returns the level of another signature that has its validation data, or references
// to it.
func (v *signatureValidation) extendedLevel(sufficient bool) string {
	switch stamped := v.hasTimestampedReferences(); {
	case sufficient && len(readable(v.validatedArchiveTimestamps))+len(v.archiveTimestamps132) > 0:
		return "A"
	case sufficient && !v.hasReferences():
		return "LT"
	case sufficient && stamped:
		return "XL"
	case stamped:
		return "X"
	}
	return "C"
}

// hasTimestamps reports whether the signature has a signature timestamp, all of its signature
// timestamps are from before the expiry of the signer's certificate, and each SignatureTimeStamp
// has from least to most EncapsulatedTimeStamps (EN 319 132-1 6.3, requirements n and o).
func (v *signatureValidation) hasTimestamps(least, most int) bool {
	own := readable(v.validatedTimestamps)
	for _, t := range own {
		if v.signer != nil && !t.Token.Time.Before(v.signer.NotAfter) {
			return false
		}
	}
	for _, property := range childrenNamed(v.unsigned, "SignatureTimeStamp") {
		if !satisfied(cardinality{property, least, most, []string{"EncapsulatedTimeStamp"}}) {
			return false
		}
	}
	return len(own) > 0
}

// hasBaselineValues reports whether the signature has its validation data in the properties of a
// baseline signature, and no references to validation data (EN 319 132-1 6.3).
func (v *signatureValidation) hasBaselineValues() bool {
	return satisfied(
		cardinality{v.unsigned, 0, 1, []string{"CertificateValues"}},
		cardinality{v.unsigned, 0, 1, []string{"RevocationValues"}},
		cardinality{v.unsigned, 0, 1, []string{"AttrAuthoritiesCertValues"}},
		cardinality{v.unsigned, 0, 1, []string{"AttributeRevocationValues"}},
	) && !v.hasProperty("CompleteCertificateRefs", "CompleteRevocationRefs") && !v.hasTimestampedReferences()
}

// hasReferences reports whether the signature has references to its validation data.
func (v *signatureValidation) hasReferences() bool {
	return v.hasProperty("CompleteCertificateRefs") && v.hasProperty("CompleteRevocationRefs")
}

// hasTimestampedReferences reports whether there is a timestamp over references to validation data.
func (v *signatureValidation) hasTimestampedReferences() bool {
	return v.hasProperty("SigAndRefsTimeStamp", "RefsOnlyTimeStamp")
}

// hasProperty reports whether the signature has one of these unsigned properties: by its name in
// XAdES 1.3.2, or by its name with the suffix V2 in XAdES 1.4.1.
func (v *signatureValidation) hasProperty(locals ...string) bool {
	for e := range v.unsigned.Elements() {
		for _, local := range locals {
			if e.Is(ns132, local) || e.Is(ns141, local+"V2") {
				return true
			}
		}
	}
	return false
}

// hasLongTermData reports whether the signature has the validation data of level LT for the signer
// and for the timestamp authorities. It does not require the data for the last archive timestamp,
// which the next renewal adds.
func (v *signatureValidation) hasLongTermData() bool {
	targets := validation.Targets(readable(v.validatedTimestamps))
	if v.signer != nil {
		targets = append(targets, validation.Target{Certificate: v.signer, BestSignatureTime: v.report.BestTime})
	}
	earlier := readable(v.validatedArchiveTimestamps)
	if len(earlier) > 0 {
		targets = append(targets, validation.Targets(earlier[:len(earlier)-1])...)
	}
	return v.unsigned != none && v.validationData.Present(v.knownWithSignature, targets...)
}

// isETSI reports whether EU DSS recognizes the properties as those of an XAdES signature: each
// occurs at most once (EN 319 132-2 4.2), and the signed data names or contains the signer's
// certificate.
func (s *scope) isETSI() bool {
	about := elementAt(s.formatProperties, "SignedSignatureProperties")
	certificates := len(childrenNamed(about, "SigningCertificate", "SigningCertificateV2"))
	return satisfied(
		cardinality{about, 0, 1, []string{"SigningTime"}},
		cardinality{about, 0, 1, []string{"SignatureProductionPlace", "SignatureProductionPlaceV2"}},
		cardinality{about, 0, 1, []string{"SignerRole", "SignerRoleV2"}},
	) && (certificates == 1 || certificates == 0 && s.signsSignerCertificate()) && s.allFormats(isFormat)
}

// isBaseline reports whether the signature meets the requirements of level B of a baseline
// signature (EN 319 132-1 6.3).
func (s *scope) isBaseline() bool {
	about := elementAt(s.formatProperties, "SignedSignatureProperties")
	for _, cert := range childrenNamed(elementAt(about, "SigningCertificateV2"), "Cert") {
		if _, ok := cert.Attr("", "URI"); ok {
			return false // requirement i
		}
	}
	return len(s.References) >= 2 && s.hasSignerCertificate() && len(s.archiveTimestamps132) == 0 && satisfied(
		cardinality{about, 1, 1, []string{"SigningTime"}},
		cardinality{about, 1, 1, []string{"SigningCertificate", "SigningCertificateV2"}},
		cardinality{about, 0, 1, []string{"SignaturePolicyIdentifier"}},
	) && s.allFormats(isBaselineFormat) && s.allHaveFormats()
}

// hasPolicy reports whether the signature names its signature policy. If it is no baseline
// signature, it is XAdES-EPES then.
func (s *scope) hasPolicy() bool {
	policy := childrenNamed(elementAt(s.formatProperties, "SignedSignatureProperties"), "SignaturePolicyIdentifier")
	if len(policy) != 1 {
		return false
	}
	for e := range s.unsigned.Elements() {
		if e.Is(ns141, "SignaturePolicyStore") {
			return elementAt(policy[0], "SignaturePolicyId", "SigPolicyHash") != none
		}
	}
	return true
}

// signsSignerCertificate reports whether KeyInfo is signed and has the signer's certificate.
func (s *scope) signsSignerCertificate() bool {
	for _, r := range s.references {
		if r.targetErr == nil && s.KeyInfo != none && r.target == s.KeyInfo {
			return s.hasSignerCertificate()
		}
	}
	return false
}

// hasSignerCertificate reports whether the signer's certificate is in KeyInfo, even if it is named
// but cannot be parsed.
func (s *scope) hasSignerCertificate() bool {
	for _, der := range s.Unparsed[:min(len(s.Unparsed), maxNamed)] {
		if slices.ContainsFunc(certificateNames(s.formatProperties), func(cert xmldoc.Node) bool { return digestOf(cert).matches(der) }) {
			return true
		}
	}
	for _, c := range s.Certificates {
		if s.signer != nil && c.Equal(s.signer) {
			return true
		}
	}
	return false
}

// formats returns the DataObjectFormat properties (EN 319 132-1 5.2.4).
func (s *scope) formats() []xmldoc.Node {
	return childrenNamed(elementAt(s.formatProperties, "SignedDataObjectProperties"), "DataObjectFormat")
}

// isFormat reports whether a DataObjectFormat has a Description, an ObjectIdentifier or a MimeType,
// and that one only once.
func isFormat(n xmldoc.Node) bool {
	for _, local := range []string{"Description", "ObjectIdentifier", "MimeType"} {
		if len(childrenNamed(n, local)) == 1 {
			return true
		}
	}
	return false
}

// isBaselineFormat reports whether a DataObjectFormat has what a baseline signature requires (EN
// 319 132-1 6.3, requirement k).
func isBaselineFormat(n xmldoc.Node) bool {
	return satisfied(
		cardinality{n, 0, 1, []string{"Description"}},
		cardinality{n, 0, 1, []string{"ObjectIdentifier"}},
		cardinality{n, 1, 1, []string{"MimeType"}},
		cardinality{n, 0, 1, []string{"Encoding"}},
	)
}

// allFormats reports whether fits accepts each DataObjectFormat, and each is about a reference
// without a conflict.
func (s *scope) allFormats(fits func(xmldoc.Node) bool) bool {
	for _, n := range s.formats() {
		if r := s.formatReference(n); !fits(n) || r == nil || r.formatConflict {
			return false
		}
	}
	return true
}

// formatReference returns the reference that a DataObjectFormat is about; nil if there is none.
func (s *scope) formatReference(n xmldoc.Node) *signedReference {
	reference, _ := n.Attr("", "ObjectReference")
	id, same := strings.CutPrefix(reference, "#")
	if !same || id == "" {
		return nil
	}
	if i, ok := s.byID[id]; ok {
		return &s.references[i]
	}
	return nil
}

// objectFormat is what the attributes of an Object state about its content; empty if they do not.
type objectFormat struct{ mimeType, encoding string }

func formatOf(object xmldoc.Node) (f objectFormat) {
	if isObject(object) {
		f.mimeType, _ = object.Attr("", "MimeType")
		f.encoding, _ = object.Attr("", "Encoding")
	}
	return f
}

// agreesWith reports whether a DataObjectFormat states the same.
func (f objectFormat) agreesWith(n xmldoc.Node) bool {
	agree := func(own, name string) bool {
		differs := func(e xmldoc.Node) bool { return e.Text() != own }
		return own == "" || !slices.ContainsFunc(childrenNamed(n, name), differs)
	}
	return agree(f.mimeType, "MimeType") && agree(f.encoding, "Encoding")
}

// allHaveFormats reports whether there is a DataObjectFormat for each reference of SignedInfo,
// except for the signature's own parts (EN 319 132-1 6.3, requirement k). The references of a
// Manifest may have one.
func (s *scope) allHaveFormats() bool {
	has := make(map[xmldoc.Node]bool)
	for _, n := range s.formats() {
		if r := s.formatReference(n); r != nil {
			has[r.Element] = true
		}
	}
	for _, r := range s.references {
		if r.Element.Parent() == s.SignedInfo && !has[r.Element] && !s.isExempt(r) {
			return false
		}
	}
	return true
}

// isExempt reports whether a reference needs no DataObjectFormat.
func (s *scope) isExempt(r signedReference) bool {
	if strings.HasPrefix(r.Type, editions) && strings.HasSuffix(r.Type, "#SignedProperties") {
		return strings.HasPrefix(r.URI, "#") // SignedProperties of another version of XAdES
	}
	switch strings.TrimPrefix(r.Type, xmldsig.Namespace) {
	case propertiesType, countersignedType, "Manifest", "SignatureProperties":
		return true
	}
	return s.countersigns(r) || r.targetErr == nil && r.target != none && s.KeyInfo == r.target
}

func satisfied(all ...cardinality) bool {
	for _, c := range all {
		if !c.isSatisfied() {
			return false
		}
	}
	return true
}

func (c cardinality) isSatisfied() bool {
	n := len(childrenNamed(c.parent, c.names...))
	return n >= c.least && n <= c.most
}

// childrenNamed returns the child elements that have one of these names, in the namespace of n.
func childrenNamed(n xmldoc.Node, locals ...string) []xmldoc.Node {
	var all []xmldoc.Node
	for e := range n.Elements() {
		for _, local := range locals {
			if e.Is(n.Name().Space, local) {
				all = append(all, e)
			}
		}
	}
	return all
}
