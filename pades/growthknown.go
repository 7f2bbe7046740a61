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
	before, ended, err := r.before.EndedObject(ref)
	if err != nil {
		return err
	}
	r.note(before)
	now, err := r.now.Object(ref)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(before, now) || !ended || r.another(ref) {
		r.changed = append(r.changed, ref)
	}
	return nil
}

// another says whether an object was appended that some readers take a reference to another generation
// for, which is null (ISO 32000-2 7.3.10).
func (r *references) another(ref pdf.Ref) bool {
	current := r.now.Reference(ref.Num)
	if current == ref {
		return false
	}
	was, err := r.before.Object(current)
	if err != nil {
		return true
	}
	is, err := r.now.Object(current)
	return err != nil || !reflect.DeepEqual(was, is)
}
