package xades

import (
	"bytes"
	"slices"

	"github.com/innsigli/innsigli/ades"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

// coverage is the signed or timestamped parts of a document. The key is the topmost element of each
// part, or none for the whole document.
type coverage map[xmldoc.Node][]xmldoc.Subset

// referenceTarget identifies what a reference digests, so that a thousand references to the same
// data count once.
type referenceTarget struct {
	apex  xmldoc.Node
	kinds string // of its transforms
}

// content is the number of nodes in an element, without white space and comments, and of the
// signatures among them.
type content struct{ nodes, signatures int }

// noteCoverage reports how much of the document the signature covers. A signature in the content of
// another one counts by the document as it was before that one. A counter-signature covers nothing
// of the document.
func (v *signatureValidation) noteCoverage() {
	top, within := v.documentOf()
	switch {
	case v.scope.isCounterSignature:
	case v.manifestIncomplete || v.scope.misplaced || !v.covers(top, within):
		v.report.Problems = append(v.report.Problems, "The signature does not cover the whole document.")
	case within == none:
		v.report.Coverage = ades.WholeDocument
	default:
		v.report.Coverage = ades.WholeRevision
	}
}

// documentOf returns the root of the document that the signature was made in, and the element of
// another signature around it now: an Object, or the content of a container that is signed. within
// is none if there is no such element.
func (s *signature) documentOf() (top, within xmldoc.Node) {
	for top = s.element; top.Parent() != none; top = top.Parent() {
		if isObject(top.Parent()) || s.enclosed && isContained(top.Parent()) {
			return top, top.Parent()
		}
	}
	return top, within
}

// covers reports whether the signature covers all of a document except the signatures in it; it
// also has to cover signatures with content that they do not sign. Comments do not count:
// references without an XPointer do not sign them.
func (v *signatureValidation) covers(top, within xmldoc.Node) bool {
	signed := v.scope.signed(func(r signedReference) bool { return r.digestMatches })
	for _, n := range v.withUnsignedContent {
		if !signed.has(n) {
			return false
		}
	}
	if within == none {
		return len(signed[none]) > 0 || v.coversNode(signed, top) && !v.instructions()
	}
	return v.content(within).nodes == 1 && v.coversNode(signed, top)
}

// coversNode reports whether the root of a document, or the element in a container, is signed.
func (v *signatureValidation) coversNode(signed coverage, n xmldoc.Node) bool {
	switch {
	case signed.has(n):
		return true
	case n == v.element:
		// One is enough: with an unsigned Object, hasUnsignedContent would be true for v.
		return slices.ContainsFunc(v.otherObjects(), signed.hasTarget)
	}
	return isContainer(n) && v.coversContent(signed, n)
}

// coversContent reports whether all content of a container except its signatures is signed. It
// counts instead of looking at each node, because a container of many signatures may have millions.
func (v *signatureValidation) coversContent(signed coverage, container xmldoc.Node) bool {
	some, has := false, v.content(container)
	left := has.nodes - has.signatures
	for n := range signed {
		if n.Parent() == container {
			some = true
		}
		if n.Parent() == container && !isSignature(n) {
			left--
		}
	}
	return some && left == 0
}

func (i *inspection) content(n xmldoc.Node) content {
	has, known := i.contents[n]
	if !known {
		for child := range n.Children() {
			if !isEmpty(child) {
				has.nodes++
			}
			if isSignature(child) {
				has.signatures++
			}
		}
		i.contents[n] = has
	}
	return has
}

// signed returns the coverage of the references that counts accepts. A reference that ends in the
// Base64 transform signs only the text of its target, so it counts only for an Object of the
// signature that has nothing but text.
func (s *scope) signed(counts func(signedReference) bool) coverage {
	c, seen := make(coverage), make(map[referenceTarget]bool)
	for _, r := range s.references {
		if !counts(r) || isDecoded(r) && !s.isPlain(r) {
			continue
		}
		subset, err := s.Covers(r.Reference)
		if p := (referenceTarget{subset.Apex, transformKinds(r.Reference)}); err == nil && !seen[p] {
			seen[p] = true
			c[subset.Apex] = append(c[subset.Apex], subset)
		}
	}
	return c
}

// isPlain reports whether the target of a reference is an Object of the signature that has only
// text and its own attributes, without conflict with its DataObjectFormat.
func (s *scope) isPlain(r signedReference) bool {
	if !isObject(r.target) || r.target.Parent() != s.element || r.formatConflict {
		return false
	}
	plain, known := s.plain[r.target]
	if !known {
		plain = hasOnlyObjectAttributes(r.target) && hasOnlyText(r.target)
		s.plain[r.target] = plain
	}
	return plain
}

func isDecoded(r signedReference) bool {
	last := len(r.Transforms) - 1
	return last >= 0 && r.Transforms[last].Kind == xmldsig.Base64
}

// markEnclosed sets enclosed for the signatures whose unsigned properties are signed or
// timestamped, as in the signed content of another signature.
func markEnclosed(all []signature) {
	c := make(coverage)
	for i := range all {
		if all[i].Signature != nil {
			c.add(&all[i])
		}
	}
	for i := range all {
		all[i].enclosed = c.has(all[i].unsignedParent())
	}
}

// add adds what a signature signs, and the Objects that its archive timestamps are over.
func (c coverage) add(s *signature) {
	seen := make(map[referenceTarget]bool)
	for _, r := range s.References {
		subset, err := s.Covers(r)
		if err != nil {
			continue // a reference without a target signs nothing
		}
		if p := (referenceTarget{subset.Apex, transformKinds(r)}); !seen[p] {
			seen[p] = true
			c[subset.Apex] = append(c[subset.Apex], subset)
		}
	}
	if len(s.archiveTimestamps)+len(s.archiveTimestamps132) == 0 {
		return
	}
	for _, object := range s.otherObjects() {
		c[object] = append(c[object], xmldoc.Subset{Apex: object})
	}
}

// has reports whether a node is covered: by the node itself, or by an element around it, unless
// that part leaves out a signature that the node is in.
func (c coverage) has(n xmldoc.Node) bool {
	var signatures []xmldoc.Node // around n, and n itself
	for {
		if n.Is(xmldsig.Namespace, "Signature") {
			signatures = append(signatures, n)
		}
		stays := func(s xmldoc.Subset) bool { return s.Without == nil || !slices.ContainsFunc(signatures, s.Without) }
		if slices.ContainsFunc(c[n], stays) {
			return true
		}
		if n == none {
			return false
		}
		n = n.Parent()
	}
}

// hasTarget reports whether a node itself is the target of a reference, and not only an element
// around it.
func (c coverage) hasTarget(n xmldoc.Node) bool { return len(c[n]) > 0 }

// transformKinds returns the kinds of a reference's transforms, each once. They decide what the
// reference leaves out.
func transformKinds(r xmldsig.Reference) string {
	var kinds []byte
	for _, t := range r.Transforms {
		kinds = append(kinds, byte(t.Kind))
	}
	slices.Sort(kinds)
	return string(slices.Compact(kinds))
}

// hasUnsignedContent reports whether a signature element has content that it does not sign and that
// is no part of a signature. Other signatures leave the signature element out, so no signature
// covers that content, but a reader that looks for an element by its name may find it there.
func (s *scope) hasUnsignedContent() bool {
	if s.Signature == nil {
		return false
	}
	signed := s.signed(func(r signedReference) bool { return r.targetErr == nil })
	mayHold := func(n xmldoc.Node) bool { return n == s.qualifying || signed.hasTarget(n) }
	for _, object := range s.Objects {
		if !signed.has(object) && !(hasOnlyObjectAttributes(object) && hasOnlyChildren(object, mayHold)) {
			return true
		}
	}
	return !hasOnlyAttributes(s.element, "Id") || !hasOnlyAttributes(s.SignatureValue, "Id") || !hasOnlyChildren(s.element, isElement) ||
		!signed.has(s.KeyInfo) && !hasOnlyKeys(s.KeyInfo) ||
		!signed.has(s.qualifying) && !s.hasOnlyProperties()
}

// hasOnlyProperties reports whether the QualifyingProperties have only properties of the signature
// (EN 319 132-1 4.3). Unsigned properties of data objects do not count as such: no signature covers
// what they state about the data.
func (s *scope) hasOnlyProperties() bool {
	for n := range s.unsigned.Elements() {
		if n.Is(ns132, "CounterSignature") && !(hasOnlyAttributes(n, "Id") && hasOnlyChildren(n, isSignature)) {
			return false
		}
	}
	unsigned := elementAt(s.qualifying, "UnsignedProperties")
	return hasOnlyAttributes(s.qualifying, "Id", "Target") && hasOnlyChildren(s.qualifying, isProperties) &&
		hasOnlyAttributes(unsigned, "Id") && hasOnlyChildren(unsigned, isOfSignature) &&
		hasOnlyAttributes(s.unsigned, "Id") && hasOnlyChildren(s.unsigned, isUnsignedProperty)
}

func isProperties(n xmldoc.Node) bool {
	return n.Is(ns132, "SignedProperties") || n.Is(ns132, "UnsignedProperties")
}

func isOfSignature(n xmldoc.Node) bool { return n.Is(ns132, "UnsignedSignatureProperties") }

// isUnsignedProperty reports whether an element is an unsigned property of a signature: one of
// XAdES, or one in a foreign namespace, which the schema permits.
func isUnsignedProperty(n xmldoc.Node) bool {
	switch name := n.Name(); {
	case !isElement(n), name.Space == "", name.Space == xmldsig.Namespace:
		return false
	case name.Space != ns132:
		return true
	default:
		return isUnsignedName(name.Local)
	}
}

// isUnsignedName reports whether XAdES 1.3.2 defines an unsigned property of that name (EN 319
// 132-1 5.2.7, 5.3 to 5.5, A).
func isUnsignedName(local string) bool {
	switch local {
	case "CounterSignature", "SignatureTimeStamp", "CertificateValues", "RevocationValues", "ArchiveTimeStamp",
		"AttrAuthoritiesCertValues", "AttributeRevocationValues", "CompleteCertificateRefs", "CompleteRevocationRefs",
		"AttributeCertificateRefs", "AttributeRevocationRefs", "SigAndRefsTimeStamp", "RefsOnlyTimeStamp":
		return true
	}
	return false
}

// hasOnlyKeys reports whether a KeyInfo has only elements that identify a key. The schema permits
// anything in it.
func hasOnlyKeys(info xmldoc.Node) bool {
	if !hasOnlyAttributes(info, "Id") || !hasOnlyChildren(info, isElement) {
		return false
	}
	for n := range info.Descendants() {
		if !isOfKey(n.Name()) || !hasOnlyAttributes(n, "Id", "URI", "Type", "Algorithm", "Encoding") {
			return false
		}
	}
	return true
}

// ns11 is the namespace of the KeyInfo elements that XML Signature 1.1 adds.
const ns11 = "http://www.w3.org/2009/xmldsig11#"

// isOfKey reports whether a name is that of an element for keys (xmldsig-core1 4.6).
func isOfKey(name xmldoc.Name) bool {
	if name.Space != xmldsig.Namespace {
		return name.Space == ns11
	}
	switch name.Local {
	case "KeyName", "KeyValue", "RetrievalMethod", "X509Data", "PGPData", "SPKIData", "MgmtData",
		"DSAKeyValue", "P", "Q", "G", "Y", "J", "Seed", "PgenCounter", "RSAKeyValue", "Modulus", "Exponent",
		"Transforms", "Transform", "XPath", "X509IssuerSerial", "X509IssuerName", "X509SerialNumber",
		"X509SKI", "X509SubjectName", "X509Certificate", "X509CRL", "PGPKeyID", "PGPKeyPacket", "SPKISexp":
		return true
	}
	return false
}

// hasOnlyAttributes reports whether all attributes of an element are among names and in no
// namespace.
func hasOnlyAttributes(n xmldoc.Node, names ...string) bool {
	for name := range n.Attributes() {
		if name.Space != "" || !slices.Contains(names, name.Local) {
			return false
		}
	}
	return true
}

// hasOnlyObjectAttributes reports whether all attributes are those of an Object (xmldsig-core1
// 4.5).
func hasOnlyObjectAttributes(n xmldoc.Node) bool {
	return hasOnlyAttributes(n, "Id", "MimeType", "Encoding")
}

// hasOnlyChildren reports whether all children of an element belong there, except white space and
// comments.
func hasOnlyChildren(n xmldoc.Node, belongs func(xmldoc.Node) bool) bool {
	for child := range n.Children() {
		if !isEmpty(child) && !belongs(child) {
			return false
		}
	}
	return true
}

func hasOnlyText(n xmldoc.Node) bool {
	for child := range n.Children() {
		if child.Kind() != xmldoc.Text {
			return false
		}
	}
	return true
}

func isElement(n xmldoc.Node) bool { return n.Kind() == xmldoc.Element }

func isObject(n xmldoc.Node) bool {
	return n.Is(xmldsig.Namespace, "Object") && isSignature(n.Parent())
}

// isContained reports whether an element is the one in a container that has the signed document as
// its content.
func isContained(n xmldoc.Node) bool {
	return n.Is("", containedName) && isContainer(n.Parent())
}

// isContainer reports whether an element is the root element that [InternallyDetached] adds. It is
// not signed itself, so it may have no attributes and no namespace declarations.
func isContainer(n xmldoc.Node) bool {
	return n.Is("", containerName) && n.AttributeCount() == 0
}

func isEmpty(n xmldoc.Node) bool {
	switch n.Kind() {
	case xmldoc.Comment:
		return true
	case xmldoc.Text:
		for piece := range n.Pieces() {
			if len(bytes.Trim(piece, " \t\r\n")) > 0 {
				return false
			}
		}
		return true
	}
	return false
}

// hasInstructions reports whether processing instructions stand beside the root, such as one for a
// stylesheet.
func hasInstructions(d *xmldoc.Document) bool {
	var found writeDetector
	root := func(n xmldoc.Node) bool { return n == d.Root() }
	err := d.Canonicalize(&found, exclusive, xmldoc.Subset{Without: root})
	return err != nil || bool(found)
}

// writeDetector is a writer that records whether anything was written to it.
type writeDetector bool

func (s *writeDetector) Write(b []byte) (int, error) {
	*s = *s || len(b) > 0
	return len(b), nil
}
