package pades

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"reflect"
	"slices"

	"github.com/innsigli/innsigli/internal/pdf"
)

// equal says whether two objects are the same, but for where they stand. References that are the
// same are.
func (c *comparison) equal(old, now pdf.Object) (bool, error) {
	a, wasStream := old.(*pdf.Stream)
	b, isStream := now.(*pdf.Stream)
	if !wasStream || !isStream {
		return equal(old, now), nil
	}
	if a.Length != b.Length || !equal(a.Dict, b.Dict) {
		return false, nil
	}
	return a.Offset == b.Offset || c.samePayload(a, b), c.ctx.Err()
}

// equal says whether two objects that are no streams are the same. Numbers are what they come to:
// some writers give every number a fraction.
func equal(a, b pdf.Object) bool {
	switch a := a.(type) {
	case pdf.Array:
		other, ok := b.(pdf.Array)
		return ok && slices.EqualFunc(a, other, equal)
	case pdf.Dict:
		other, ok := b.(pdf.Dict)
		return ok && maps.EqualFunc(a, other, equal)
	case pdf.Integer:
		if other, ok := b.(pdf.Real); ok {
			return pdf.Real(a) == other
		}
	case pdf.Real:
		if other, ok := b.(pdf.Integer); ok {
			return a == pdf.Real(other)
		}
	case *pdf.Stream:
		return false // they are told apart by where they are
	}
	return reflect.DeepEqual(a, b)
}

// samePayload compares the payloads of two streams of the same length as they are encoded.
func (c *comparison) samePayload(a, b *pdf.Stream) bool {
	const window = 32 << 10
	var old, now [window]byte
	for done := int64(0); done < a.Length; done += window {
		n := min(window, a.Length-done)
		_, err := c.doc.ReadAt(old[:n], a.Offset+done)
		if err != nil && !errors.Is(err, io.EOF) {
			return false
		}
		if _, err = c.doc.ReadAt(now[:n], b.Offset+done); err != nil && !errors.Is(err, io.EOF) {
			return false
		}
		if !bytes.Equal(old[:n], now[:n]) {
			return false
		}
	}
	return true
}

// replaced says whether another generation of an object is in use now: readers that do not look at
// generations show that.
func (c *comparison) replaced(ref pdf.Ref) bool {
	current := c.now.Reference(ref.Num)
	if current == ref {
		return false
	}
	o, err := c.now.Object(current)
	return o != nil || err != nil
}
