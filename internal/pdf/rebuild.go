package pdf

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// rebuilder collects what a scan of a file finds, in the order of the file.
type rebuilder struct {
	file       *File
	lenient    bool // the caller only reads the file
	trailers   []xrefSection
	streams    map[uint32]bool  // numbers of the object streams
	unreadable map[uint32]int64 // offsets of unreadable objects by number, the last of each
}

// Rebuild opens a file whose cross-reference is broken. It finds the objects by a search of the
// file; of several objects with one number, the one nearest to the end counts. An [Update] of such
// a file lists every object, so that other readers need not rebuild the cross-reference too, each
// in its own way.
//
// The new list replaces what other readers would find. So Rebuild returns [ErrDamaged] if it cannot
// read an object, an object stream or a trailer that counts, because another reader may be able to.
// It also returns [ErrDamaged] for a signed file, because the signatures cover the cross-reference
// that the new list would replace. Other errors are those of [Open].
func Rebuild(r io.ReaderAt, size int64) (*File, error) { return rebuildFile(r, size, false) }

// RebuildForReading does the same as [Rebuild] for a caller that only reads the file. It also opens a signed
// file and a file with unreadable objects.
func RebuildForReading(r io.ReaderAt, size int64) (*File, error) { return rebuildFile(r, size, true) }

// WithRepaired calls use with the opened file. If the cross-reference is broken, it calls use with
// the rebuilt file, as viewers do without a warning. This is the case if [Open] returns
// [ErrDamaged], or if use returns [ErrMisplaced] or [ErrNoPages]; then use is called a second time.
// WithRepaired does not rebuild a signed file or a file that is damaged in another way: the rebuilt
// cross-reference would replace one that other readers may interpret differently. Errors are those
// of [Open], [Rebuild] and use.
func WithRepaired(r io.ReaderAt, size int64, use func(*File) error) error {
	file, err := Open(r, size)
	broken := errors.Is(err, ErrDamaged)
	if err == nil {
		err = use(file)
		broken = errors.Is(err, ErrMisplaced) || errors.Is(err, ErrNoPages)
	}
	if !broken {
		return err
	}
	rebuilt, retryErr := Rebuild(r, size)
	if retryErr == nil {
		retryErr = use(rebuilt)
	}
	if errors.Is(retryErr, ErrDamaged) || errors.Is(retryErr, ErrNoPages) {
		return fmt.Errorf("%w; %w", err, retryErr)
	}
	return retryErr
}

func rebuildFile(r io.ReaderAt, size int64, lenient bool) (*File, error) {
	f := &File{r: r, size: size, rebuilt: true, dangling: map[uint32]bool{}}
	b := &rebuilder{file: f, lenient: lenient, streams: map[uint32]bool{}, unreadable: map[uint32]int64{}}
	if err := b.rebuild(); err != nil {
		return nil, fmt.Errorf("pdf: rebuilding the cross-reference: %w", err)
	}
	return f, nil
}

func (b *rebuilder) rebuild() (err error) {
	f := b.file
	if f.offsetBase, err = f.findHeader(); err != nil {
		return err
	}
	if err := b.refuseSigned(); err != nil {
		return err
	}
	if err := b.scan(); err != nil {
		return err
	}
	if err := b.setTrailer(); err != nil {
		return err
	}
	if f.Trailer()["Encrypt"] == nil {
		if err := f.refuseIfContains("/Encrypt", "how the file is encrypted is not known"); err != nil {
			return err
		}
	}
	if err := f.openEncryption(); err != nil {
		return err
	}
	if err := b.addCompressed(); err != nil {
		return err
	}
	if err := b.checkUnread(); err != nil {
		return err
	}
	f.maxNum = f.entries.maxNum()
	if err := b.checkDensity(); err != nil {
		return err
	}
	return b.setRoot()
}

func (b *rebuilder) refuseSigned() error {
	if b.lenient {
		return nil
	}
	return b.file.refuseIfContains("/ByteRange", "the file is signed")
}

