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

// counts says how often a property that there are two editions of may be there.
type cardinality struct {
	parent      xmldoc.Node
	least, most int
	names       []string
}

// format is the name of the signature's format with its level, which is what the signature has: whether a
// timestamp is there, not whether it is any good, which its report says. Of a baseline signature (EN 319
// 132-1 6.3) each level asks for what is below it; the levels of XAdES-E (EN 319 132-2) are of all others.
func (v *verification) format() string {
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

// untimed is the format of a signature without a timestamp.
func (v *verification) formatWithoutTimestamp() string {
	switch {
	case v.scope.isBaseline():
		return formatBaseline + "B"
	case v.scope.hasPolicy():
		return formatExtended + "EPES"
	}
	return formatExtended + "BES"
}

// longTerm is the level of a baseline signature with its validation data.
func (v *verification) baselineLongTermLevel() string {
	if len(validation.Readable(v.validatedArchiveTimestamps)) == 0 {
		return "LT"
	}
	return "LTA"
}

// extendedLevel is that of another signature that has its validation data, or refers to it.
func (v *verification) extendedLevel(sufficient bool) string {
	switch stamped := v.hasTimestampedReferences(); {
	case sufficient && len(validation.Readable(v.validatedArchiveTimestamps))+len(v.archiveTimestamps132) > 0:
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

// hasTimestamps reports whether there is a timestamp from before the signer's certificate expired, and in each
// SignatureTimeStamp as many as these (EN 319 132-1 6.3, requirements n and o).
func (v *verification) hasTimestamps(least, most int) bool {
	own := validation.Readable(v.validatedTimestamps)
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

// hasBaselineValues reports whether the validation data is what a baseline signature may have, and not referred
// to (EN 319 132-1 6.3).
func (v *verification) hasBaselineValues() bool {
	return satisfied(
		cardinality{v.unsigned, 0, 1, []string{"CertificateValues"}},
		cardinality{v.unsigned, 0, 1, []string{"RevocationValues"}},
		cardinality{v.unsigned, 0, 1, []string{"AttrAuthoritiesCertValues"}},
		cardinality{v.unsigned, 0, 1, []string{"AttributeRevocationValues"}},
	) && !v.hasProperty("CompleteCertificateRefs", "CompleteRevocationRefs") && !v.hasTimestampedReferences()
}

// refers reports whether validation data is referred to.
func (v *verification) hasReferences() bool {
	return v.hasProperty("CompleteCertificateRefs") && v.hasProperty("CompleteRevocationRefs")
}

// hasTimestampedReferences reports whether there is a timestamp over references to validation data.
func (v *verification) hasTimestampedReferences() bool {
	return v.hasProperty("SigAndRefsTimeStamp", "RefsOnlyTimeStamp")
}

// has reports whether there is one of these properties, in the first edition or, with V2 behind the name, in
// that of 1.4.1.
func (v *verification) hasProperty(locals ...string) bool {
	for e := range v.unsigned.Elements() {
		for _, local := range locals {
			if e.Is(ns132, local) || e.Is(ns141, local+"V2") {
				return true
			}
		}
	}
	return false
}

// suffices reports whether the data has what level LT needs for the signer and the timestamp authorities, but
// that of the last archive timestamp: what proves it comes with its renewal.
func (v *verification) hasLongTermData() bool {
	targets := validation.Targets(v.validatedTimestamps)
	if v.signer != nil {
		targets = append(targets, validation.Target{Certificate: v.signer, BestSignatureTime: v.report.BestTime})
	}
	earlier := validation.Readable(v.validatedArchiveTimestamps)
	if len(earlier) > 0 {
		targets = append(targets, validation.Targets(earlier[:len(earlier)-1])...)
	}
	return v.unsigned != none && v.validationData.Present(v.known, targets...)
}

// isETSI reports whether the properties are those of an XAdES signature, as EU DSS judges it: each at most once
// (EN 319 132-2 4.2), and who signed among what is signed.
func (s *scope) isETSI() bool {
	about := elementAt(s.formatProperties, "SignedSignatureProperties")
	certificates := len(childrenNamed(about, "SigningCertificate", "SigningCertificateV2"))
	return satisfied(
		cardinality{about, 0, 1, []string{"SigningTime"}},
		cardinality{about, 0, 1, []string{"SignatureProductionPlace", "SignatureProductionPlaceV2"}},
		cardinality{about, 0, 1, []string{"SignerRole", "SignerRoleV2"}},
	) && (certificates == 1 || certificates == 0 && s.signsSignerCertificate()) && s.allFormats(isFormat)
}

// isBaseline reports whether the signature has what level B of a baseline signature asks for, and nothing that
// it excludes (EN 319 132-1 6.3).
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

// hasPolicy reports whether the signature names the policy that it was made by, which makes it one of XAdES-EPES
// unless it is a baseline signature.
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

// signsSigner reports whether KeyInfo is signed and has the signer's certificate.
func (s *scope) signsSignerCertificate() bool {
	for _, r := range s.references {
		if r.err == nil && s.KeyInfo != none && r.target == s.KeyInfo {
			return s.hasSignerCertificate()
		}
	}
	return false
}

// hasSigner reports whether the signer's certificate is in KeyInfo, if only as one that is named and cannot be parsed.
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

// formats are the DataObjectFormat properties (EN 319 132-1 5.2.4).
func (s *scope) formats() []xmldoc.Node {
	return childrenNamed(elementAt(s.formatProperties, "SignedDataObjectProperties"), "DataObjectFormat")
}

// isFormat reports whether a DataObjectFormat says anything.
func isFormat(n xmldoc.Node) bool {
	for _, local := range []string{"Description", "ObjectIdentifier", "MimeType"} {
		if len(childrenNamed(n, local)) == 1 {
			return true
		}
	}
	return false
}

// isBaselineFormat reports whether it says what a baseline signature asks for (requirement k).
func isBaselineFormat(n xmldoc.Node) bool {
	return satisfied(
		cardinality{n, 0, 1, []string{"Description"}},
		cardinality{n, 0, 1, []string{"ObjectIdentifier"}},
		cardinality{n, 1, 1, []string{"MimeType"}},
		cardinality{n, 0, 1, []string{"Encoding"}},
	)
}

// formatsFit reports whether each DataObjectFormat fits, and is of something that is signed.
func (s *scope) allFormats(fits func(xmldoc.Node) bool) bool {
	for _, n := range s.formats() {
		if r := s.formatReference(n); !fits(n) || r == nil || r.formatConflict {
			return false
		}
	}
	return true
}

// formatted is the reference that a DataObjectFormat is about; nil when there is none.
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

// agrees reports whether an Object says of itself what the DataObjectFormat says of it, if it says anything.
func agreesWithObject(n, object xmldoc.Node) bool {
	if !isObject(object) {
		return true
	}
	for _, name := range []string{"MimeType", "Encoding"} {
		own, said := object.Attr("", name)
		for _, e := range childrenNamed(n, name) {
			if said && own != "" && e.Text() != own {
				return false
			}
		}
	}
	return true
}

// allHaveFormats reports whether there is a DataObjectFormat for all that is signed but the signature's own
// parts (requirement k). What a Manifest lists may have one.
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

// isExempt reports whether a reference is to something that needs no DataObjectFormat.
func (s *scope) isExempt(r signedReference) bool {
	if strings.HasPrefix(r.Type, editions) && strings.HasSuffix(r.Type, "#SignedProperties") {
		return strings.HasPrefix(r.URI, "#") // in earlier editions
	}
	switch strings.TrimPrefix(r.Type, xmldsig.Namespace) {
	case propertiesType, countersignedType, "Manifest", "SignatureProperties":
		return true
	}
	return s.countersigns(r) || r.err == nil && r.target != none && s.KeyInfo == r.target
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

// named are the child elements of an element of XAdES that have one of these names, in the same edition.
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
