package pades

import (
	"cmp"
	"context"
	"hash"
	"slices"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/cms"
	"github.com/innsigli/innsigli/internal/evidence"
)

// inspection is the verification of one document.
type inspection struct {
	ctx context.Context
	coverage
	options    VerifyOptions
	taken      map[int64]bool // gaps that are other fields' signatures
	evidence   *evidence.Data // of the document security store
	stored     bool           // there is one
	timestamps []timestamp    // of the document, in the order of what they cover
	earlier    map[int64]earlierEvidence
}

// verification is the work on one signature.
type verification struct {
	*inspection
	field signatureField

	ranges byteRange
	signed *cms.SignedData
	stamps []timestamp // that the signature carries
	report ades.SignatureReport
}

func (d *inspection) report(fields []signatureField) (*ades.Report, error) {
	report := new(ades.Report)
	for _, f := range fields {
		v := verification{inspection: d, field: f}
		if err := v.run(); err != nil {
			return nil, readError(err)
		}
		report.Signatures = append(report.Signatures, v.report)
	}
	slices.SortStableFunc(report.Signatures, func(a, b ades.SignatureReport) int { return cmp.Compare(a.CoveredBytes, b.CoveredBytes) })
	return report, d.noteGrowth(report.Signatures)
}

// noteGrowth looks at what follows the last signature. What follows the others has a
// signature in it.
func (d *inspection) noteGrowth(signatures []ades.SignatureReport) (err error) {
	if len(signatures) == 0 {
		return nil
	}
	last := &signatures[len(signatures)-1]
	if last.Coverage == ades.WholeRevision {
		last.Extended, err = d.grewByProof(last.CoveredBytes)
	}
	return readError(err)
}

// claim reads what ByteRange leaves out, which no two fields may share. The problem is
// empty when all is well.
func (d *inspection) claim(f signatureField) (r byteRange, contents []byte, problem string) {
	r, contents, problem = d.read(f)
	if problem == "" && d.taken[r.gap] {
		problem = "The signature is another field's."
	}
	if problem == "" {
		d.taken[r.gap] = true
	}
	return r, contents, problem
}

// hash hashes what a ByteRange covers.
func (d *inspection) hash(h hash.Hash, r byteRange) error {
	for _, part := range r.parts() {
		if err := hashPart(d.ctx, h, d.doc, part[0], part[1]); err != nil {
			return err
		}
	}
	return nil
}
