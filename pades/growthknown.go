package pades

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/innsigli/innsigli/internal/pdf"
)

// maxKnown bounds the objects that a document leads to.
const maxKnown = 1 << 20

// references follows the references of a document as it was, and compares what they lead
// to with what they lead to now.
type references struct {
	ctx         context.Context
	now, before *pdf.File
	count       map[pdf.Ref]int // how often each is there
	next        []pdf.Ref       // not followed yet
	changed     []pdf.Ref
}

func (r *references) note(o pdf.Object) {
	switch o := o.(type) {
	case pdf.Ref:
		if r.count[o]++; r.count[o] == 1 {
			r.next = append(r.next, o)
		}
	case pdf.Array:
		for _, item := range o {
			r.note(item)
		}
	case pdf.Dict:
		for _, value := range o {
			r.note(value)
		}
	case *pdf.Stream:
		r.note(o.Dict)
	}
}

func (r *references) follow() error {
	for len(r.next) > 0 {
		round := r.next
		r.next = nil
		// Numbers that follow one another are mostly in one object stream.
		slices.SortFunc(round, func(a, b pdf.Ref) int { return cmp.Compare(a.Num, b.Num) })
		for _, ref := range round {
			if err := r.ctx.Err(); err != nil {
				return err
			}
			if err := r.compare(ref); err != nil {
				return err
			}
		}
	}
	return nil
}

// compare fails for an object that cannot be read: somebody else might.
func (r *references) compare(ref pdf.Ref) error {
	if len(r.count) > maxKnown {
		return fmt.Errorf("%w: references", pdf.ErrLimit)
	}
	before, err := r.before.Object(ref)
	if err != nil {
		return err
	}
	r.note(before)
	now, err := r.now.Object(ref)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(before, now) || opensOut(r.before, before) {
		r.changed = append(r.changed, ref)
	}
	return nil
}

// opensOut says whether a stream says of itself that it goes on where the document ended:
// it would have what follows in it.
func opensOut(before *pdf.File, o pdf.Object) bool {
	stream, ok := o.(*pdf.Stream)
	if !ok {
		return false
	}
	stated, err := before.Int(stream.Dict["Length"])
	return err == nil && stated > before.Size()-stream.Offset
}
