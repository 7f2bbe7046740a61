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
	// errAmbiguous: an identifier stands for several elements. Which of them was signed, the reader of
	// a document need not see as the one who verifies it does (EN 319 102-1 5.2.2).
	errAmbiguous = errors.New("several elements have the same identifier")
	// errElsewhere: what should be signed is not where it belongs.
	errMisplaced = errors.New("what is signed is not found where it belongs")
)

// errCountersigned: a counter-signature is over something else, and whoever reads it there takes it for one of
// the signature around it.
var errCountersigned = errors.New("the counter-signature is not over the signature that it stands in")

// countersignedType is the Type that the reference of a counter-signature to what it signs may have (EN 319
// 132-1 5.2.7.1).
const countersignedType = "http://uri.etsi.org/01903#CountersignedSignature"

// scope is what a signature signs.
type scope struct {
	*signature
	references         []signedReference
	byID               map[string]int       // references, by the Id that DataObjectFormat has for them
	manifests          map[xmldoc.Node]bool // Manifests that were read
	ambiguous          bool                 // an identifier of the document occurs twice
	isCounterSignature bool                 // it is a counter-signature ...
	countersignedValue xmldoc.Node          // ... that has to be over this SignatureValue; zero: there is none
	misplaced          bool                 // it is none, and stands in unsigned properties all the same
}

// signedReference is a reference, of SignedInfo or of a Manifest that it leads to.
type signedReference struct {
	xmldsig.Reference
	target         xmldoc.Node // zero: the whole document
	err            error       // why it leads nowhere
	data           bool        // to what somebody signs, not to what is said of that
	manifestErr    error       // what is wrong with the Manifest that it leads to
	inManifest     bool        // in a Manifest
	valid          bool        // its digest is right
	formatConflict bool        // the Object says something else of itself than its DataObjectFormat
}

// scopeOf follows the references of a signature.
func scopeOf(s *signature, ambiguous bool) scope {
	all := scope{signature: s, byID: make(map[string]int), manifests: make(map[xmldoc.Node]bool), ambiguous: ambiguous}
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
	for _, n := range all.formats() {
		if r := all.formatReference(n); r != nil && !agreesWithObject(n, r.target) {
			r.formatConflict = true
		}
	}
	return all
}

func (s *scope) add(r xmldsig.Reference) {
	found := signedReference{Reference: r}
	found.target, found.err = s.Target(r)
	if found.err == nil {
		found.err = s.checkPlace(r, found.target)
	}
	if found.err != nil && s.ambiguous && strings.HasPrefix(r.URI, "#") {
		found.err = fmt.Errorf("%w: %w", errAmbiguous, found.err)
	}
	found.data = found.err == nil && !r.IsManifest() && s.isData(found.target)
	if _, taken := s.byID[r.ID]; r.ID != "" && !taken {
		s.byID[r.ID] = len(s.references)
	}
	s.references = append(s.references, found)
}

