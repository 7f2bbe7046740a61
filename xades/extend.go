package xades

import (
	"context"
	"fmt"
	"strings"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/validation"
)

// Extender raises documents to a level. Nothing of what was signed or timestamped changes: evidence is put
// behind the unsigned properties that are there. All methods return the revisions that follow one another:
// one, or none when the document has all of it already.
//
// A signature that another one signs, such as an enveloping one in a further enveloping one, stays as it
// is: whatever is known of it has to be added before it is signed in turn. So do counter-signatures, which get
// no evidence of their own; an archive timestamp of the signature that they stand in is over them, too.
//
// Whoever was revoked, or cannot be shown not to have been, is an error, as is a missing timestamp: never a
// lower level. Errors of all methods: [ades.ErrUnsigned]; [ades.ErrBroken], also for a signature or an archive
// timestamp whose value or digest is wrong, and for one whose references lead out of the document, which
// cannot be compared; [ades.ErrUnreadable]; [ades.ErrForbidden] for a signature without XAdES properties, and when
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
	return extension{Extender: x, ctx: ctx, which: everySignature}.run(doc, level)
}

// ExtendLast raises the signature that was made last, which is the last in the document but for those that
// it signs, and leaves the others as they are: whoever has just signed answers for that one, while earlier
// signers may lead to roots that nobody here trusts.
func (x Extender) ExtendLast(ctx context.Context, doc Document, level ades.Level) ([]Revision, error) {
	if err := checkLevel(level); err != nil {
		return nil, err
	}
	return extension{Extender: x, ctx: ctx, which: lastSignature}.run(doc, level)
}

// Renew puts a further archive timestamp over each signature of level LTA, before the certificate or the
// algorithms of the last one lose their force, and the validation data of that one before it (EN 319 132-1
// 5.5.2). A signature of a lower level is extended to LTA.
func (x Extender) Renew(ctx context.Context, doc Document) ([]Revision, error) {
	return extension{Extender: x, ctx: ctx, which: everySignature, renew: true}.run(doc, ades.LTA)
}

// extension is the work on one document, which is read once: what it gets is kept beside it.
type extension struct {
	Extender
	ctx   context.Context
	which selection
	renew bool
	read  *carried
	known *validation.Known // of which all questions are charged
}

func (e extension) run(doc Document, level ades.Level) ([]Revision, error) {
	e.known = validation.NewKnown(e.ctx, e.Sources)
	if err := e.begin(doc); err != nil {
		return nil, err
	}
	if err := e.raise(level); err != nil {
		return nil, err
	}
	return e.revisions()
}

// begin finds what there is to do.
func (e *extension) begin(doc Document) error {
	src, err := readSource(e.ctx, doc, nil)
	if err != nil {
		return err
	}
	if e.read, err = readCarried(e.ctx, src, e.which); err != nil {
		return err
	}
	switch {
	case e.read.hidden:
		return fmt.Errorf("%w: all signatures are signed by others, and evidence would change them", ades.ErrForbidden)
	case len(e.read.signatures) == 0:
		return ades.ErrUnsigned
	}
	if err := e.read.verify(e.ctx); err != nil {
		return err
	}
	e.read.signatures[0].RenewWork() // the bound is for what is made from here on
	for i := range e.read.signatures {
		s := &e.read.signatures[i]
		s.done = !e.renew && s.archived(e.known)
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

// each adds properties to the signatures, behind those that were added before.
func (e *extension) each(added func(*carriedSignature) (string, error)) error {
	for i := range e.read.signatures {
		s := &e.read.signatures[i]
		if s.done {
			continue
		}
		markup, err := added(s)
		if err != nil {
			return err
		}
		s.added += markup
	}
	return e.ctx.Err()
}

// revisions is the document with all that was added, if anything was.
func (e *extension) revisions() ([]Revision, error) {
	in := splicing{source: e.read.source, encoding: e.read.doc.Encoding()}
	tags := 0
	for _, s := range e.read.signatures {
		if s.added != "" {
			tags += strings.Count(s.added, "<")
			in.add(s.signature, s.added)
		}
	}
	if len(in.splices) == 0 {
		return nil, nil
	}
	if err := checkRoomFor(e.read.doc, tags); err != nil {
		return nil, err
	}
	r := in.revision()
	if size := r.size(); size > maxSize {
		return nil, errSize(size)
	}
	return []Revision{r}, nil
}
