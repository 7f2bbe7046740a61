package pdf

import (
	"errors"
	"fmt"
)

// indirect is an indirect object as it stands in the file (7.3.10).
type indirect struct {
	ref           Ref
	value         Object
	source        []byte // of the value
	ended         bool   // endobj follows
	closed        bool   // whatever follows, bytes behind the file's end do not go on with it
	stream        bool   // stream follows
	duplicateKeys bool   // a dictionary in it has two values for a key
	payload       int64  // absolute offset of the stream's payload
	start         int    // of source, in what the parser had
	at, end       int64  // absolute offsets of source as it stands in the file; 0 in an object stream
}

// objectCache are objects as they stand at their offsets. Whoever looks at a signature, or at a revision after
// another, asks for the same ones again; in all revisions of a file they are the same.
type objectCache struct {
	byOffset map[int64]cachedObject
	bytes    int // that they keep from being collected, about
}

type cachedObject struct {
	indirect
	scannedTo int64 // behind what says where it ends
}

// Object returns the object that ref names: null if there is none, it is free, or its
// generation is another (7.3.10). Errors: [ErrDamaged], [ErrUnsupported], [ErrLimit].
func (f *File) Object(ref Ref) (Object, error) {
	o, err := f.object(ref)
	if err != nil {
		return nil, fmt.Errorf("pdf: object %s: %w", ref.identity(), err)
	}
	return o, nil
}

// EndedObject returns what [File.Object] does, and whether its end is in the file: what has none may go on with
// whatever is appended. That of a stream is in its length, and what follows it.
func (f *File) EndedObject(ref Ref) (Object, bool, error) {
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

// Source returns the text of the object that ref names: of what stands between obj and
// endobj or, for a compressed object, in its object stream; white space and comments
// around it left off. It is "null" if there is no such object. A stream is [ErrUnsupported].
// The strings of an encrypted file are decrypted in it, and nothing else is changed.
func (f *File) Source(ref Ref) ([]byte, error) {
	o, err := f.find(ref)
	switch {
	case err != nil:
	case o.stream:
		err = fmt.Errorf("%w: source of a stream", ErrUnsupported)
	case !o.ended:
		err = fmt.Errorf("%w: endobj missing", ErrDamaged)
	default:
		return append([]byte(nil), o.source...), nil
	}
	return nil, fmt.Errorf("pdf: source of object %s: %w", ref.identity(), err)
}

// Span returns where in the file the text lies that [File.Source] returns, or decrypts, as
// absolute offsets. ok is false for an object that is in an object stream, or is not there.
func (f *File) Span(ref Ref) (start, end int64, ok bool, err error) {
	o, err := f.find(ref)
	if err != nil {
		return 0, 0, false, fmt.Errorf("pdf: place of object %s: %w", ref.identity(), err)
	}
	return o.at, o.end, o.at > 0, nil
}

// Reference returns the reference to the object of a number that is in use.
func (f *File) Reference(num uint32) Ref { return Ref{Num: num, Gen: f.entries.get(num).gen} }

// IsStructural says whether an object is one that the file is written in: an object stream or a
// cross-reference stream (7.5.7, 7.5.8).
func IsStructural(o Object) bool {
	stream, ok := o.(*Stream)
	return ok && (stream.Dict["Type"] == Name("ObjStm") || stream.Dict["Type"] == Name("XRef"))
}

// Distinct says the same of the object that ref names.
func (f *File) Distinct(ref Ref) (bool, error) {
	o, err := f.find(ref)
	if err != nil {
		return false, fmt.Errorf("pdf: object %s: %w", ref.identity(), err)
	}
	return !o.duplicateKeys, nil
}

// HasDuplicateKeys says whether that is not so of an object that was read so far.
func (f *File) HasDuplicateKeys() bool { return f.duplicateKeys }

func (f *File) object(ref Ref) (Object, error) {
	o, err := f.find(ref)
	if err != nil || !o.stream {
		return o.value, err
	}
	return f.newStream(o)
}

// find reads the object that ref names.
func (f *File) find(ref Ref) (indirect, error) {
	if err := f.CheckBudget(); err != nil {
		return indirect{}, err
	}
	o, err := f.locate(ref)
	f.noteDangling(o.value)
	f.duplicateKeys = f.duplicateKeys || o.duplicateKeys
	return o, err
}

func (f *File) locate(ref Ref) (indirect, error) {
	e := f.entries.get(ref.Num)
	if e.kind == freeEntry || e.gen != ref.Gen {
		return indirect{ref: ref, source: []byte("null"), ended: true, closed: true}, nil
	}
	if e.kind == compressedEntry {
		return f.compressed(ref, e)
	}
	if e.offset >= f.size { // also where addPlain puts what has no place
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
	read := 0 // from source to where the parser stopped
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

// isClosed reports whether something follows an object that has been read, so that bytes which are appended to the text
// are no part of it. An integer may be the beginning of a reference.
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

// skipLineEnd skips the end of line behind the keyword stream. A carriage return alone is
// not allowed there (7.3.8.1), but it is what files with such line ends have.
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
	// maxKeptObjects bounds them in bytes. Beyond it all are forgotten and read anew.
	maxCachedObjects = 16 << 20
	// keptPerByte is how many bytes an object takes for each one of its text.
	cachedPerByte = 4
	// keptInFull is how much of an object that is kept counts in full, and cheaperKept how much less the rest of a
	// long one does, which is the text of a signature as a rule and is not gone through.
	fullCostBytes   = 4 << 10
	restCostDivisor = 8
	// lookahead is how far may be looked behind an object or a section: at the end of line behind the keyword
	// stream, or at the keyword behind a payload.
	lookahead = 16
)

// objectAt is what [File.indirectAt] returns, read once. An object that the end of the file may have cut short
// is read in each. What it costs to go through one that is kept is counted too: a part of what reading it does.
func (f *File) objectAt(offset int64) (indirect, error) {
	kept := &f.origin().objectCache
	if o, ok := kept.byOffset[offset]; ok && o.scannedTo+lookahead <= f.size {
		f.spend(cacheCost(len(o.source)))
		return o.indirect, nil
	}
	o, err := f.indirectAt(offset)
	if err == nil && o.payload+lookahead <= f.size {
		kept.put(offset, cachedObject{o, o.payload})
	}
	return o, err
}

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

// origin is the file that this one is an earlier revision of, or itself.
func (f *File) origin() *File {
	for f.parent != nil {
		f = f.parent
	}
	return f
}
