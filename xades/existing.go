package xades

import (
	"bytes"
	"cmp"
	"context"
	"crypto"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/innsigli/innsigli/ades"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

// existingSignature is a signature of a document that is about to be signed again. It is valid as
// far as the document shows.
type existingSignature struct {
	scope
	indeterminate error // why its validity cannot be determined
}

// snapshot is the state of a valid signature that must not change when markup is put around the
// document.
type snapshot struct {
	indeterminate error
	signedInfo    []byte // digest of SignedInfo in canonical form
	timestamps    []bool // whether each timestamp verifies
}

// readExistingSignatures reads all signatures of a document, counter-signatures included, without
// the one that has the identifiers except. The error is [ades.ErrBroken] if one is not valid.
func readExistingSignatures(ctx context.Context, d *xmldoc.Document, except ids) ([]existingSignature, error) {
	elements := signatureElements(d, except)
	if err := checkNumber(len(elements)); err != nil {
		return nil, err
	}
	var all []existingSignature
	reader := newSignatureReader(ctx, d)
	_, ambiguous := d.DuplicateID()
	for _, n := range elements {
		s := reader.readSignature(n)
		e := existingSignature{scope: scopeOf(&s, ambiguous)}
		if err := e.check(ctx); err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

func signatureElements(d *xmldoc.Document, except ids) []xmldoc.Node {
	var all []xmldoc.Node
	for n := range d.Named(func(n xmldoc.Name) bool { return n == signatureName }) {
		if !except.belongTo(n) {
			all = append(all, n)
		}
	}
	return all
}

// check checks a signature with what is in the document: the digests, the value, and that the
// signer's certificate is the one that the signature names. It does not check trust, revocation or
// time, and it ignores data outside of the document. A signature that can be read only in part is
// indeterminate.
func (e *existingSignature) check(ctx context.Context) error {
	if e.fault != nil {
		return e.record(ctx, e.fault)
	}
	outside := false
	for i := range e.references {
		r := &e.references[i]
		if r.isAbsent() || errors.Is(r.targetErr, xmldsig.ErrReference) && leadsOutside(r.Reference) {
			outside = true
		} else if err := e.record(ctx, e.checkReference(ctx, r)); err != nil {
			return err
		}
	}
	if err := cmp.Or(e.record(ctx, e.irregularity), e.record(ctx, e.checkSigner())); err != nil {
		return err
	}
	err := e.checkSubject()
	if e.indeterminate != nil || outside && !errors.Is(err, errNotCountersigning) {
		return nil // it may sign a data object that was not read
	}
	return e.record(ctx, err)
}

// record returns an error for a signature that is not valid, and sets indeterminate for an error
// that leaves its validity open.
func (e *existingSignature) record(ctx context.Context, err error) error {
	switch {
	case err == nil || ctx.Err() != nil:
		return ctx.Err()
	case isAny(err, ades.ErrAlgorithm, xmldsig.ErrLimit, xmldsig.ErrTransform, errNoCertificate):
		e.indeterminate = fmt.Errorf("%.100q: %w", e.name(), err)
		return nil
	}
	return broken(e.signature, err)
}

// leadsOutside reports whether a reference is to something outside of the document.
func leadsOutside(r xmldsig.Reference) bool {
	return !r.HasURI || r.URI != "" && !strings.HasPrefix(r.URI, "#")
}

// checkUnaffected checks that signatures stay valid when another one is added as the last child of
// the root. Nothing else changes for them: the new signature is in none of them and declares its
// own prefixes. The error is [ades.ErrForbidden] if one would break, or has content that it does
// not sign: the new signature leaves out all signatures, so it would not cover that content either.
func checkUnaffected(all []existingSignature) error {
	for _, e := range all {
		switch {
		case e.indeterminate != nil:
			return errIndeterminate(e.indeterminate)
		case slices.ContainsFunc(e.References, e.coversAppended):
			return fmt.Errorf("%w: the signature %.100q signs all content of the root", ades.ErrForbidden, e.name())
		case e.hasUnsignedContent():
			return fmt.Errorf("%w: the signature %.100q has content that it does not sign", ades.ErrForbidden, e.name())
		}
	}
	return nil
}

// coversAppended reports whether a reference would cover a signature that is added to the root.
func (s *signature) coversAppended(r xmldsig.Reference) bool {
	target, err := s.Target(r)
	if err != nil || target != none && target != s.Document.Root() {
		return false
	}
	return !slices.ContainsFunc(r.Transforms, func(t xmldsig.Transform) bool {
		return t.Kind == xmldsig.WithoutSignatures || t.Kind == xmldsig.WithoutRootSignatures
	})
}

func errIndeterminate(why error) error {
	return fmt.Errorf("%w: an existing signature cannot be checked: %w", ades.ErrForbidden, why)
}

// independentOfContext reports whether signatures that are valid with markup around the document
// are valid without it too.
func independentOfContext(all []existingSignature) bool {
	return !slices.ContainsFunc(all, func(e existingSignature) bool { return e.indeterminate != nil || e.dependsOnContext() })
}

// dependsOnContext reports whether markup around the document can change what is signed or
// timestamped, although the references have the same targets. That is so for inclusive
// canonicalization, which includes the namespace declarations around, and for a transform that
// leaves out the signatures in the root, because they are no longer in the root.
func (s *signature) dependsOnContext() bool {
	forms := []xmldoc.Canonicalization{s.Canonicalization}
	for _, t := range slices.Concat(s.signatureTimestamps, s.archiveTimestamps) {
		forms = append(forms, t.c14n)
	}
	for _, r := range s.References {
		form := xmldoc.Canonicalization{Method: xmldoc.C14N10} // the default
		for _, t := range r.Transforms {
			switch t.Kind {
			case xmldsig.WithoutRootSignatures:
				return true
			case xmldsig.Base64:
				form = exclusive // the octets have no tags, so nothing around matters
			case xmldsig.Canonicalize:
				form = t.Canonicalization
			}
		}
		forms = append(forms, form)
	}
	return slices.ContainsFunc(forms, func(c xmldoc.Canonicalization) bool {
		return c.Method != xmldoc.Exclusive || slices.Contains(c.Prefixes, wrappingPrefix)
	})
}

// snapshots returns the snapshots of signatures that were read, and err, which is the error of
// reading them.
func snapshots(ctx context.Context, all []existingSignature, err error) ([]snapshot, error) {
	var found []snapshot
	for _, e := range all {
		if e.indeterminate != nil {
			found = append(found, snapshot{indeterminate: e.indeterminate})
			continue
		}
		s, err := e.snapshot(ctx)
		if err != nil {
			return nil, err
		}
		found = append(found, s)
	}
	return found, err
}

func (s *signature) snapshot(ctx context.Context) (found snapshot, err error) {
	if found.signedInfo, err = s.signedInfoSum(ctx); err != nil {
		return found, err
	}
	for _, t := range slices.Concat(s.signatureTimestamps, s.archiveTimestamps) {
		ok, err := s.timestampVerifies(ctx, t)
		if err != nil {
			return found, err
		}
		found.timestamps = append(found.timestamps, ok)
	}
	return found, nil
}

// signedInfoSum returns a digest of the canonical SignedInfo, for comparison.
func (s *signature) signedInfoSum(ctx context.Context) ([]byte, error) {
	sum := crypto.SHA256.New()
	err := s.write(contextWriter{ctx, sum}, s.Canonicalization, s.SignedInfo)
	return sum.Sum(nil), readError(err)
}

// checkUnchanged compares the signatures of a document with the same signatures in the document
// with markup around it. The comparison finds every effect of the markup: on references to the
// whole document, and on namespaces, whatever the transforms. err is the error of reading the
// signatures there. The result is [ades.ErrForbidden] if one would break.
func checkUnchanged(before, after []snapshot, err error) error {
	for _, s := range before {
		if s.indeterminate != nil {
			return errIndeterminate(s.indeterminate)
		}
	}
	switch {
	case errors.Is(err, ades.ErrBroken):
		return fmt.Errorf("%w: the new signature would break an existing one", ades.ErrForbidden)
	case err != nil:
		return err
	case !slices.EqualFunc(before, after, snapshot.equal):
		return fmt.Errorf("%w: the new signature would break an existing one, or its timestamp", ades.ErrForbidden)
	}
	return nil
}

func (s snapshot) equal(o snapshot) bool {
	return bytes.Equal(s.signedInfo, o.signedInfo) && slices.Equal(s.timestamps, o.timestamps) && o.indeterminate == nil
}
