package pades

import (
	"cmp"
	"context"
	"slices"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/evidence"
)

// ExtendLast raises the last signature of a document to a level and leaves the others as
// they are: whoever has just signed answers for that one, while earlier signers may lead to
// roots that nobody here trusts. What is appended and the errors are those of [Extend].
func ExtendLast(ctx context.Context, doc Document, level ades.Level, s ades.Sources) ([]Revision, error) {
	if err := checkLevel(level); err != nil {
		return nil, err
	}
	e := extension{ctx: ctx, doc: doc, sources: s}
	if err := e.raiseLast(level); err != nil {
		return nil, readError(err)
	}
	return e.revisions, nil
}

func (e *extension) raiseLast(level ades.Level) error {
	c, err := e.last()
	if err != nil {
		return err
	}
	if level >= ades.T && !c.timestamped() {
		if err := e.stamp(); err != nil {
			return err
		}
	}
	if level >= ades.LT {
		if err := e.embedLast(); err != nil {
			return err
		}
	}
	if level == ades.LTA {
		return e.stamp()
	}
	return nil
}

// last reads what the document has by way of its last signature alone.
func (e *extension) last() (*carried, error) {
	c, err := readCarried(e.doc)
	if err != nil {
		return nil, err
	}
	if len(c.signatures) == 0 {
		return nil, ErrUnsigned
	}
	last := slices.MaxFunc(c.signatures, func(a, b carriedSignature) int { return cmp.Compare(a.end, b.end) })
	c.signatures = []carriedSignature{last}
	c.stamps = slices.DeleteFunc(c.stamps, func(s carriedStamp) bool { return s.ranges.end < last.end })
	return c, nil
}

// embedLast appends the validation data that the last signature lacks.
func (e *extension) embedLast() error {
	c, err := e.last()
	if err != nil {
		return err
	}
	lacking := e.lacking(c)
	if len(lacking) == 0 {
		return nil
	}
	found, err := evidence.Collect(e.ctx, e.sources, c.known, lacking...)
	if err != nil {
		return err
	}
	r, err := embedded(e.doc, c.data, found)
	if err != nil || len(r.Bytes) == 0 {
		return err
	}
	e.grow(r)
	return nil
}
