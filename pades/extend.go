package pades

import (
	"context"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/validation"
)

// Extender raises documents to a level. Nothing of what was signed changes, and no
// certification forbids it (ISO 32000-2 table 257). All methods return the revisions to
// append, in their order; there are none when the document has all of it already.
//
// Whoever was revoked, or cannot be shown not to have been, is an error, as is a missing
// timestamp: never a lower level. Errors of all methods: [ades.ErrUnsigned]; [ades.ErrBroken], also for
// a signature or a document timestamp whose value or digest is wrong; [ades.ErrUnreadable],
// [ErrEncrypted], [ades.ErrForbidden]; [ades.ErrTimestamp], [ades.ErrNoRevocation] and
// [ades.ErrNoChain], with [ades.ErrUnavailable] when it may work later; [ades.RevokedError].
// Whether signers are to be trusted is for [Verify] to say.
type Extender struct {
	Sources ades.Sources
	// VRI lists validation data for each signature too (ISO 32000-2 table 262), whenever
	// there is some to append. Validators need no such lists (EN 319 142-1 5.4.2.3).
	VRI bool
}

// Extend raises all signatures of a document to a level, ours and others' (EN 319 142-1 5.4
// to 5.6): for T by a document timestamp, if a signature has no timestamp; for LT by the
// validation data that is missing; for LTA by a document timestamp over that.
func (x Extender) Extend(ctx context.Context, doc Document, level ades.Level) ([]Revision, error) {
	return x.extend(ctx, doc, level, everySignature)
}

// ExtendLast raises the last signature of a document and leaves the others as they are:
// whoever has just signed answers for that one, while earlier signers may lead to roots that
// nobody here trusts.
func (x Extender) ExtendLast(ctx context.Context, doc Document, level ades.Level) ([]Revision, error) {
	return x.extend(ctx, doc, level, lastSignature)
}

// Renew puts a further document timestamp over a document of level LTA, before the
// certificate or the algorithms of the last one lose their force, and the validation data
// of that one before it (EN 319 142-1 5.5). A document of a lower level is extended to LTA.
func (x Extender) Renew(ctx context.Context, doc Document) ([]Revision, error) {
	e := extension{Extender: x, ctx: ctx, doc: doc, which: everySignature}
	err := e.raise(ades.LTA)
	if err == nil && len(e.revisions) == 0 {
		err = e.archive()
	}
	return e.result(err)
}

func (x Extender) extend(ctx context.Context, doc Document, level ades.Level, which selection) ([]Revision, error) {
	if err := checkLevel(level); err != nil {
		return nil, err
	}
	e := extension{Extender: x, ctx: ctx, doc: doc, which: which}
	return e.result(e.raise(level))
}

// extension is the work on one document, which grows.
type extension struct {
	Extender
	ctx       context.Context
	doc       Document
	which     selection
	read      *carried // of doc as it is now; nil: not read yet
	revisions []Revision
}

func (e *extension) result(err error) ([]Revision, error) {
	if err != nil {
		return nil, readError(err)
	}
	return e.revisions, nil
}

func (e *extension) raise(level ades.Level) error {
	c, err := e.carried()
	if err != nil {
		return err
	}
	if len(c.signatures) == 0 {
		return ades.ErrUnsigned
	}
	if err := c.verify(e.ctx); err != nil {
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
	switch level {
	case ades.LT:
		return e.embed()
	case ades.LTA:
		return e.archive()
	}
	return nil
}

// archive puts a timestamp over everything, including the validation data of the last.
func (e *extension) archive() error {
	if err := e.embedToStamp(); err != nil {
		return err
	}
	return e.stamp()
}

// archived reports whether the last document timestamp covers the signatures with all of
// their validation data, so that they have level LTA. Its own comes later.
func (e *extension) archived(c *carried) (bool, error) {
	if len(c.stamps) == 0 {
		return false, nil
	}
	last := c.stamps[len(c.stamps)-1]
	covered, err := readCarried(Document{ReaderAt: e.doc, Size: last.ranges.end}, e.which)
	if err != nil || len(covered.signatures) < len(c.signatures) || !covered.timestamped() {
		return false, err
	}
	covered.stamps = covered.stamps[:len(covered.stamps)-1]
	known := validation.NewKnown(e.ctx, e.Sources, covered.known...)
	lacking, _ := covered.store.data.Lacking(known, covered.allTargets()...)
	return len(lacking) == 0, e.ctx.Err()
}

// carried reads what the document has by now.
func (e *extension) carried() (_ *carried, err error) {
	if e.read == nil {
		e.read, err = readCarried(e.doc, e.which)
	}
	return e.read, err
}

// signedFile is the document as it is by now, where it does not matter what its signatures
// carry.
func (e *extension) signedFile() (*signedFile, error) {
	if e.read != nil {
		return e.read.signedFile, nil
	}
	return openSigned(e.doc)
}

func (e *extension) grow(r Revision) {
	e.revisions = append(e.revisions, r)
	e.doc, e.read = e.doc.With(r), nil
}
