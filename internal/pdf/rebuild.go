package pdf

import (
	"fmt"
	"io"
	"slices"
)

// Rebuild opens a file whose cross-reference is broken, by the objects that stand in it:
// of those with the same number the one nearest to the end holds. An [Update] of such a
// file lists every object, so that readers need not do the same again, each in its own way.
//
// A signed file is [ErrDamaged]: its signatures cover a cross-reference that another one
// would replace. Errors are otherwise those of [Open].
func Rebuild(r io.ReaderAt, size int64) (*File, error) {
	f := &File{r: r, size: size, rebuilt: true, named: map[uint32]bool{}}
	if err := f.rebuild(); err != nil {
		return nil, fmt.Errorf("pdf: rebuilding the cross-reference: %w", err)
	}
	return f, nil
}

func (f *File) rebuild() (err error) {
	if f.shift, err = f.findHeader(); err != nil {
		return err
	}
	b := &rebuilding{file: f}
	if err := b.scan(); err != nil {
		return err
	}
	if err := b.setTrailer(); err != nil {
		return err
	}
	if err := f.openEncryption(); err != nil {
		return err
	}
	if err := b.addCompressed(); err != nil {
		return err
	}
	f.maxNum = f.entries.maxNum()
	if err := b.checkDensity(); err != nil {
		return err
	}
	return b.setRoot()
}

// rebuilding is what a scan of a file finds, in the order of the file.
type rebuilding struct {
	file     *File
	trailers []section
	streams  []uint32 // object streams
}

// scan reads every object and trailer behind the header once. Payloads of streams are passed over: a file
// that is embedded in this one has objects of its own.
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
	head, ok, err := b.file.headBefore(at)
	if err != nil || !ok {
		return next, err
	}
	o, err := b.file.indirectAt(head)
	if unreadable(err) {
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
	if hasKey(o.value, "ByteRange") {
		return fmt.Errorf("%w: not done, because the file is signed", ErrDamaged)
	}
	entries := &b.file.entries
	entries.set(o.ref.Num, xrefEntry{kind: plainEntry, offset: head, gen: o.ref.Gen})
	if entries.count > b.file.maxEntries() {
		return fmt.Errorf("%w: more than %d objects", ErrLimit, b.file.maxEntries())
	}
	dict, ok := o.value.(Dict)
	switch {
	case !ok || !o.stream:
	case dict["Type"] == Name("ObjStm"):
		b.streams = append(b.streams, o.ref.Num)
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

// trailer reads the dictionary behind the keyword at an offset, if there is one, and
// returns where to go on.
func (b *rebuilding) trailer(at int64) (next int64, err error) {
	next = at + int64(len("trailer"))
	s, err := trailer(at, b.file.cursor(next, 1<<10))
	if unreadable(err) {
		return next, nil
	}
	if err != nil {
		return 0, err
	}
	if len(s.source) <= maxTrailerBytes {
		b.trailers = append(b.trailers, s)
	}
	return s.end, nil
}

// addCompressed adds the objects of the object streams. One that also stands on its own
// farther from the start is not theirs.
func (b *rebuilding) addCompressed() error {
	entries := &b.file.entries
	for _, num := range b.streams {
		s, err := b.file.objectStream(num)
		if unreadable(err) {
			continue // what it held is lost, and null
		}
		if err != nil {
			return err
		}
		container := entries.get(num).offset
		for i, o := range s.objects {
			if e := entries.get(o.num); e.kind == plainEntry && e.offset > container || o.num == num {
				continue
			}
			entries.set(o.num, xrefEntry{kind: compressedEntry, offset: int64(num), index: uint32(i)})
		}
		if entries.count > b.file.maxEntries() {
			return fmt.Errorf("%w: more than %d objects", ErrLimit, b.file.maxEntries())
		}
	}
	return nil
}

// checkDensity refuses numbers that are far apart: the new section has an entry for each
// number, as that of a first revision must (7.5.4).
func (b *rebuilding) checkDensity() error {
	if most := 1000 + 10*b.file.entries.count; int(b.file.maxNum) > most {
		return fmt.Errorf("%w: object number %d in a file of %d objects", ErrLimit, b.file.maxNum, b.file.entries.count)
	}
	return nil
}
