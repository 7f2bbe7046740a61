package xades

import (
	"strings"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

// formats are the DataObjectFormat properties (EN 319 132-1 5.2.4).
func (s *scope) formats() []xmldoc.Node {
	return named(at(s.shown, "SignedDataObjectProperties"), "DataObjectFormat")
}

// isFormat reports whether a DataObjectFormat says anything.
func isFormat(n xmldoc.Node) bool {
	for _, local := range []string{"Description", "ObjectIdentifier", "MimeType"} {
		if len(named(n, local)) == 1 {
			return true
		}
	}
	return false
}

// isBaselineFormat reports whether it says what a baseline signature asks for (requirement k).
func isBaselineFormat(n xmldoc.Node) bool {
	return fit(
		counts{n, 0, 1, []string{"Description"}},
		counts{n, 0, 1, []string{"ObjectIdentifier"}},
		counts{n, 1, 1, []string{"MimeType"}},
		counts{n, 0, 1, []string{"Encoding"}},
	)
}

// formatsFit reports whether each DataObjectFormat fits, and is of something that is signed.
func (s *scope) formatsFit(fits func(xmldoc.Node) bool) bool {
	for _, n := range s.formats() {
		if r := s.formatted(n); !fits(n) || r == nil || r.other {
			return false
		}
	}
	return true
}

// formatted is the reference that a DataObjectFormat is about; nil when there is none.
func (s *scope) formatted(n xmldoc.Node) *signedReference {
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
func agrees(n, object xmldoc.Node) bool {
	if !isObject(object) {
		return true
	}
	for _, name := range []string{"MimeType", "Encoding"} {
		own, said := object.Attr("", name)
		for _, e := range named(n, name) {
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
		if r := s.formatted(n); r != nil {
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
	return s.countersigns(r) || r.err == nil && r.target != (xmldoc.Node{}) && s.KeyInfo == r.target
}
