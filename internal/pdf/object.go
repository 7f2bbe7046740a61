package pdf

import (
	"errors"
	"fmt"
)

// indirect is an indirect object as the file has it (7.3.10).
type indirect struct {
	ref           Ref
	value         Object
	source        []byte // source text of the value
	ended         bool   // the keyword endobj follows
	closed        bool   // the value ends here whatever bytes are appended to the file
	stream        bool   // the keyword stream follows
	duplicateKeys bool   // a dictionary in it has two different values for a key
	payload       int64  // absolute offset of the payload of a stream
	start         int    // offset of source in the buffer of the parser
	at, end       int64  // absolute offsets of source in the file; 0 for a compressed object
}

// objectCache has indirect objects by their offset. A caller that verifies a signature, or that
// compares one revision with the next, asks for the same objects again, and an object at an offset
// is the same in all revisions of a file.
type objectCache struct {
	byOffset map[int64]cachedObject
	bytes    int // estimated memory that the cached objects take
}

type cachedObject struct {
	indirect
	scannedTo int64 // offset to which the parser read to find the end of the object
}

// Object returns the object that ref names. It is null if the object does not exist, is free, or
// has another generation number (7.3.10). Errors: [ErrDamaged], [ErrUnsupported], [ErrLimit].
func (f *File) Object(ref Ref) (Object, error) {
	o, err := f.object(ref)
	if err != nil {
		return nil, fmt.Errorf("pdf: object %s: %w", ref.identity(), err)
	}
	return o, nil
}

// ObjectWithEnd returns the object as [File.Object] does, and reports whether the end of the object
// is in the file. Bytes that are appended later could become part of an object whose end is not in
// the file. A stream has its end in the file if the payload of the stated Length and the keyword
// endstream fit in the file.
func (f *File) ObjectWithEnd(ref Ref) (Object, bool, error) {
	o, err := f.find(ref)
	if err == nil && !o.stream {
		return o.value, o.closed, nil
	}
	stream, err := f.Object(ref)
	if err != nil {
		return nil, false, err
	}
	dict, _ := o.value.(Dict)
	stated, err := f.Int(dict["Length"])
	return stream, err != nil || stated <= f.size-o.payload-int64(len("endstream")), nil
}

// Source returns the source text of the object that ref names: the text between obj and endobj or,
// for a compressed object, its text in the object stream, without the white space and comments
// around it. It is "null" if the object does not exist. For a stream, the error is
// [ErrUnsupported]. In an encrypted file, Source decrypts the strings in the text and changes
// nothing else.
func (f *File) Source(ref Ref) ([]byte, error) {
	o, err := f.find(ref)
	switch {
	case err != nil:
	case o.stream:
		err = fmt.Errorf("%w: the source of a stream is not available", ErrUnsupported)
	case !o.ended:
		err = fmt.Errorf("%w: endobj missing", ErrDamaged)
	default:
		return append([]byte(nil), o.source...), nil
	}
	return nil, fmt.Errorf("pdf: source of object %s: %w", ref.identity(), err)
}

// Span returns the absolute offsets in the file of the text that [File.Source] returns, before its
// strings are decrypted. ok is false for an object that is compressed or does not exist.
func (f *File) Span(ref Ref) (start, end int64, ok bool, err error) {
	o, err := f.find(ref)
	if err != nil {
		return 0, 0, false, fmt.Errorf("pdf: locating object %s: %w", ref.identity(), err)
	}
	return o.at, o.end, o.at > 0, nil
}

// Reference returns the reference to the object with number num. Its generation number is the one
// in the cross-reference.
func (f *File) Reference(num uint32) Ref { return Ref{Num: num, Gen: f.entries.get(num).gen} }

// IsStructural reports whether an object is an object stream or a cross-reference stream (7.5.7,
// 7.5.8), which are part of the file structure and not of the document.
func IsStructural(o Object) bool {
	stream, ok := o.(*Stream)
	return ok && (stream.Dict["Type"] == Name("ObjStm") || stream.Dict["Type"] == Name("XRef"))
}

// HasDistinctKeys reports whether no dictionary in the object that ref names has two different values for
// a key. Readers differ in which value they take (7.3.7).
func (f *File) HasDistinctKeys(ref Ref) (bool, error) {
	o, err := f.find(ref)
	if err != nil {
		return false, fmt.Errorf("pdf: object %s: %w", ref.identity(), err)
	}
	return !o.duplicateKeys, nil
}

// HasDuplicateKeys reports whether any object read so far has a dictionary with two different
// values for a key.
func (f *File) HasDuplicateKeys() bool { return f.duplicateKeys }

func (f *File) object(ref Ref) (Object, error) {
	o, err := f.find(ref)
	if err != nil || !o.stream {
		return o.value, err
	}
	return f.newStream(o)
}

// find reads the object that ref names, and notes its references to objects that do not exist.
func (f *File) find(ref Ref) (indirect, error) {
	if err := f.CheckBudget(); err != nil {
		return indirect{}, err
	}
	o, err := f.locate(ref)
	f.noteDangling(o.value)
	f.duplicateKeys = f.duplicateKeys || o.duplicateKeys
	return o, err
}

