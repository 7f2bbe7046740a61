package xades

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/evidence"
	"github.com/innsigli/innsigli/internal/validation"
	"github.com/innsigli/innsigli/internal/xmldoc"
)

// inspection is the verification of one document.
type inspection struct {
	ctx        context.Context
	document   *xmldoc.Document
	options    VerifyOptions
	known      *evidence.Known // whom to trust
	signatures []signature
	scopes     []scope // what each of them signs
	loose      bool    // one of them carries something that it does not sign
}

// verification is the work on one signature.
type verification struct {
	*inspection
	*signature
	signs    scope
	known    *evidence.Known // with what the signature carries
	stamps   []validation.Timestamp
	archives []validation.Timestamp
	// evidenceAt is the earliest time at which an archive timestamp that is trusted proves the validation data.
	evidenceAt time.Time
	report     ades.SignatureReport
}

func newInspection(ctx context.Context, d *xmldoc.Document, options VerifyOptions) (*inspection, error) {
	signatures, err := readSignatures(d)
	if err != nil {
		return nil, err
	}
	i := &inspection{
		ctx: ctx, document: d, options: options, signatures: signatures,
		known: evidence.NewKnown(ctx, ades.Sources{Roots: options.Roots, Chains: new(ades.Chains)}),
	}
	_, ambiguous := d.DuplicateID()
	for n := range signatures {
		s := scopeOf(&signatures[n], ambiguous)
		i.scopes, i.loose = append(i.scopes, s), i.loose || s.hasLoose()
	}
	return i, ctx.Err()
}

// reports judges the signatures in the order in which they were made: one that is in the content of
// another ends before that one, and parallel ones follow each other.
func (i *inspection) reports() (*ades.Report, error) {
	order := make([]int, len(i.signatures))
	for n := range order {
		order[n] = n
	}
	end := func(n int) int64 { _, end := i.signatures[n].element.Span(); return end }
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(end(a), end(b)) })
	report := new(ades.Report)
	for _, n := range order {
		v := verification{inspection: i, signature: &i.signatures[n], signs: i.scopes[n]}
		if err := cmp.Or(v.run(), i.ctx.Err()); err != nil {
			return nil, err
		}
		report.Signatures = append(report.Signatures, v.report)
	}
	return report, nil
}
