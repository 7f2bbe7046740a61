package pades

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/evidence"
	"github.com/innsigli/innsigli/internal/pdf"
)

// ErrUnsigned: the document has no signature to extend.
var ErrUnsigned = errors.New("pades: document has no signature")

// Extend raises all signatures of a document to a level, ours and others', and returns
// the revisions to append in their order (EN 319 142-1 5.4 to 5.6): for T a document
// timestamp, if a signature has no timestamp; for LT the validation data that is missing;
// for LTA a document timestamp over that. What is there already is not added again, so
// that there are no revisions when the level is reached. Whoever was revoked, or cannot be
// shown not to have been, is an error, as is a missing timestamp: never a lower level.
//
// Nothing of what was signed changes, and no certification forbids it (ISO 32000-2 table
// 257). Extend does not replace [Verify]: it is the evidence that it looks after.
//
// [ErrUnsigned], [ErrBroken], [ErrUnreadable], [ErrEncrypted], [ErrForbidden];
// [ades.ErrTimestamp], [ades.ErrNoRevocation] and [ades.ErrNoChain], with
// [ades.ErrUnavailable] when it may work later; [ades.RevokedError].
func Extend(ctx context.Context, doc Document, level ades.Level, s ades.Sources) ([]Revision, error) {
	if err := checkLevel(level); err != nil {
		return nil, err
	}
	e := extension{ctx: ctx, doc: doc, sources: s}
	if err := e.raise(level); err != nil {
		return nil, readError(err)
	}
	return e.revisions, nil
}

// Renew puts a further document timestamp over a document of level LTA, before the
// certificate or the algorithms of the last one lose their force, and the validation data
// of that one before it (EN 319 142-1 5.5). A document of a lower level is extended to
// LTA. Errors are those of [Extend].
func Renew(ctx context.Context, doc Document, s ades.Sources) ([]Revision, error) {
	e := extension{ctx: ctx, doc: doc, sources: s}
	err := e.raise(ades.LTA)
	if err == nil && len(e.revisions) == 0 {
		err = e.archive()
	}
	if err != nil {
		return nil, readError(err)
	}
	return e.revisions, nil
}

// extension is the work on one document, which grows.
type extension struct {
	ctx       context.Context
	doc       Document
	sources   ades.Sources
	revisions []Revision
}

func (e *extension) raise(level ades.Level) error {
	c, err := readCarried(e.doc)
	if err != nil {
		return err
	}
	if len(c.signatures) == 0 {
		return ErrUnsigned
	}
	if err := c.checkLastStamp(e.ctx); err != nil {
		return err
	}
	if archived, err := e.archived(c); archived || err != nil {
		return err
	}
	if level >= ades.T && !c.timestamped() {
		if err := e.stamp(); err != nil {
			return err
		}
	}
	switch {
	case level == ades.LT:
		return e.embed()
	case level == ades.LTA:
		return e.archive()
	}
	return nil
}

// archive puts a timestamp over everything, including the validation data of the last.
func (e *extension) archive() error {
	if err := e.embed(); err != nil {
		return err
	}
	return e.stamp()
}

// archived says whether the last document timestamp covers all signatures with all of
// their validation data, so that the document has level LTA. Its own comes later.
func (e *extension) archived(c *carried) (bool, error) {
	if len(c.stamps) == 0 {
		return false, nil
	}
	last := c.stamps[len(c.stamps)-1]
	covered, err := readCarried(Document{ReaderAt: e.doc, Size: last.ranges.end})
	if err != nil || len(covered.signatures) < len(c.signatures) || !covered.timestamped() {
		return false, err
	}
	covered.stamps = covered.stamps[:len(covered.stamps)-1]
	return len(e.lacking(covered)) == 0, nil
}

// stamp appends a document timestamp.
func (e *extension) stamp() error {
	r, err := stamped(e.ctx, e.doc, e.sources.Time)
	if err != nil {
		return fmt.Errorf("document timestamp: %w", err)
	}
	e.grow(r)
	return nil
}

// embed appends the validation data that is missing.
func (e *extension) embed() error {
	c, err := readCarried(e.doc)
	if err != nil {
		return err
	}
	lacking := e.lacking(c)
	if len(lacking) == 0 {
		return nil
	}
	found, err := evidence.Collect(e.ctx, e.sources, c.known, lacking...)
	if err != nil {
		return err
	}
	r, err := embedded(e.doc, c.data, found)
	if err != nil || len(r.Bytes) == 0 {
		return err
	}
	e.grow(r)
	return nil
}

func (e *extension) grow(r Revision) {
	e.revisions = append(e.revisions, r)
	e.doc = e.doc.With(r)
}

// lacking returns the certificates about which something is missing: those of signers and
// of the authorities of timestamps.
func (e *extension) lacking(c *carried) []evidence.Target {
	var all []evidence.Target
	for _, s := range c.signatures {
		all = append(all, evidence.Target{Certificate: s.signer, Fresh: c.timeOf(s)})
		for _, token := range s.tokens {
			all = append(all, evidence.Target{Certificate: token.Certificate})
		}
	}
	for _, stamp := range c.stamps {
		all = append(all, evidence.Target{Certificate: stamp.token.Certificate})
	}
	return slices.DeleteFunc(all, func(t evidence.Target) bool {
		return len(c.data.Missing(e.sources.Roots, c.known, t)) == 0 && c.fresh(t)
	})
}

// fresh says whether a proof about a signer is from after the signature, as far as there
// can still be one: the status of an expired certificate need not be known any more. The
// same person may have signed before, and the proof of then says nothing about today.
func (c *carried) fresh(t evidence.Target) bool {
	if t.Fresh.IsZero() || time.Now().After(t.Certificate.NotAfter) {
		return true
	}
	proven := true // where no proof is required
	for _, issuer := range c.known {
		if string(issuer.RawSubject) != string(t.Certificate.RawIssuer) {
			continue
		}
		for _, answer := range c.data.About(t.Certificate, issuer) {
			if proven = !answer.ThisUpdate.Before(t.Fresh.Truncate(time.Second)); proven {
				return true
			}
		}
	}
	return proven
}

// embedded returns the revision with what was found that the document does not have; an
// empty one when there is nothing.
func embedded(doc Document, has, found *evidence.Data) (Revision, error) {
	certificates := without(encodings(found.Certificates), encodings(has.Certificates))
	responses, lists := without(found.OCSP, has.OCSP), without(found.CRLs, has.CRLs)
	if len(certificates)+len(responses)+len(lists) == 0 {
		return Revision{}, nil
	}
	file, err := pdf.Open(doc, doc.Size)
	if err != nil {
		return Revision{}, err
	}
	update := file.NewUpdate()
	if err := addToStore(file, update, certificates, responses, lists); err != nil {
		return Revision{}, fmt.Errorf("adding validation data: %w", err)
	}
	if err := declareExtension(file, update); err != nil {
		return Revision{}, err
	}
	appended, _, err := update.Bytes()
	if err != nil {
		return Revision{}, err
	}
	for _, m := range doc.Hashed {
		if m.Offset != doc.Size {
			continue
		}
		if sum, err := restore(m.Hash, m.State); err == nil {
			return newRevision(doc.Size, appended, m.Hash, sum)
		}
	}
	return Revision{Base: doc.Size, Bytes: appended}, nil
}

func encodings(certificates []*x509.Certificate) [][]byte {
	var all [][]byte
	for _, c := range certificates {
		all = append(all, c.Raw)
	}
	return all
}
