package pades

import (
	"slices"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/pades/internal/diff"
)

// maxChangesInReport bounds the changes in a report, for all signatures together.
const maxChangesInReport = 1 << 18

// noteChanges adds the changes by later revisions to the report of each signature. all is in the
// order in which the signatures were made.
func (d *documentValidation) noteChanges(all []signatureValidation) error {
	if len(all) == 0 {
		return nil
	}
	ends := d.revisions
	if last := len(ends) - 1; last < 0 || !d.endsAt(ends[last], d.doc.Size) {
		ends = append(slices.Clone(ends), d.doc.Size)
	}
	doc := diff.Document{Bytes: d.doc, File: d.file, Ends: ends, Trusted: d.trustsTimestamps}
	for _, v := range all {
		if v.report.CoveredBytes > 0 {
			doc.Signed = append(doc.Signed, d.revisionAt(ends, v.report.CoveredBytes))
		}
	}
	history, err := diff.Compare(d.ctx, doc)
	if err != nil {
		return readError(err)
	}
	for i := range all {
		report := &all[i].report
		if report.CoveredBytes == 0 {
			continue
		}
		signed := d.revisionAt(ends, report.CoveredBytes)
		report.Changes = history.Since(signed, max(maxChangesInReport/len(all), 1))
		if history.PagesChanged(signed) && report.Indication != ades.TotalFailed {
			// Readers no longer see the document that was signed.
			report.Indication = ""
			report.Fail(ades.Indeterminate, ades.FormatFailure, "Pages were added or removed since.")
		}
	}
	// The others have a signature after them, and so are not Extended.
	last := &all[len(all)-1].report
	if last.Coverage == ades.WholeRevision && len(ends) == len(d.revisions) && diff.ValidationDataOnly(last.Changes) {
		return d.noteExtended(last)
	}
	return nil
}

// noteExtended sets Extended if the validation-data-only update after the last signature is written
// strictly. No signature covers that update, so all readers have to find the same in it.
func (d *documentValidation) noteExtended(last *ades.SignatureReport) error {
	before, err := d.file.EarlierRevision(last.CoveredBytes)
	if err == nil {
		last.Extended, err = d.file.IsStrictIncrement(before)
	}
	if err != nil || !last.Extended {
		last.Extended = false
		last.Warnings = append(last.Warnings, "The validation data after the signature is not written strictly as an incremental update: other readers may find something else in it.")
	}
	return readError(pdf.IgnoreMalformed(err))
}

// revisionAt returns the number, from 1, of the revision in which the covered bytes of a signature
// end.
func (d *documentValidation) revisionAt(ends []int64, covered int64) int {
	for i, end := range ends {
		if end >= covered || d.endsAt(end, covered) {
			return i + 1
		}
	}
	return len(ends)
}

// trustsTimestamps reports whether there are document timestamps in the field of that name, and all
// of them are trusted.
func (d *documentValidation) trustsTimestamps(field string) bool {
	found := false
	for _, t := range d.timestamps {
		if t.Report.Name == field && !t.Report.Trusted {
			return false
		}
		found = found || t.Report.Name == field
	}
	return found
}