// locate reads the object that ref names, from the file, an object stream or a cache.
func (f *File) locate(ref Ref) (indirect, error) {
	e := f.entries.get(ref.Num)
	if e.kind == freeEntry || e.gen != ref.Gen {
		return indirect{ref: ref, source: []byte("null"), ended: true, closed: true}, nil
	}
	if e.kind == compressedEntry {
		return f.compressed(ref, e)
	}
	if e.offset >= f.size { // outsideOffset
		return indirect{}, misplaced("it lies outside of the file")
	}
	o, err := f.objectAt(e.offset)
	switch {
	case errors.Is(err, ErrDamaged) && o.ref == Ref{}:
		return o, misplaced("no object begins at %d", e.offset)
	case err != nil:
		return o, err
	case o.ref != ref:
		return o, misplaced("object %s stands in its place", o.ref.identity())
	}
	return o, f.encryption.decryptObject(&o)
}

func misplaced(format string, args ...any) error {
	return fmt.Errorf("%w, %w: %s", ErrDamaged, ErrMisplaced, fmt.Sprintf(format, args...))
}

// indirectAt reads the indirect object at an absolute offset.
func (f *File) indirectAt(offset int64) (o indirect, err error) {
	c := f.cursor(offset, 1<<10)
	read := 0 // bytes from the start of source to where the parser stopped
	err = c.step(func(p *parser) (err error) {
		o, err = p.indirect()
		read = p.pos - o.start
		return err
	})
	o.payload = c.offset()
	o.at = o.payload - int64(read)
	o.end = o.at + int64(len(o.source))
	return o, err
}

func (p *parser) indirect() (o indirect, err error) {
	if o.ref, err = p.objectHead(); err != nil {
		return o, err
	}
	p.skipSpace()
	o.start = p.pos
	if o.value, err = p.object(); err != nil {
		return o, err
	}
	o.source, o.duplicateKeys = p.buf[o.start:p.pos], p.duplicateKeys
	if o.ended = p.keyword("endobj"); o.ended {
		o.closed = true
		return o, nil
	}
	if _, ok := o.value.(Dict); ok && p.keyword("stream") {
		o.stream = true
		p.skipLineEnd()
		return o, nil
	}
	o.closed = p.isClosed(o.value)
	return o, nil
}

// isClosed reports whether text follows the value that the parser has just read, so that appended
// bytes cannot become part of the value. An integer is never closed here: it may be the beginning
// of a reference.
func (p *parser) isClosed(value Object) bool {
	start := p.pos
	defer func() { p.pos = start }()
	p.skipSpace()
	if p.word(); p.pos == start {
		p.pos++
	}
	_, isInteger := value.(Integer)
	_, more := p.peek()
	return more && !isInteger
}

// objectHead reads "12 0 obj".
func (p *parser) objectHead() (Ref, error) {
	num, err := p.digits()
	if err != nil {
		return Ref{}, err
	}
	gen, err := p.digits()
	if err != nil {
		return Ref{}, err
	}
	if num > maxObjectNumber || gen > 65535 || !p.keyword("obj") {
		return Ref{}, syntaxError("no object begins here")
	}
	return Ref{Num: uint32(num), Gen: uint16(gen)}, nil
}

// skipLineEnd skips the end of line after the keyword stream. A carriage return alone is not
// permitted there (7.3.8.1), but some files have one.
func (p *parser) skipLineEnd() {
	c, ok := p.peek()
	if ok && c == '\r' {
		p.pos++
		c, ok = p.peek()
	}
	if ok && c == '\n' {
		p.pos++
	}
}

const (
	// maxCachedObjects limits the size of the cache in bytes. When it is full, all objects are
	// dropped and read again.
	maxCachedObjects = 16 << 20
	// cachedPerByte is the estimated memory in bytes that an object takes for each byte of its
	// source text.
	cachedPerByte = 4
	// fullCostBytes is the number of bytes of a cached object that count in full as work. Of the
	// rest, one byte in restCostDivisor counts: the rest of a long object is usually the Contents
	// of a signature, which callers do not walk through.
	fullCostBytes   = 4 << 10
	restCostDivisor = 8
	// lookahead is the number of bytes after an object or a section that the reader may look at:
	// the end of line after the keyword stream, or white space and the keyword after a payload.
	lookahead = 32
)

// objectAt returns what [File.indirectAt] returns, from the cache if it can. An object that the end
// of this revision may cut short is neither taken from the cache nor put into it. The use of a
// cached object also counts as work, but as less than the reading.
func (f *File) objectAt(offset int64) (indirect, error) {
	cache := &f.origin().objectCache
	if o, ok := cache.byOffset[offset]; ok && o.scannedTo+lookahead <= f.size {
		f.spend(cacheCost(len(o.source)))
		return o.indirect, nil
	}
	o, err := f.indirectAt(offset)
	if err == nil && o.payload+lookahead <= f.size {
		cache.put(offset, cachedObject{o, o.payload})
	}
	return o, err
}

// cacheCost returns the work that the use of a cached object with source text of size bytes counts
// as.
func cacheCost(size int) int64 {
	return int64(min(size, fullCostBytes) + max(size-fullCostBytes, 0)/restCostDivisor)
}

func (k *objectCache) put(offset int64, o cachedObject) {
	size := 1<<10 + cachedPerByte*len(o.source)
	if k.byOffset == nil || k.bytes+size > maxCachedObjects {
		*k = objectCache{byOffset: map[int64]cachedObject{}}
	}
	if size <= maxCachedObjects {
		k.byOffset[offset] = o
		k.bytes += size
	}
}

// origin returns the file whose work budget and caches f uses: the latest revision, or f itself.
func (f *File) origin() *File {
	for f.parent != nil {
		f = f.parent
	}
	return f
}
