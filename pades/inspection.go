package pades

import (
	"cmp"
	"context"
	"slices"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/cms"
	"github.com/innsigli/innsigli/internal/pki/validation"
	"github.com/innsigli/innsigli/pades/internal/form"
)

// inspection is the verification of one document.
type inspection struct {
	ctx context.Context
	coverage
	options    ades.VerifyOptions
	broken     bool           // the cross-reference, so that nothing covers what is shown
	taken      map[int64]bool // gaps that are other fields' signatures
	sums       *rangeHashes
	store      store
	timestamps []documentTimestamp // in the order of what they cover
	earlier    map[int64]store     // of earlier revisions, by their length
	decoded    map[storedAt]stream // of all stores
	signed     []int64             // ends of revisions, see signedEnds
	known      *validation.Known   // whom to trust, and what the document timestamps carry
	online     *validation.Online  // nil: nobody is asked
}

// verification is the work on one signature.
type verification struct {
	*inspection
	field form.SignatureField

	ranges byteRange
	signed *cms.SignedData
	known  *validation.Known      // with what the signature carries
	data   *validation.Data       // that of the store, with what the signature carries
	stamps []validation.Timestamp // that the signature carries
	report ades.SignatureReport
}

func (d *inspection) report(fields []form.SignatureField) (*ades.Report, error) {
	all := make([]verification, 0, len(fields))
	for _, f := range fields {
		v := verification{inspection: d, field: f}
		if err := cmp.Or(v.run(), d.ctx.Err()); err != nil {
			return nil, readError(err)
		}
		all = append(all, v)
	}
	slices.SortStableFunc(all, func(a, b verification) int {
		return cmp.Or(cmp.Compare(a.ranges.end, b.ranges.end), cmp.Compare(a.report.CoveredBytes, b.report.CoveredBytes))
	})
	if err := d.noteChanges(all); err != nil {
		return nil, err
	}
	report := new(ades.Report)
	for _, v := range all {
		report.Signatures = append(report.Signatures, v.report)
	}
	return report, nil
}

// claim reads what ByteRange leaves out, which no two fields may share. The problem is
// empty when all is well.
func (d *inspection) claim(f form.SignatureField) (r byteRange, contents []byte, problem string) {
	if d.broken {
		return r, nil, brokenDocument
	}
	r, contents, problem = d.read(f)
	if problem == "" && d.taken[r.gap] {
		problem = "The signature is another field's."
	}
	if problem == "" {
		d.taken[r.gap] = true
	}
	return r, contents, problem
}
