package xades

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/innsigli/innsigli/ades"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

var (
	// errAmbiguous: several elements have the identifier of a reference. A reader of the document
	// and a verifier may then disagree about which one is signed (EN 319 102-1 5.2.2).
	errAmbiguous = errors.New("several elements have the same identifier")
	// errMisplaced: a reference of Type Object names no Object of the signature, no reference names
	// a data object, or the signature is in unsigned properties without being a counter-signature.
	errMisplaced = errors.New("the signed data or properties are in the wrong place")
	// errNotCountersigning: a counter-signature does not sign the value of the signature that
	// contains it. A reader of the document takes it for a counter-signature of that signature.
	errNotCountersigning = errors.New("the counter-signature does not sign the value of the signature that contains it")
)

// countersignedType is the Type that a counter-signature may give its reference to the
// countersigned value (EN 319 132-1 5.2.7.1).
const countersignedType = "http://uri.etsi.org/01903#CountersignedSignature"

// scope is the references of a signature with their targets, in the order of SignedInfo. scopeOf
// fills it, and checkReference sets valid.
type scope struct {
	*signature
	references         []signedReference
	byID               map[string]int       // indexes of references, by their Id
	manifests          map[xmldoc.Node]bool // the Manifests that were read
	plain              map[xmldoc.Node]bool // whether an Object has only its own attributes and text; of isPlain
	ambiguous          bool                 // an identifier occurs twice in the document
	isCounterSignature bool
	countersignedValue xmldoc.Node // the value that a counter-signature has to sign; zero: none
	misplaced          bool        // it is in unsigned properties and not a counter-signature: it covers nothing
}

// signedReference is a reference of SignedInfo, or of a Manifest that such a reference has as its
// target.
type signedReference struct {
	xmldsig.Reference
	target         xmldoc.Node // zero: the whole document, or none if err is set
	targetErr      error       // why it has no target
	isDataObject   bool        // the target is a data object, not a part of the signature
	manifestErr    error       // why the Manifest that is its target cannot be read
	inManifest     bool        // it is in a Manifest
	digestMatches  bool        // its digest matches
	formatConflict bool        // the Object and its DataObjectFormat disagree
}

// scopeOf resolves the references of a signature.
func scopeOf(s *signature, ambiguous bool) scope {
	all := scope{signature: s, byID: make(map[string]int), manifests: make(map[xmldoc.Node]bool), plain: make(map[xmldoc.Node]bool), ambiguous: ambiguous}
	all.countersignedValue, all.isCounterSignature = countersigned(s.element)
	if s.Signature == nil {
		return all
	}
	for _, r := range s.References {
		all.add(r)
		if r.IsManifest() {
			all.addManifest(r)
		}
	}
	objects := make(map[xmldoc.Node]objectFormat) // each is read once: a tag can have megabytes
	for _, n := range all.formats() {
		r := all.formatReference(n)
		if r == nil {
			continue
		}
		f, known := objects[r.target]
		if !known {
			f = formatOf(r.target)
			objects[r.target] = f
		}
		r.formatConflict = r.formatConflict || !f.agreesWith(n)
	}
	return all
}

func (s *scope) add(r xmldsig.Reference) {
	found := signedReference{Reference: r}
	found.target, found.targetErr = s.Target(r)
	if found.targetErr == nil {
		found.targetErr = s.checkPlace(r, found.target)
	}
	if found.targetErr != nil && s.ambiguous && strings.HasPrefix(r.URI, "#") {
		found.targetErr = fmt.Errorf("%w: %w", errAmbiguous, found.targetErr)
	}
	found.isDataObject = found.targetErr == nil && !r.IsManifest() && s.isData(found.target)
	if _, taken := s.byID[r.ID]; r.ID != "" && !taken {
		s.byID[r.ID] = len(s.references)
	}
	s.references = append(s.references, found)
}

// addManifest resolves the references of the Manifest that is the target of r, which was added
// last. It does so once for each Manifest.
func (s *scope) addManifest(r xmldsig.Reference) {
	last := &s.references[len(s.references)-1]
	if last.targetErr != nil || s.manifests[last.target] {
		return
	}
	s.manifests[last.target] = true
	listed, err := s.Manifest(r)
	last.manifestErr = err
	for _, entry := range listed {
		s.add(entry)
		s.references[len(s.references)-1].inManifest = true
	}
}

// checkPlace checks the target of a reference with a Type. With Type Object, the target has to be
// an Object of this signature, because a wrapping attack can put the signed element into another
// element. KeyInfo is accepted too, because some signers give that Type to its reference. With Type
// CountersignedSignature in a counter-signature, the target has to be the value that it
// countersigns.
func (s *scope) checkPlace(r xmldsig.Reference, target xmldoc.Node) error {
	own := target.Parent() == s.element && (target.Is(xmldsig.Namespace, "Object") || target.Is(xmldsig.Namespace, "KeyInfo"))
	if r.Type == objectType && !own {
		return fmt.Errorf("%w: the reference names no Object of the signature", errMisplaced)
	}
	if r.Type == countersignedType && s.isCounterSignature && (s.countersignedValue == none || target != s.countersignedValue) {
		return errNotCountersigning
	}
	return nil
}

