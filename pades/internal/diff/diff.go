// Package diff compares the revisions of a PDF. It reports each object that a revision changed,
// what the change means to a reader of the document, and whether an earlier signature permits the
// change (ISO 32000-2 12.8.2.2.2 and 12.8.2.4).
//
// Each revision is compared with the one before it, object by object. An object has a role for each
// way in which the trailer leads to it, and a change is judged by these roles. For example, one
// stream may be the content of a page and the appearance of a field; if it changes, both the page
// and the field change. A change that no rule covers is not permitted, nor is a change that PDF
// readers may understand in different ways.
//
// [Compare] does all of the work, once for all signatures of a document. [History.Since] reports
// the changes after one of the signatures.
package diff

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/pades/internal/form"
)

// Document is a document to compare.
type Document struct {
	Bytes io.ReaderAt
	File  *pdf.File // the last revision
	Ends  []int64   // the end of each revision; the last is the end of File
	// Signed has the numbers of the revisions that a signature covers. The first revision is 1.
	Signed []int
	// Trusted reports whether the document timestamps in the field of that name are trusted.
	Trusted func(field string) bool
}

// History has the changes that were made after the first signed revision.
type History struct {
	ctx context.Context
	Document
	changes  []change
	pages    map[int]int   // the number of pages of each revision
	rules    map[int]rules // the rules of each signed revision
	metadata metadataCache
}

// change is a change with the least permission that allows it.
type change struct {
	ades.Change
	needs form.Permission
	at    *position // the position that was compared; nil: none in particular, or the trailer
}

// rules are the rules that the signatures up to a signed revision, and the certification of the
// document, set for later revisions.
type rules struct {
	permission form.Permission
	locks      []form.Lock
	named      int             // the number of field names in the locks
	locked     map[string]bool // results of isLocked, by field name
}

// Bounds on the number of revisions that are compared, and of changes that are kept of one revision
// and of all. Changes beyond these bounds are reported as unknown.
const (
	maxRevisions    = 1000
	maxChanges      = 10_000
	maxChangesInAll = 1 << 18
)

// Bounds on the number of locks in one revision, and of the field names in them. Beyond these
// bounds only validation data is permitted, as with P of 1.
const (
	maxLocks        = 1024
	maxLockedFields = 1 << 16
)

// Compare compares the revisions of a document from the first signed one on. What cannot be
// compared is reported as [ades.ChangeUnknown]. The error is an error of reading, or of the
// context.
func Compare(ctx context.Context, doc Document) (*History, error) {
	h := &History{
		ctx: ctx, Document: doc, pages: make(map[int]int), rules: make(map[int]rules),
		metadata: metadataCache{make(map[streamPlace]statements), maxMetadataInAll},
	}
	if len(doc.Signed) == 0 || len(doc.Ends) == 0 {
		return h, nil
	}
	return h, h.compare(slices.Min(doc.Signed))
}

// Since returns the changes that were made after a revision in Document.Signed, each with whether
// the signatures up to that revision permit it. If there are more than limit, the last one returned
// has an unknown kind and stands for the rest.
func (h *History) Since(signed, limit int) []ades.Change {
	var all []ades.Change
	for _, c := range h.changes {
		if c.Revision <= signed {
			continue
		}
		if len(all) == limit {
			all[limit-1] = ades.Change{Revision: c.Revision, Kind: ades.ChangeUnknown}
			break
		}
		c.Permitted = h.rules[signed].permit(c)
		all = append(all, c.Change)
	}
	return all
}

// PagesChanged reports whether the last revision has more or fewer pages than a revision. It
// reports false if one of the two numbers is not known; [History.Since] then returns a change of an
// unknown kind.
func (h *History) PagesChanged(revision int) bool {
	before, known := h.pages[revision]
	now, ok := h.pages[len(h.Ends)]
	return known && ok && before != now
}

// ValidationDataOnly reports whether changes are a validation-data-only update (ISO 32000-2
// 12.8.2.2.2): validation data and document timestamps. Such an update may also change the producer
// and the date in the metadata, as every writer does, and add objects that nothing refers to.
func ValidationDataOnly(changes []ades.Change) bool {
	return !slices.ContainsFunc(changes, func(c ades.Change) bool {
		return c.Kind != ades.ChangeValidationData && c.Kind != ades.ChangeProducer && c.Kind != ades.ChangeHidden
	})
}