// refuseIfContains returns an error if the bytes of name are anywhere in the file, also in parts
// that are not parsed.
func (f *File) refuseIfContains(name, because string) error {
	at, err := f.index(name, 0)
	if err == nil && at < f.size {
		err = fmt.Errorf("%w: the cross-reference is not rebuilt: %s", ErrDamaged, because)
	}
	return err
}

// checkUnread returns an error if the file has an unreadable object that no later object with the
// same number replaces. A more tolerant reader may be able to read it.
func (b *rebuilder) checkUnread() error {
	if b.lenient {
		return nil
	}
	entries := &b.file.entries
	for num, at := range b.unreadable {
		e := entries.get(num)
		if e.kind == compressedEntry {
			e = entries.get(uint32(e.offset))
		}
		if e.kind != uncompressedEntry || e.offset < at {
			return fmt.Errorf("%w: object %d at %d cannot be read", ErrDamaged, num, at)
		}
	}
	return nil
}

// checkDensity returns an error if the object numbers are far apart: the new section has an entry
// for each number, as the section of a first revision must have (7.5.4).
func (b *rebuilder) checkDensity() error {
	if most := 1000 + 10*b.file.entries.count; int(b.file.maxNum) > most {
		return fmt.Errorf("%w: object number %d in a file of %d objects", ErrLimit, b.file.maxNum, b.file.entries.count)
	}
	return nil
}

