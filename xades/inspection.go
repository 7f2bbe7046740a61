package xades

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/validation"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

// inspection is the verification of one document.
type inspection struct {
	ctx        context.Context
	document   *xmldoc.Document
	options    ades.VerifyOptions
	known      *validation.Known  // whom to trust, and what KeyInfo and the timestamps of all signatures carry
	shared     *validation.Data   // validation data of all signatures
	online     *validation.Online // nil: nobody is asked
	signatures []signature        // those in unsigned properties come last
	scopes     []scope            // what each of them signs
	loose      []xmldoc.Node      // those that carry something that they do not sign

	contents     map[xmldoc.Node]content // that were asked for
	instructions func() bool             // says whether some stand beside the root
}

// verification is the work on one signature.
type verification struct {
	*inspection
	*signature
	signs    scope
	known    *validation.Known // with what the signature carries
	stamps   []validation.Timestamp
	archives []validation.Timestamp
	absent   bool // something that a Manifest lists is; that was told
	report   ades.SignatureReport
}

func newInspection(ctx context.Context, d *xmldoc.Document, options ades.VerifyOptions) (*inspection, error) {
	found, unsigned := xmldsig.Find(d), xmldsig.FindUnsigned(d)
	if err := checkNumber(len(found) + len(unsigned)); err != nil {
		return nil, err
	}
	reader := newSignatureReader(ctx, d)
	signatures := reader.readAll(found)
	markEnclosed(signatures)
	signatures = append(signatures, reader.readAll(unsigned)...)
	i := &inspection{
		ctx: ctx, document: d, options: options, signatures: signatures,
		known:    validation.NewKnown(ctx, ades.Sources{Roots: options.Roots, TimestampRoots: options.TimestampRoots, Chains: new(ades.Chains)}),
		online:   validation.NewOnline(ctx, ades.Sources{Roots: options.Roots, TimestampRoots: options.TimestampRoots, Revocation: options.Revocation, Issuers: options.Issuers}),
		contents: make(map[xmldoc.Node]content), instructions: sync.OnceValue(func() bool { return hasInstructions(d) }),
	}
	for _, s := range signatures {
		i.known = i.known.With(s.known...)
	}
	i.shared = dataOf(signatures).ChargeTo(i.known)
	_, ambiguous := d.DuplicateID()
	for n := range signatures {
		s := scopeOf(&signatures[n], ambiguous)
		s.stray = n >= len(found) && !s.counter
		i.scopes = append(i.scopes, s)
		if s.hasLoose() {
			i.loose = append(i.loose, s.element)
		}
	}
	return i, ctx.Err()
}

func dataOf(signatures []signature) *validation.Data {
	var all []*validation.Data
	for _, s := range signatures {
		all = append(all, s.data)
	}
	return validation.Merge(all...)
}

func (i *inspection) reports() (*ades.Report, error) {
	report := new(ades.Report)
	for _, n := range i.order() {
		v := verification{inspection: i, signature: &i.signatures[n], signs: i.scopes[n]}
		if err := cmp.Or(v.run(), i.ctx.Err()); err != nil {
			return nil, err
		}
		report.Signatures = append(report.Signatures, v.report)
	}
	return report, nil
}

// order is that in which the signatures were made: one that is in the content of another ends before that
// one, parallel ones follow each other, and counter-signatures follow what they sign.
func (i *inspection) order() []int {
	order, end := make([]int, len(i.signatures)), make([]int64, len(i.signatures))
	for n := range order {
		order[n] = n
		_, end[n] = lineage(i.signatures[n].element).Span()
	}
	start := func(n int) int64 { start, _ := i.signatures[n].element.Span(); return start }
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(end[a], end[b]), cmp.Compare(start(a), start(b)))
	})
	return order
}
