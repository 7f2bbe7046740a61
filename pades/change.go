package pades

import (
	"errors"
	"slices"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
)

// history is what became of a document since its first signature. Revisions are compared with the
// one before each, once for all signatures: what a later one takes back has been there.
type history struct {
	*inspection
	ends    []int64 // of all revisions, the last one being the document's
	changes []change
	pages   map[int]int   // how many there were, by revision
	rules   map[int]rules // of the revisions that signatures were made in
	said    saidInMetadata
}

// maxRevisions bounds those that are compared, and maxListed the changes that are told of all signatures
// together: what else there is counts as unknown.
const (
	maxRevisions = 1000
	maxListed    = 1 << 18
)

// noteChanges says of each signature what became of what it covers.
func (d *inspection) noteChanges(all []verification) (err error) {
	h := history{inspection: d, ends: d.revisions, pages: make(map[int]int), rules: make(map[int]rules), said: saidInMetadata{make(map[streamAt]statements), maxSaid}}
	if last := len(h.ends) - 1; last < 0 || !d.endsAt(h.ends[last], d.doc.Size) {
		h.ends = append(slices.Clone(h.ends), d.doc.Size)
	}
	first := len(h.ends)
	for _, v := range all {
		if v.report.CoveredBytes > 0 {
			signed := h.signedIn(v.report.CoveredBytes)
			first, h.rules[signed] = min(first, signed), rules{permission: NoChanges}
		}
	}
	if err = h.compare(first); err != nil {
		return readError(err)
	}
	for i := range all {
		if all[i].report.CoveredBytes > 0 {
			h.note(&all[i].report, max(maxListed/len(all), 1))
		}
	}
	if len(all) == 0 {
		return nil
	}
	last := &all[len(all)-1].report // what follows the others has a signature in it
	last.Extended, err = h.validationDataOnly(last)
	return readError(err)
}

// validationDataOnly reports whether everything that follows a signature is a validation-data-only update: validation
// data and document timestamps, which ISO 32000-2 12.8.2.2.2 permits whatever the author permits, with the producer and
// the date of the last writer. Such an update has no signature over it, so that all of it has to be written strictly.
func (h *history) validationDataOnly(s *ades.SignatureReport) (bool, error) {
	other := func(c ades.Change) bool {
		return c.Kind != ades.ChangeValidationData && c.Kind != ades.ChangeHidden && c.Kind != ades.ChangeProducer
	}
	if s.Coverage != ades.WholeRevision || slices.ContainsFunc(s.Changes, other) || h.ends[len(h.ends)-1] != h.revisions[len(h.revisions)-1] {
		return false, nil
	}
	before, err := h.file.Earlier(s.CoveredBytes)
	if err != nil {
		return false, notMalformed(err)
	}
	strict, err := h.file.PlainlyExtends(before)
	if err != nil || !strict {
		s.Warnings = append(s.Warnings, "What was appended last is validation data, but is not written strictly as an incremental update, so that readers may find something else in it.")
		return false, notMalformed(err)
	}
	return true, nil
}

// signedIn is the revision that a signature over a beginning of the document was made in: an end
// of line may follow its marker. The first is 1.
func (h *history) signedIn(covered int64) int {
	for i, end := range h.ends {
		if end >= covered || h.endsAt(end, covered) {
			return i + 1
		}
	}
	return len(h.ends)
}

// revision opens the document as it was. nil: it cannot be read.
func (h *history) revision(n int) (*pdf.File, error) {
	if n == len(h.ends) {
		return h.file, nil
	}
	file, err := h.file.Earlier(h.ends[n-1])
	if errors.Is(err, pdf.ErrNotPDF) || errors.Is(err, pdf.ErrEncrypted) {
		return nil, nil
	}
	return file, notMalformed(err)
}

// compare compares all revisions from one on. Where there is more than is looked at, the rest is
// unknown.
func (h *history) compare(from int) error {
	var graph *graph
	var before *pdf.File
	for n := from; n <= len(h.ends) && len(h.ends) > from; n++ {
		now, err := h.revision(n)
		if err == nil && now != nil {
			err = h.readRules(n, now)
		}
		switch {
		case err != nil:
			return err
		case now == nil || n-from > maxRevisions:
			h.unknown(n)
			return nil
		case n == from:
			graph, err = readGraph(h.ctx, now, new(int))
		default:
			err = h.step(graph, before, now, n)
		}
		if err != nil {
			h.unknown(max(n, from+1))
			return notMalformed(err)
		}
		h.pages[n], before = len(graph.pages), now
	}
	return nil
}

func (h *history) readRules(n int, file *pdf.File) (err error) {
	if _, signed := h.rules[n]; signed {
		h.rules[n], err = rulesOf(file)
	}
	return err
}

// step compares a revision with the one before it.
func (h *history) step(graph *graph, before, now *pdf.File, n int) error {
	c := comparison{
		ctx: h.ctx, doc: h.doc, before: before, now: now, graph: graph, revision: n,
		seen: make(map[ades.Change]bool), moved: make(map[uint32]bool), filled: make(map[string]bool),
		signed: make(map[string]judgement), added: make(map[pdf.Ref]int), stamps: h.timestamps, said: &h.said,
	}
	err := c.run()
	h.changes = append(h.changes, c.changes...)
	return err
}

// unknown notes that nothing is known of what a revision and those behind it did.
func (h *history) unknown(n int) {
	for ; n <= len(h.ends); n++ {
		h.changes = append(h.changes, change{ades.Change{Revision: n, Kind: ades.ChangeUnknown}, never, nil})
	}
}

// note lists what became of what a signature covers. Where pages came or went, readers do not have
// the document before them that was signed; EU DSS takes it for no PDF that it can judge.
func (h *history) note(report *ades.SignatureReport, most int) {
	signed := h.signedIn(report.CoveredBytes)
	for _, c := range h.changes {
		if len(report.Changes) == most {
			report.Changes[most-1] = ades.Change{Revision: c.Revision, Kind: ades.ChangeUnknown}
			break
		}
		if c.Revision > signed {
			c.Permitted = h.rules[signed].permits(c)
			report.Changes = append(report.Changes, c.Change)
		}
	}
	before, known := h.pages[signed]
	if now, ok := h.pages[len(h.ends)]; known && ok && before != now && report.Indication != ades.TotalFailed {
		report.Indication = ""
		report.Fail(ades.Indeterminate, ades.FormatFailure, "Pages were added or removed since.")
	}
}