// addListed follows the references of a Manifest, once for each.
func (s *scope) addManifest(r xmldsig.Reference) {
	last := &s.references[len(s.references)-1]
	if last.err != nil || s.manifests[last.target] {
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

// checkPlace refuses an Object that is not the signature's own; what some call an Object is its KeyInfo. Whoever puts another one around the signed
// element makes a document in which it is somewhere else. What a counter-signature calls the signature that it
// signs has to be that.
func (s *scope) checkPlace(r xmldsig.Reference, target xmldoc.Node) error {
	own := target.Parent() == s.element && (target.Is(xmldsig.Namespace, "Object") || target.Is(xmldsig.Namespace, "KeyInfo"))
	if r.Type == objectType && !own {
		return fmt.Errorf("%w: in no Object of the signature", errMisplaced)
	}
	if r.Type == countersignedType && s.isCounterSignature && (s.countersignedValue == none || target != s.countersignedValue) {
		return errCountersigned
	}
	return nil
}

// isData reports whether an element is what somebody signs, and no part of the signature that says something
// of that (xmldsig-core1 4.4, 5).
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

// countersigned is the SignatureValue of the signature that another one stands in as a counter-signature, if
// it does. It is zero when there is none, or several.
func countersigned(element xmldoc.Node) (value xmldoc.Node, counter bool) {
	parent := xmldsig.Countersigned(element)
	value, _ = onlyChild(parent, xmldsig.Namespace, "SignatureValue")
	return value, parent != none
}

// countersigns reports whether a reference of SignedInfo leads to the value that the counter-signature has to be
// over (EN 319 132-1 5.2.7.2).
func (s *scope) countersigns(r signedReference) bool {
	return r.err == nil && s.countersignedValue != none && r.target == s.countersignedValue && r.Element.Parent() == s.SignedInfo
}

// complete reports whether the digests of all references are right, and what has to be signed is among them.
func (s *scope) complete() bool {
	for _, r := range s.references {
		if !r.valid && !r.isAbsent() {
			return false
		}
	}
	return s.checkSubject() == nil
}

// checkSubject makes sure that a reference leads to what somebody signs: data, if only by a Manifest, or the value
// that a counter-signature stands for.
func (s *scope) checkSubject() error {
	if s.isCounterSignature && !slices.ContainsFunc(s.references, s.countersigns) {
		return errCountersigned
	}
	if !slices.ContainsFunc(s.references, func(r signedReference) bool { return r.data || r.isAbsent() }) {
		return fmt.Errorf("%w: no reference leads to data", errMisplaced)
	}
	return nil
}

// checkReference compares the digest of a reference.
func (s *scope) checkReference(ctx context.Context, r *signedReference) error {
	err := r.err
	if err == nil {
		err = cmp.Or(s.VerifyReference(ctx, r.Reference), r.manifestErr)
	}
	r.valid = err == nil
	return err
}

// isAbsent reports whether a Manifest lists something that is not in the document: the list is signed, and whoever
// has what it names can compare the digest (xmldsig-core1 5.1).
func (r *signedReference) isAbsent() bool {
	return r.inManifest && errors.Is(r.err, xmldsig.ErrReference) && !errors.Is(r.err, errAmbiguous)
}

// checkReferences makes sure that the signature signs its own properties and something else, and compares
// the digests (EN 319 102-1 5.2.7). Of what goes wrong alike with many references the first is told. The
// error is one of the context.
func (v *verification) checkReferences() error {
	told := make(map[ades.SubIndication]bool)
	for n := range v.scope.references {
		r := &v.scope.references[n]
		if r.isAbsent() {
			v.warnOfAbsent(r)
			continue
		}
		err := v.scope.checkReference(v.ctx, r)
		if v.ctx.Err() != nil {
			return v.ctx.Err()
		}
		if _, sub := indicationOf(err); err != nil && !told[sub] {
			told[sub] = true
			v.reject(fmt.Errorf("reference %.100q: %w", r.URI, err))
		}
	}
	err := v.scope.checkSubject()
	if _, sub := indicationOf(err); err != nil && !told[sub] {
		v.reject(err)
	}
	return nil
}

// warnOfAbsent tells the first of what Manifests list and the document lacks.
func (v *verification) warnOfAbsent(r *signedReference) {
	if !v.manifestIncomplete {
		v.manifestIncomplete = true
		v.warn("What the signature lists in a Manifest is not in the document, and not verified: %.100q.", r.URI)
	}
}

// warnOfComments says that what is signed has comments, where the canonicalization drops them (Canonical XML 1.1
// 2.1, xmldsig-core1 4.4.3.3) and no other reference keeps them.
func (v *verification) warnOfComments() {
	kept := v.scope.signed(func(r signedReference) bool { return r.valid && v.KeepsComments(r.Reference) })
	for _, r := range v.scope.references {
		if r.valid && v.HasComments(r.Reference) && !kept.has(r.target) {
			v.warn("What is signed has comments that the signature does not cover: they can be added, changed or removed without breaking it.")
			return
		}
	}
}
