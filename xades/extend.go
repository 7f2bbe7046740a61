package xades

import (
	"context"
	"fmt"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/evidence"
)

// Extend raises all signatures of a document, as [Extender.Extend] does with these sources.
func Extend(ctx context.Context, doc Document, level ades.Level, s ades.Sources) ([]Revision, error) {
	return Extender{Sources: s}.Extend(ctx, doc, level)
}

// Extender raises documents to a level. Nothing of what was signed or timestamped changes: evidence is put
// behind the unsigned properties that are there. All methods return the revisions that follow one another;
// there are none when the document has all of it already.
//
// A signature that another one signs, such as an enveloping one in a further enveloping one, stays as it
// is: whatever is known of it has to be added before it is signed in turn.
//
// Whoever was revoked, or cannot be shown not to have been, is an error, as is a missing timestamp: never a
// lower level. Errors of all methods: [ErrUnsigned]; [ErrBroken], also for a signature or an archive
// timestamp whose value or digest is wrong, and for one whose references lead out of the document, which
// cannot be compared; [ErrUnreadable]; [ErrForbidden] for a signature without XAdES properties, and when
// there are none but such as others sign; [ades.ErrTimestamp], [ades.ErrNoRevocation] and [ades.ErrNoChain],
// with [ades.ErrUnavailable] when it may work later; [ades.RevokedError]. Whether signers are to be trusted
// is for [Verify] to say.
type Extender struct{ Sources ades.Sources }

// Extend raises all signatures of a document to a level, ours and others' (EN 319 132-1 5.3 to 5.5): for T by
// a timestamp over the value, if a signature has none; for LT by the validation data that is missing; for
// LTA by a timestamp over all that. Each signature has its own.
func (x Extender) Extend(ctx context.Context, doc Document, level ades.Level) ([]Revision, error) {
	if err := checkLevel(level); err != nil {
		return nil, err
	}
	return extension{Extender: x, ctx: ctx, doc: doc, which: everySignature}.run(level)
}

// ExtendLast raises the signature that was made last, which is the last in the document but for those that
// it signs, and leaves the others as they are: whoever has just signed answers for that one, while earlier
// signers may lead to roots that nobody here trusts.
func (x Extender) ExtendLast(ctx context.Context, doc Document, level ades.Level) ([]Revision, error) {
	if err := checkLevel(level); err != nil {
		return nil, err
	}
	return extension{Extender: x, ctx: ctx, doc: doc, which: lastSignature}.run(level)
}

// Renew puts a further archive timestamp over each signature of level LTA, before the certificate or the
// algorithms of the last one lose their force, and the validation data of that one before it (EN 319 132-1
// 5.5.2). A signature of a lower level is extended to LTA.
func (x Extender) Renew(ctx context.Context, doc Document) ([]Revision, error) {
	return extension{Extender: x, ctx: ctx, doc: doc, which: everySignature, renew: true}.run(ades.LTA)
}

// extension is the work on one document, which grows.
type extension struct {
	Extender
	ctx       context.Context
	doc       Document
	which     selection
	renew     bool
	done      []bool          // by signature: it has level LTA already
	read      *carried        // of doc as it is now; nil: not read yet
	known     *evidence.Known // of which all questions are charged
	revisions []Revision
}

func (e extension) run(level ades.Level) ([]Revision, error) {
	e.known = evidence.NewKnown(e.ctx, e.Sources)
	if err := e.begin(); err != nil {
		return nil, err
	}
	if err := e.raise(level); err != nil {
		return nil, err
	}
	return e.revisions, nil
}

// begin finds what there is to do.
func (e *extension) begin() error {
	c, err := e.carried()
	if err != nil {
		return err
	}
	switch {
	case c.hidden:
		return fmt.Errorf("%w: all signatures are signed by others, and evidence would change them", ErrForbidden)
	case len(c.signatures) == 0:
		return ErrUnsigned
	}
	if err := c.verify(e.ctx); err != nil {
		return err
	}
	for _, s := range c.signatures {
		e.done = append(e.done, !e.renew && s.archived(e.known))
	}
	return e.ctx.Err()
}

func (e *extension) raise(level ades.Level) error {
	if level >= ades.T {
		if err := e.each(e.stamped); err != nil {
			return err
		}
	}
	switch level {
	case ades.LT:
		return e.each(e.embedded)
	case ades.LTA:
		if err := e.each(e.embeddedToArchive); err != nil {
			return err
		}
		return e.each(e.archivedBy)
	}
	return nil
}

// each makes one revision of what is to be added to the signatures.
func (e *extension) each(added func(carriedSignature) (string, error)) error {
	c, err := e.carried()
	if err != nil {
		return err
	}
	in := splicing{source: c.source, encoding: encodingOf(c.doc)}
	for i, s := range c.signatures {
		if e.done[i] {
			continue
		}
		markup, err := added(s)
		if err != nil {
			return err
		}
		if markup != "" {
			in.add(s.signature, markup)
		}
	}
	if len(in.splices) > 0 {
		e.grow(in.revision())
	}
	return e.ctx.Err()
}

// carried reads what the document has by now.
func (e *extension) carried() (*carried, error) {
	if e.read != nil {
		return e.read, nil
	}
	src, err := readSource(e.ctx, e.doc, nil)
	if err != nil {
		return nil, err
	}
	e.read, err = readCarried(e.ctx, src, e.which)
	return e.read, err
}

// grow goes on with the document that a revision makes. The one before is forgotten: both would take twice
// the memory.
func (e *extension) grow(r Revision) {
	e.revisions = append(e.revisions, r)
	e.doc, e.read = e.doc.With(r), nil
}
