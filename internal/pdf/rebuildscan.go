package pdf

import (
	"fmt"
	"slices"
)

// scan reads every object and trailer behind the header once. Payloads of streams are
// passed over: a file that is embedded in this one has objects of its own.
func (b *rebuilding) scan() error {
	objects, trailers := b.file.newFinder("obj"), b.file.newFinder("trailer")
	for at := b.file.shift; ; {
		object, err := objects.next(at)
		if err != nil {
			return err
		}
		trailer, err := trailers.next(at)
		if err != nil {
			return err
		}
		switch {
		case object == trailer: // neither
			return nil
		case object < trailer:
			at, err = b.object(object)
		default:
			at, err = b.trailer(trailer)
		}
		if err != nil {
			return err
		}
	}
}

// object reads the object whose head ends with the "obj" at an offset, and returns where
// to go on.
func (b *rebuilding) object(at int64) (next int64, err error) {
	next = at + int64(len("obj"))
	if whole, err := b.file.isWord(at, next); err != nil || !whole {
		return next, err
	}
	head, ok, err := b.file.headBefore(at)
	if err == nil && !ok {
		err = fmt.Errorf("%w: object without a number at %d", ErrDamaged, at)
	}
	if err != nil {
		return 0, err
	}
	o, err := b.file.indirectAt(head)
	if unreadable(err) {
		b.unread[o.ref.Num] = head
		return next, nil
	}
	if err != nil {
		return 0, err
	}
	if err := b.add(head, o); err != nil {
		return 0, err
	}
	if !o.stream {
		return max(next, o.at+int64(len(o.source))), nil
	}
	return b.file.behindStream(o)
}

// behindStream returns the offset of a stream's endstream, wherever Length puts it.
func (f *File) behindStream(o indirect) (int64, error) {
	length, ok := o.value.(Dict)["Length"].(Integer)
	end := o.payload + int64(length)
	if ok && length >= 0 && end > 0 && end <= f.size && f.checkStreamEnd(end) == nil {
		return end, nil
	}
	n, err := f.measureStream(o.payload)
	if unreadable(err) {
		return o.payload, nil
	}
	return o.payload + n, err
}

// add notes where an object lies, and what else it is.
func (b *rebuilding) add(head int64, o indirect) error {
	if !b.lenient && hasKey(o.value, "ByteRange") {
		return fmt.Errorf("%w: not done, because the file is signed", ErrDamaged)
	}
	entries := &b.file.entries
	if entries.has(o.ref.Num) && entries.get(o.ref.Num).gen != o.ref.Gen {
		return fmt.Errorf("%w: object %d in two generations", ErrDamaged, o.ref.Num)
	}
	entries.set(o.ref.Num, xrefEntry{kind: plainEntry, offset: head, gen: o.ref.Gen})
	if entries.count > b.file.maxEntries() {
		return fmt.Errorf("%w: more than %d objects", ErrLimit, b.file.maxEntries())
	}
	delete(b.streams, o.ref.Num)
	dict, ok := o.value.(Dict)
	switch {
	case !ok || !o.stream:
	case dict["Type"] == Name("ObjStm"):
		b.streams[o.ref.Num] = true
	case dict["Type"] == Name("XRef"):
		b.trailers = append(b.trailers, section{trailer: dict, source: slices.Clone(o.source)})
	}
	return nil
}

// hasKey reports whether an object is a dictionary with a key or holds one directly.
func hasKey(o Object, key Name) bool {
	switch o := o.(type) {
	case Array:
		return slices.ContainsFunc(o, func(item Object) bool { return hasKey(item, key) })
	case Dict:
		for k, value := range o {
			if k == key || hasKey(value, key) {
				return true
			}
		}
	}
	return false
}

// trailer reads the dictionary behind the keyword at an offset, and returns where to go on.
func (b *rebuilding) trailer(at int64) (next int64, err error) {
	next = at + int64(len("trailer"))
	if whole, err := b.file.isWord(at, next); err != nil || !whole {
		return next, err
	}
	s, err := trailer(at, b.file.cursor(next, 1<<10))
	if err == nil && len(s.source) > maxTrailerBytes {
		err = fmt.Errorf("%w: trailer of %d bytes", ErrLimit, len(s.source))
	}
	b.trailers = append(b.trailers, s)
	return s.end, err
}