// scan reads every object and trailer after the header once. It skips the payloads of streams: an
// embedded file has objects of its own.
func (b *rebuilder) scan() error {
	objects, trailers := b.file.newFinder("obj"), b.file.newFinder("trailer")
	for at := b.file.offsetBase; ; {
		object, err := objects.next(at)
		if err != nil {
			return err
		}
		trailer, err := trailers.next(at)
		if err != nil {
			return err
		}
		switch {
		case object == trailer: // both are the size of the file: none is left
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

// object reads the object whose head has its keyword "obj" at an offset, and returns the offset at
// which the scan continues.
func (b *rebuilder) object(at int64) (next int64, err error) {
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
	if isUnreadable(err) {
		b.unreadable[o.ref.Num] = head
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
	return b.file.afterStream(o)
}

// afterStream returns the offset of the endstream of a stream. It searches for it if Length is not
// a correct integer.
func (f *File) afterStream(o indirect) (int64, error) {
	length, ok := o.value.(Dict)["Length"].(Integer)
	end := o.payload + int64(length)
	if ok && length >= 0 && end > 0 && end <= f.size && f.checkStreamEnd(end) == nil {
		return end, nil
	}
	n, err := f.measureStream(o.payload)
	if isUnreadable(err) {
		return o.payload, nil
	}
	return o.payload + n, err
}

// add adds an entry for an object, and notes object streams and the dictionaries of cross-reference
// streams.
func (b *rebuilder) add(head int64, o indirect) error {
	if !b.lenient && hasKey(o.value, "ByteRange") {
		return fmt.Errorf("%w: the cross-reference of a signed file is not rebuilt", ErrDamaged)
	}
	entries := &b.file.entries
	if entries.has(o.ref.Num) && entries.get(o.ref.Num).gen != o.ref.Gen {
		return fmt.Errorf("%w: two generations of object %d", ErrDamaged, o.ref.Num)
	}
	entries.set(o.ref.Num, xrefEntry{kind: uncompressedEntry, offset: head, gen: o.ref.Gen})
	if entries.count > b.file.entryLimit() {
		return fmt.Errorf("%w: more than %d objects", ErrLimit, b.file.entryLimit())
	}
	delete(b.streams, o.ref.Num)
	dict, ok := o.value.(Dict)
	switch {
	case !ok || !o.stream:
	case dict["Type"] == Name("ObjStm"):
		b.streams[o.ref.Num] = true
	case dict["Type"] == Name("XRef"):
		b.trailers = append(b.trailers, xrefSection{trailer: dict, source: slices.Clone(o.source)})
	}
	return nil
}

// hasKey reports whether an object has a dictionary with a key, without following references.
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

// trailer reads the dictionary after the keyword trailer at an offset, and returns the offset at
// which the scan continues.
func (b *rebuilder) trailer(at int64) (next int64, err error) {
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

// setTrailer makes one trailer from all trailers found. For each entry that matters, the value
// nearest to the end of the file counts.
func (b *rebuilder) setTrailer() error {
	merged := xrefSection{trailer: Dict{}, source: []byte("<< >>")}
	for _, key := range []Name{"Root", "Info", "ID", "Encrypt"} {
		i := len(b.trailers) - 1
		for i >= 0 && b.trailers[i].trailer[key] == nil {
			i--
		}
		if i < 0 {
			continue
		}
		value, _, err := Key(b.trailers[i].source, key)
		if err != nil {
			return err
		}
		if merged.source, err = SetKey(merged.source, key, value); err != nil {
			return err
		}
		merged.trailer[key] = b.trailers[i].trailer[key]
	}
	b.file.sections = []xrefSection{merged}
	return nil
}

// setRoot searches for a catalog if Root of the trailer does not name one: in the other trailers,
// then in all objects. The last one found counts.
func (b *rebuilder) setRoot() error {
	f := b.file
	if ref, ok := f.Trailer()["Root"].(Ref); ok && f.isCatalog(ref) {
		return nil
	}
	var root Ref
	for _, s := range b.trailers {
		if ref, ok := s.trailer["Root"].(Ref); ok && f.isCatalog(ref) {
			root = ref
		}
	}
	if root == (Ref{}) {
		for num, e := range f.entries.all() {
			if ref := (Ref{Num: num, Gen: e.gen}); f.isCatalog(ref) {
				root = ref
			}
		}
	}
	if err := f.CheckBudget(); err != nil {
		return err
	}
	if root == (Ref{}) {
		return fmt.Errorf("%w: the file has no document catalog", ErrDamaged)
	}
	s := &f.sections[0]
	s.trailer["Root"] = root
	var err error
	s.source, err = SetKey(s.source, "Root", []byte(root.String()))
	return err
}

// isCatalog reports whether an object is a catalog with pages. Its Type may be missing.
func (f *File) isCatalog(ref Ref) bool {
	o, err := f.object(ref)
	dict, ok := o.(Dict)
	if err != nil || !ok {
		return false
	}
	switch dict["Type"] {
	case nil, Name("Catalog"):
		pages, err := resolveTo[Dict](f, dict["Pages"])
		return err == nil && pages["Kids"] != nil
	}
	return false
}

// addCompressed adds entries for the objects in the object streams. An uncompressed object with the
// same number counts instead if it is nearer to the end of the file than the object stream.
func (b *rebuilder) addCompressed() error {
	entries := &b.file.entries
	inOrder := func(x, y uint32) int { return cmp.Compare(entries.get(x).offset, entries.get(y).offset) }
	for _, num := range slices.SortedFunc(maps.Keys(b.streams), inOrder) {
		s, err := b.file.objectStream(num)
		if err == nil {
			b.file.spend(int64(len(s.objects)) * int64(len("1 0 ")))
			err = b.file.CheckBudget()
		}
		if err != nil {
			return fmt.Errorf("object stream %d: %w", num, err)
		}
		container := entries.get(num).offset
		for i, o := range s.objects {
			if e := entries.get(o.num); e.kind == uncompressedEntry && e.offset > container || o.num == num {
				continue
			}
			entries.set(o.num, xrefEntry{kind: compressedEntry, offset: int64(num), index: uint32(i)})
		}
		if entries.count > b.file.entryLimit() {
			return fmt.Errorf("%w: more than %d objects", ErrLimit, b.file.entryLimit())
		}
	}
	return nil
}