// isData reports whether the target of a reference is a data object, and not a part of the
// signature that describes data (xmldsig-core1 4.4, 5).
func (s *scope) isData(target xmldoc.Node) bool {
	if target == none {
		return true
	}
	for _, own := range []xmldoc.Node{s.SignedInfo, s.SignatureValue, s.KeyInfo, s.qualifying} {
		if own.Contains(target) {
			return false
		}
	}
	for n := target; n != none; n = n.Parent() {
		if n.Is(xmldsig.Namespace, "SignatureProperties") || n.Is(xmldsig.Namespace, "Manifest") {
			return false
		}
	}
	return true
}

// countersigned reports whether element is in another signature as a counter-signature, and returns
// the SignatureValue of that signature; none if it has no SignatureValue, or several.
func countersigned(element xmldoc.Node) (value xmldoc.Node, counter bool) {
	parent := xmldsig.Countersigned(element)
	value, _ = onlyChild(parent, xmldsig.Namespace, "SignatureValue")
	return value, parent != none
}

// countersigns reports whether a reference of SignedInfo has as its target the value that the
// counter-signature has to sign (EN 319 132-1 5.2.7.2).
func (s *scope) countersigns(r signedReference) bool {
	return r.targetErr == nil && s.countersignedValue != none && r.target == s.countersignedValue && r.Element.Parent() == s.SignedInfo
}

// complete reports whether the digests of all references to the document match, and checkSubject
// finds no error. noteReferences has to run before.
func (s *scope) complete() bool {
	for _, r := range s.references {
		if !r.digestMatches && !r.isAbsent() {
			return false
		}
	}
	return s.checkSubject() == nil
}

// checkSubject checks that a reference has a data object as its target, at least through a
// Manifest, and that a counter-signature has a reference to the value that it has to sign.
func (s *scope) checkSubject() error {
	if s.isCounterSignature && !slices.ContainsFunc(s.references, s.countersigns) {
		return errNotCountersigning
	}
	if !slices.ContainsFunc(s.references, func(r signedReference) bool { return r.isDataObject || r.isAbsent() }) {
		return fmt.Errorf("%w: the signature refers to no data object", errMisplaced)
	}
	return nil
}

// checkReference verifies the digest of a reference.
func (s *scope) checkReference(ctx context.Context, r *signedReference) error {
	err := r.targetErr
	if err == nil {
		err = cmp.Or(s.VerifyReference(ctx, r.Reference), r.manifestErr)
	}
	r.digestMatches = err == nil
	return err
}

// isAbsent reports whether a reference in a Manifest is to something outside of the document. The
// Manifest is signed, and an application that has the data can verify the digest (xmldsig-core1
// 5.1).
func (r *signedReference) isAbsent() bool {
	return r.inManifest && errors.Is(r.targetErr, xmldsig.ErrReference) && !errors.Is(r.targetErr, errAmbiguous)
}

// noteReferences verifies the digests of all references, and that the signature signs a data object
// (EN 319 102-1 5.2.7). It reports only the first problem of each sub-indication. The only errors
// are those of the context.
func (v *signatureValidation) noteReferences() error {
	reported := make(map[ades.SubIndication]bool)
	for i := range v.scope.references {
		r := &v.scope.references[i]
		if r.isAbsent() {
			v.warnOfAbsent(r)
			continue
		}
		err := v.scope.checkReference(v.ctx, r)
		if v.ctx.Err() != nil {
			return v.ctx.Err()
		}
		if _, sub := indicationOf(err); err != nil && !reported[sub] {
			reported[sub] = true
			v.reject(fmt.Errorf("reference %.100q: %w", r.URI, err))
		}
	}
	err := v.scope.checkSubject()
	if _, sub := indicationOf(err); err != nil && !reported[sub] {
		v.reject(err)
	}
	return nil
}

// warnOfAbsent warns of the first Manifest entry that is not in the document.
func (v *signatureValidation) warnOfAbsent(r *signedReference) {
	if !v.manifestIncomplete {
		v.manifestIncomplete = true
		v.warn("A Manifest lists data outside the document, which was not verified: %.100q.", r.URI)
	}
}

// warnOfComments warns if the signed data has comments that the canonicalization drops (Canonical
// XML 1.1 2.1, xmldsig-core1 4.4.3.3) and that no other reference keeps.
func (v *signatureValidation) warnOfComments() {
	kept := v.scope.signed(func(r signedReference) bool { return r.digestMatches && v.KeepsComments(r.Reference) })
	for _, r := range v.scope.references {
		if r.digestMatches && v.HasComments(r.Reference) && !kept.has(r.target) {
			v.warn("The signed data has XML comments that the signature does not cover: they can be added, changed or removed without breaking it.")
			return
		}
	}
}

// warnOfPrefixes warns if a value in the signed data uses a prefix whose namespace the exclusive
// canonical form does not have (Exclusive XML Canonicalization 1.0, 1.3), and no other reference
// to the same data covers it.
func (v *signatureValidation) warnOfPrefixes() {
	covered := v.scope.signed(func(r signedReference) bool { return r.digestMatches && v.ValuePrefix(r.Reference) == "" })
	for _, r := range v.scope.references {
		if !r.digestMatches || covered.has(r.target) {
			continue
		}
		if prefix := v.ValuePrefix(r.Reference); prefix != "" {
			v.warn("A value in the signed data uses the prefix %q, whose namespace the signature does not cover: it can be changed without breaking the signature.", prefix)
			return
		}
	}
}
