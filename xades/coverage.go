package xades

import (
	"bytes"
	"slices"

	"github.com/innsigli/innsigli/ades"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

// covered is what of a document is signed or timestamped, by the element at the top of it (zero: the whole
// document).
type coverage map[xmldoc.Node][]xmldoc.Subset

// part is what a reference leads to. A thousand references may lead to the same.
type referenceTarget struct {
	apex  xmldoc.Node
	kinds string // of transforms
}

// content is how much there is in an element but white space and comments.
type content struct{ nodes, signatures int }

// noteCoverage says how much of the document the signature signs. One in the content of another signature
// is judged by the document as it was before that. A counter-signature says nothing of the document.
func (v *verification) noteCoverage() {
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

// topOf is the root of the document that the signature was made in, and what of another signature it is in
// now: an Object, or the content of a container that is signed. It is zero when there is none.
func (s *signature) documentOf() (top, within xmldoc.Node) {
	for top = s.element; top.Parent() != none; top = top.Parent() {
		if isObject(top.Parent()) || s.enclosed && isContained(top.Parent()) {
			return top, top.Parent()
		}
	}
	return top, within
}

// covers reports whether all of a document is signed but signatures, and signatures too that carry what they do not
// sign. Comments say nothing, and are not signed by references without XPointer.
func (v *verification) covers(top, within xmldoc.Node) bool {
	signed := v.scope.signed(func(r signedReference) bool { return r.valid })
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

// coversNode reports whether the root of a document, or what is in a container, is signed.
func (v *verification) coversNode(signed coverage, n xmldoc.Node) bool {
	switch {
	case signed.has(n):
		return true
	case n == v.element:
		return slices.ContainsFunc(v.otherObjects(), signed.hasTarget) // that all are: see hasLoose
	}
	return isContainer(n) && v.coversContent(signed, n)
}

// coversContent counts: there may be millions of nodes in a container of many signatures.
func (v *verification) coversContent(signed coverage, container xmldoc.Node) bool {
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

// signed is what some of the references lead to, with what each leaves out. Of what is decoded only the text
// is signed: it has to be in an Object, whose name says nothing, and that says nothing else.
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

// isPlain reports whether a reference leads to an Object of the signature that has nothing but text.
func (s *scope) isPlain(r signedReference) bool {
	own := isObject(r.target) && r.target.Parent() == s.element
	return own && !r.formatConflict && hasOnlyObjectAttributes(r.target) && hasOnlyText(r.target)
}

func isDecoded(r signedReference) bool {
	last := len(r.Transforms) - 1
	return last >= 0 && r.Transforms[last].Kind == xmldsig.Base64
}

// markEnclosed notes which signatures may get no unsigned properties: where those are, something is signed
// or timestamped. So it is with a signature in the signed content of another one.
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

// add adds what a signature signs, and what its archive timestamps are over beside that.
func (c coverage) add(s *signature) {
	seen := make(map[referenceTarget]bool)
	for _, r := range s.References {
		subset, err := s.Covers(r)
		if err != nil {
			continue // and so it signs nothing
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

// has reports whether a node is covered, by going up from it. What is left out are signatures.
func (c coverage) has(n xmldoc.Node) bool {
	var signatures []xmldoc.Node // that it is in
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

// leads reports whether a reference leads to a node itself, and not to something around it.
func (c coverage) hasTarget(n xmldoc.Node) bool { return len(c[n]) > 0 }

// kindsOf are the kinds of a reference's transforms, each once: they are what leaves something out.
func transformKinds(r xmldsig.Reference) string {
	var kinds []byte
	for _, t := range r.Transforms {
		kinds = append(kinds, byte(t.Kind))
	}
	slices.Sort(kinds)
	return string(slices.Compact(kinds))
}

// hasUnsignedContent reports whether there is something in a signature that it does not sign, and that is no part of a
// signature. The others leave the signature out, so that nobody signs it, and who looks for a contract by its
// name finds it.
func (s *scope) hasUnsignedContent() bool {
	if s.Signature == nil {
		return false
	}
	signed := s.signed(func(r signedReference) bool { return r.err == nil })
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

// hasOnlyProperties reports whether there is nothing in the QualifyingProperties but properties of signatures
// (EN 319 132-1 4.3). What unsigned ones say of data nobody signed.
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

// isUnsignedProperty reports whether an element is an unsigned property of a signature: one of XAdES, or of
// somebody else, which the schema allows.
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

// isUnsignedName reports whether XAdES has an unsigned property of that name (EN 319 132-1 5.2.7, 5.3 to 5.5, A).
func isUnsignedName(local string) bool {
	switch local {
	case "CounterSignature", "SignatureTimeStamp", "CertificateValues", "RevocationValues", "ArchiveTimeStamp",
		"AttrAuthoritiesCertValues", "AttributeRevocationValues", "CompleteCertificateRefs", "CompleteRevocationRefs",
		"AttributeCertificateRefs", "AttributeRevocationRefs", "SigAndRefsTimeStamp", "RefsOnlyTimeStamp":
		return true
	}
	return false
}

// hasOnlyKeys reports whether there is nothing in a KeyInfo but what leads to a key. The schema would have
// anything there.
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

// ns11 is the namespace of what XML Signature 1.1 adds to KeyInfo.
const ns11 = "http://www.w3.org/2009/xmldsig11#"

// isOfKey reports whether an element is one of those for keys (xmldsig-core1 4.6).
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

// hasOnlyAttributes reports whether an element has no attributes but some without a namespace.
func hasOnlyAttributes(n xmldoc.Node, names ...string) bool {
	for name := range n.Attributes() {
		if name.Space != "" || !slices.Contains(names, name.Local) {
			return false
		}
	}
	return true
}

// hasOnlyObjectAttributes reports whether an Object has the attributes of its own (xmldsig-core1 4.5).
func hasOnlyObjectAttributes(n xmldoc.Node) bool {
	return hasOnlyAttributes(n, "Id", "MimeType", "Encoding")
}

// hasOnlyChildren reports whether there is nothing in an element but what belongs there.
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

// isObject reports whether an element is an Object of a signature.
func isObject(n xmldoc.Node) bool {
	return n.Is(xmldsig.Namespace, "Object") && isSignature(n.Parent())
}

// isContained reports whether an element is around the document in a container.
func isContained(n xmldoc.Node) bool {
	return n.Is("", containedName) && isContainer(n.Parent())
}

// isContainer reports whether an element is what [InternallyDetached] puts around a document: itself it is
// not signed, and may say nothing, nor what a prefix means.
func isContainer(n xmldoc.Node) bool {
	return n.Is("", containerName) && n.Width() == 0
}

// isEmpty reports whether a node is white space or a comment.
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

// hasInstructions reports whether instructions stand beside the root, such as that for a stylesheet.
func hasInstructions(d *xmldoc.Document) bool {
	var found writeDetector
	root := func(n xmldoc.Node) bool { return n == d.Root() }
	err := d.Canonicalize(&found, exclusive, xmldoc.Subset{Without: root})
	return err != nil || bool(found)
}

// sensor notes whether anything is written.
type writeDetector bool

func (s *writeDetector) Write(b []byte) (int, error) {
	*s = *s || len(b) > 0
	return len(b), nil
}
