package xades

import (
	"slices"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// named are the child elements of an element of XAdES that have one of these names, in the same edition.
func named(n xmldoc.Node, locals ...string) []xmldoc.Node {
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

// counts says how often a property that there are two editions of may be there.
type counts struct {
	about       xmldoc.Node
	least, most int
	names       []string
}

func (c counts) fit() bool {
	n := len(named(c.about, c.names...))
	return n >= c.least && n <= c.most
}

func fit(all ...counts) bool {
	for _, c := range all {
		if !c.fit() {
			return false
		}
	}
	return true
}

// isETSI reports whether the properties are those of an XAdES signature, as EU DSS judges it: each at most once
// (EN 319 132-2 4.2), and who signed among what is signed.
func (s *scope) isETSI() bool {
	about := at(s.shown, "SignedSignatureProperties")
	certificates := len(named(about, "SigningCertificate", "SigningCertificateV2"))
	return fit(
		counts{about, 0, 1, []string{"SigningTime"}},
		counts{about, 0, 1, []string{"SignatureProductionPlace", "SignatureProductionPlaceV2"}},
		counts{about, 0, 1, []string{"SignerRole", "SignerRoleV2"}},
	) && (certificates == 1 || certificates == 0 && s.signsSigner()) && s.formatsFit(isFormat)
}

// signsSigner reports whether KeyInfo is signed and has the signer's certificate.
func (s *scope) signsSigner() bool {
	for _, r := range s.references {
		if r.err == nil && s.KeyInfo != (xmldoc.Node{}) && r.target == s.KeyInfo {
			return s.hasSigner()
		}
	}
	return false
}

// hasSigner reports whether the signer's certificate is in KeyInfo, if only as one that is named and cannot be parsed.
func (s *scope) hasSigner() bool {
	for _, der := range s.Unparsed[:min(len(s.Unparsed), maxNamed)] {
		if slices.ContainsFunc(certificateNames(s.shown), func(cert xmldoc.Node) bool { return digestOf(cert).fits(der) }) {
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

// isBaseline reports whether the signature has what level B of a baseline signature asks for, and nothing that
// it excludes (EN 319 132-1 6.3).
func (s *scope) isBaseline() bool {
	about := at(s.shown, "SignedSignatureProperties")
	for _, cert := range named(at(about, "SigningCertificateV2"), "Cert") {
		if _, ok := cert.Attr("", "URI"); ok {
			return false // requirement i
		}
	}
	return len(s.References) >= 2 && s.hasSigner() && len(s.old) == 0 && fit(
		counts{about, 1, 1, []string{"SigningTime"}},
		counts{about, 1, 1, []string{"SigningCertificate", "SigningCertificateV2"}},
		counts{about, 0, 1, []string{"SignaturePolicyIdentifier"}},
	) && s.formatsFit(isBaselineFormat) && s.allHaveFormats()
}

// hasPolicy reports whether the signature names the policy that it was made by, which makes it one of XAdES-EPES
// unless it is a baseline signature.
func (s *scope) hasPolicy() bool {
	policy := named(at(s.shown, "SignedSignatureProperties"), "SignaturePolicyIdentifier")
	if len(policy) != 1 {
		return false
	}
	for e := range s.unsigned.Elements() {
		if e.Is(ns141, "SignaturePolicyStore") {
			return at(policy[0], "SignaturePolicyId", "SigPolicyHash") != (xmldoc.Node{})
		}
	}
	return true
}
