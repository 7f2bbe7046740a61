// Package diff compares the revisions of a PDF with each other. For each object that a revision changed it reports what
// the change is to a reader, and whether an earlier signature permits it (ISO 32000-2 12.8.2.2.2 and 12.8.2.4).
//
// Each revision is compared with the one before it, object by object. An object is judged by the roles that it has: by
// the ways in which the trailer leads to it. One and the same stream may be the content of a page and the appearance of
// a field, and a change of it is then both. A change that no rule covers is not permitted, nor is one that readers of PDF
// may understand in different ways.
//
// [Compare] does all of the work, once for all signatures of a document; [History.Since] reports to one of them.
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

// Document is the document that is compared.
type Document struct {
	Bytes io.ReaderAt
	File  *pdf.File // as it is now
	Ends  []int64   // the end of each revision, the last of which is the end of File
	// Signed are the revisions that have a signature over them, by their numbers: the first revision is 1.
	Signed []int
	// Trusted reports whether the document timestamps in the field of that name are trusted.
	Trusted func(field string) bool
}

// History is what the revisions after the first signed one changed.
type History struct {
	ctx context.Context
	Document
	changes  []change
	pages    map[int]int   // number of pages, by revision
	rules    map[int]rules // of the revisions that are signed
	metadata metadataCache
}

// change is a change with the least permission that allows it.
type change struct {
	ades.Change
	needs form.Permission
	at    *position // the position that was being compared; nil: the trailer
}

// Bounds on the revisions that are compared, and on the changes that are kept of one revision and of all. Beyond them a
// change is reported as unknown.
const (
	maxRevisions    = 1000
	maxChanges      = 10_000
	maxChangesInAll = 1 << 18
)

// Bounds on the locks of one revision, and on the fields that they name. Beyond them nothing is permitted.
const (
	maxLocks        = 1024
	maxLockedFields = 1 << 16
)

// Compare compares the revisions of a document from the first signed one on. The error is one of reading, or the
// context's: what cannot be compared is reported as [ades.ChangeUnknown].
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

// compare compares all revisions from a signed one on. Where a bound is reached, the rest is unknown.
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

// open opens the document as it was in a revision; nil: it cannot be opened.
func (h *History) open(n int) (*pdf.File, error) {
	if n == len(h.Ends) {
		return h.File, nil
	}
	file, err := h.File.Earlier(h.Ends[n-1])
	if errors.Is(err, pdf.ErrNotPDF) || errors.Is(err, pdf.ErrEncrypted) {
		return nil, nil
	}
	return file, pdf.IgnoreMalformed(err)
}

// compareRevision compares a revision with the one before it, whose graph becomes that of this one.
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

// addUnknownFrom notes that a revision and those after it made changes that are not known.
func (h *History) addUnknownFrom(n int) {
	for ; n <= len(h.Ends); n++ {
		h.changes = append(h.changes, change{ades.Change{Revision: n, Kind: ades.ChangeUnknown}, form.Never, nil})
	}
}

// Since returns the changes that were made after a revision of Document.Signed, with whether its signatures permit them.
// Of more than limit, the last that is returned stands for the rest and is of an unknown kind.
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

// PagesChanged reports whether the document has more or fewer pages than a revision had. Where either number is not
// known it reports false; the change is then among those of an unknown kind.
func (h *History) PagesChanged(revision int) bool {
	before, known := h.pages[revision]
	now, ok := h.pages[len(h.Ends)]
	return known && ok && before != now
}

// ValidationDataOnly reports whether changes are a validation-data-only update (ISO 32000-2 12.8.2.2.2): validation data
// and document timestamps, with the producer and date that every writer notes, and objects that nothing leads to.
func ValidationDataOnly(changes []ades.Change) bool {
	return !slices.ContainsFunc(changes, func(c ades.Change) bool {
		return c.Kind != ades.ChangeValidationData && c.Kind != ades.ChangeProducer && c.Kind != ades.ChangeHidden
	})
}

// rules are what a signature, the signatures before it, and the certification of the document let later revisions do.
type rules struct {
	permission form.Permission
	locks      []form.Lock
	named      int             // fields that the locks name
	locked     map[string]bool // whether a field is locked, of those asked about
}

// rulesOf reads the rules of the revision that was signed: later revisions could lift them. Rules that cannot be read
// may forbid anything. Without any rule, forms may be filled in, as with P of 2 (ISO 32000-2 table 257).
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

// add adds a lock. The strictest permission holds, and one that is not known permits nothing.
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

// permit reports whether the rules permit a change: validation data and document timestamps always, and of fields those
// that are not locked (ISO 32000-2 12.8.2.2.2, 12.8.2.4).
func (r rules) permit(c change) bool {
	if c.needs > r.permission {
		return false
	}
	field := c.Kind == ades.ChangeForm || c.Kind == ades.ChangeSignature
	return !field || !r.isLocked(c)
}

// isLocked reports whether a lock applies to what was changed. What belongs to several fields may belong to a locked
// one; what belongs to the form as a whole belongs to none.
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
