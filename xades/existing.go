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

// earlier is a signature that a document has, and that is right as far as the document says.
type existingSignature struct {
	scope
	indeterminate error // why nobody can tell whether it is right
}

// snapshot is how a signature is that is right: what must not change when something is put around it.
type snapshot struct {
	indeterminate error
	signedInfo    []byte // digest of what its value is over
	timestamps    []bool // which of its timestamps are over what they stand for
}

// readEarlier reads the signatures of a document but one, those that sign others of them too. [ades.ErrBroken]
// when one is not right.
func readExistingSignatures(ctx context.Context, d *xmldoc.Document, but ids) ([]existingSignature, error) {
	elements := signatureElements(d, but)
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

// signatureElements are all signatures of a document but one.
func signatureElements(d *xmldoc.Document, but ids) []xmldoc.Node {
	var all []xmldoc.Node
	add := func(n xmldoc.Node) {
		if isSignature(n) && !but.belongTo(n) {
			all = append(all, n)
		}
	}
	add(d.Root())
	for n := range d.Root().Descendants() {
		add(n)
	}
	return all
}

// check makes sure that a signature is right by what is in the document: what it signs, its value, and that the signer's
// certificate is the one that it names. Trust, revocation and time are not judged, and what is outside of the document
// is not known. A signature that is read only in part may be right, and nobody can tell whether it stays so.
func (e *existingSignature) check(ctx context.Context) error {
	if e.fault != nil {
		return e.record(ctx, e.fault)
	}
	outside := false
	for i := range e.references {
		r := &e.references[i]
		if r.isAbsent() || errors.Is(r.err, xmldsig.ErrReference) && leadsOutside(r.Reference) {
			outside = true
		} else if err := e.record(ctx, e.checkReference(ctx, r)); err != nil {
			return err
		}
	}
	if err := cmp.Or(e.record(ctx, e.irregularity), e.record(ctx, e.checkSigner())); err != nil {
		return err
	}
	err := e.checkSubject()
	if e.indeterminate != nil || outside && !errors.Is(err, errCountersigned) { // there may be something
		return nil
	}
	return e.record(ctx, err)
}

// judge refuses a signature for something that is wrong with it, and notes what nobody can tell.
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

// elsewhere says that a reference leads out of the document.
func leadsOutside(r xmldsig.Reference) bool {
	return !r.HasURI || r.URI != "" && !strings.HasPrefix(r.URI, "#")
}

// leaveRoom makes sure that signatures stay right when the root gets another one behind all that is in it.
// Nothing else changes for them: it is in none of them, and declares what it needs. [ades.ErrForbidden] when
// one would break, or has something in it that nobody would sign: the new one leaves all signatures out.
func checkUnaffected(all []existingSignature) error {
	for _, e := range all {
		switch {
		case e.indeterminate != nil:
			return errIndeterminate(e.indeterminate)
		case slices.ContainsFunc(e.References, e.coversAppended):
			return fmt.Errorf("%w: %.100q signs all that is in the root", ades.ErrForbidden, e.name())
		case e.hasUnsignedContent():
			return fmt.Errorf("%w: %.100q has something in it that no signature would cover", ades.ErrForbidden, e.name())
		}
	}
	return nil
}

// takesIn reports whether a reference leads to a signature that is added to the root.
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
	return fmt.Errorf("%w: whether one that is there is right and stays so cannot be told: %w", ades.ErrForbidden, why)
}

// independent reports whether signatures that are right in what was put around a document are so without it.
func independentOfContext(all []existingSignature) bool {
	return !slices.ContainsFunc(all, func(e existingSignature) bool { return e.indeterminate != nil || e.dependsOnContext() })
}

// dependsOnContext reports whether what is signed or timestamped may be something else where something is put around
// the document, while references lead to the same: inclusive canonical forms have the prefix that is bound
// there, and signatures that were in the root are so no more.
func (s *signature) dependsOnContext() bool {
	forms := []xmldoc.Canonicalization{s.Canonicalization}
	for _, t := range slices.Concat(s.signatureTimestamps, s.archiveTimestamps) {
		forms = append(forms, t.c14n)
	}
	for _, r := range s.References {
		form := xmldoc.Canonicalization{Method: xmldoc.C14N10} // where no transform says otherwise
		for _, t := range r.Transforms {
			switch t.Kind {
			case xmldsig.WithoutRootSignatures:
				return true
			case xmldsig.Base64:
				form = exclusive // has no tags
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

// snapshots are those of signatures that were read, if there was no error.
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
		found.timestamps = append(found.timestamps, s.checkTimestamp(ctx, t) == nil)
	}
	return found, ctx.Err()
}

// signedInfoSum is a digest of what the value is over, for comparison.
func (s *signature) signedInfoSum(ctx context.Context) ([]byte, error) {
	sum := crypto.SHA256.New()
	err := s.write(contextWriter{ctx, sum}, s.Canonicalization, s.SignedInfo)
	return sum.Sum(nil), readError(err)
}

// checkUnchanged reports whether signatures are what they were, in the document that has another one around it. What
// breaks them is found by looking: a reference to the whole document, namespaces that come from around,
// whatever their transforms make of it. [ades.ErrForbidden] when one would break; err is of reading them there.
func checkUnchanged(before, after []snapshot, err error) error {
	for _, s := range before {
		if s.indeterminate != nil {
			return errIndeterminate(s.indeterminate)
		}
	}
	switch {
	case errors.Is(err, ades.ErrBroken):
		return fmt.Errorf("%w: one that is there would break", ades.ErrForbidden)
	case err != nil:
		return err
	case !slices.EqualFunc(before, after, snapshot.equal):
		return fmt.Errorf("%w: one that is there would break, or a timestamp of it", ades.ErrForbidden)
	}
	return nil
}

func (s snapshot) equal(o snapshot) bool {
	return bytes.Equal(s.signedInfo, o.signedInfo) && slices.Equal(s.timestamps, o.timestamps) && o.indeterminate == nil
}