// compare compares all revisions from the signed revision first on. If a bound is reached or a
// revision cannot be read, the changes from there on are unknown.
func (h *History) compare(first int) error {
	var graph *graph
	var before *pdf.File
	for n := first; n <= len(h.Ends) && len(h.Ends) > first; n++ {
		now, err := h.open(n)
		if err == nil && now != nil && slices.Contains(h.Signed, n) {
			h.rules[n], err = rulesOf(now)
		}
		switch {
		case err != nil:
			return err
		case now == nil || n-first > maxRevisions:
			h.addUnknownFrom(n)
			return nil
		case n == first:
			graph, err = readGraph(h.ctx, now, new(int))
		default:
			err = h.compareRevision(graph, before, now, n)
		}
		if err != nil {
			h.addUnknownFrom(max(n, first+1))
			return pdf.IgnoreMalformed(err)
		}
		h.pages[n], before = len(graph.pages), now
	}
	return nil
}

// open opens the document as it was in revision n; nil if it cannot be opened.
func (h *History) open(n int) (*pdf.File, error) {
	if n == len(h.Ends) {
		return h.File, nil
	}
	file, err := h.File.EarlierRevision(h.Ends[n-1])
	if errors.Is(err, pdf.ErrNotPDF) || errors.Is(err, pdf.ErrEncrypted) {
		return nil, nil
	}
	return file, pdf.IgnoreMalformed(err)
}

// compareRevision compares revision n with the one before it. graph is the graph of the revision
// before, and becomes the graph of revision n.
func (h *History) compareRevision(graph *graph, before, now *pdf.File, n int) error {
	c := comparison{
		history: h, before: before, now: now, graph: graph, revision: n,
		seen: make(map[ades.Change]bool), moved: make(map[uint32]bool), filledFields: make(map[string]bool),
		signedFields: make(map[string]effect), addedFields: make(map[pdf.Ref]int),
	}
	err := c.run()
	h.changes = append(h.changes, c.changes...)
	if err == nil && len(h.changes) > maxChangesInAll {
		err = fmt.Errorf("%w: changes", pdf.ErrLimit)
	}
	return err
}

// addUnknownFrom adds an unknown change for revision n and for each later one.
func (h *History) addUnknownFrom(n int) {
	for ; n <= len(h.Ends); n++ {
		h.changes = append(h.changes, change{ades.Change{Revision: n, Kind: ades.ChangeUnknown}, form.Never, nil})
	}
}

// rulesOf reads the rules in the signed revision itself, because later revisions could remove them.
// Rules that cannot be read may forbid anything, and are taken as P of 1. Without any rule, form
// filling is permitted, as with P of 2 (ISO 32000-2 table 257).
func rulesOf(file *pdf.File) (rules, error) {
	r := rules{permission: form.Never, locked: make(map[string]bool)}
	fields, err := form.Read(file)
	if err == nil {
		err = form.EachCertificationLock(file, r.add)
	}
	for _, f := range fields.Signatures {
		if err != nil {
			break
		}
		err = form.EachLock(file, f, r.add)
	}
	if err != nil {
		return rules{permission: form.NoChanges}, pdf.IgnoreMalformed(err)
	}
	if r.permission == form.Never {
		r.permission = form.FormFilling
	}
	return r, nil
}

// add adds a lock. The strictest permission of all locks applies; an unknown permission permits
// nothing.
func (r *rules) add(l form.Lock) error {
	if r.named += len(l.Fields); len(r.locks) == maxLocks || r.named > maxLockedFields {
		return fmt.Errorf("%w: locks", pdf.ErrLimit)
	}
	if l.Permission < 0 || l.Permission > form.Annotations {
		l.Permission = form.NoChanges
	}
	if l.Permission != 0 {
		r.permission = min(r.permission, l.Permission)
	}
	r.locks = append(r.locks, l)
	return nil
}

// permit reports whether the rules permit a change. Validation data and document timestamps are
// always permitted, and changes of a form field unless a lock applies to it (ISO 32000-2
// 12.8.2.2.2, 12.8.2.4).
func (r rules) permit(c change) bool {
	if c.needs > r.permission {
		return false
	}
	field := c.Kind == ades.ChangeForm || c.Kind == ades.ChangeSignature
	return !field || !r.isLocked(c)
}

// isLocked reports whether a lock applies to the field that was changed. An object that belongs to
// several fields is locked if there is any lock of fields, since one of these fields may be locked.
// No lock applies to a part of the form that belongs to no field.
func (r rules) isLocked(c change) bool {
	if c.Field == "" {
		return c.at != nil && c.at.role.ofField() && slices.ContainsFunc(r.locks, func(l form.Lock) bool { return l.Action != "" })
	}
	locked, known := r.locked[c.Field]
	if !known {
		locked = slices.ContainsFunc(r.locks, func(l form.Lock) bool { return l.Locks(c.Field) })
		r.locked[c.Field] = locked
	}
	return locked
}
