package pdf

import (
	"errors"
	"fmt"
)

// Resolve follows references until an object that is none, and returns that.
func (f *File) Resolve(o Object) (Object, error) { return prefixed(f.resolve(o)) }

// Dict returns the dictionary that o is or refers to; nil for null. What is neither is
// [ErrDamaged], here and below.
func (f *File) Dict(o Object) (Dict, error) { return prefixed(resolveTo[Dict](f, o)) }

// Array returns the array that o is or refers to; nil for null.
func (f *File) Array(o Object) (Array, error) { return prefixed(resolveTo[Array](f, o)) }

// Name returns the name that o is or refers to; "" for null.
func (f *File) Name(o Object) (Name, error) { return prefixed(resolveTo[Name](f, o)) }

// Bool returns the boolean that o is or refers to; false for null.
func (f *File) Bool(o Object) (bool, error) { return prefixed(resolveTo[bool](f, o)) }

// StreamObject returns the stream that o refers to; nil for null.
func (f *File) StreamObject(o Object) (*Stream, error) { return prefixed(resolveTo[*Stream](f, o)) }

// Int returns the integer that o is or refers to; 0 for null.
func (f *File) Int(o Object) (int64, error) {
	n, err := prefixed(resolveTo[Integer](f, o))
	return int64(n), err
}

// Number returns the integer or real number that o is or refers to; 0 for null.
func (f *File) Number(o Object) (float64, error) { return prefixed(f.number(o)) }

// Bytes returns the bytes of the string that o is or refers to; nil for null.
func (f *File) Bytes(o Object) ([]byte, error) {
	o, err := f.resolve(o)
	if o == nil || err != nil {
		return prefixed([]byte(nil), err)
	}
	s, err := resolveTo[String](f, o)
	return prefixed([]byte(s), err)
}

// exported names the package in an error that leaves it.
func prefixed[T any](value T, err error) (T, error) {
	if err != nil {
		err = fmt.Errorf("pdf: %w", err)
	}
	return value, err
}

func (f *File) resolve(o Object) (Object, error) {
	for range maxReferences {
		ref, ok := o.(Ref)
		if !ok {
			return o, nil
		}
		var err error
		if o, err = f.object(ref); err != nil {
			return nil, fmt.Errorf("object %s: %w", ref.identity(), err)
		}
	}
	return nil, fmt.Errorf("%w: more than %d references to references", ErrLimit, maxReferences)
}

// resolveTo follows references to an object of type T. Null is T's zero value.
func resolveTo[T Object](f *File, o Object) (value T, err error) {
	o, err = f.resolve(o)
	if o == nil || err != nil {
		return value, err
	}
	value, ok := o.(T)
	if !ok {
		return value, fmt.Errorf("%w: %s expected instead of %s", ErrDamaged, kindOf(value), kindOf(o))
	}
	return value, nil
}

func (f *File) number(o Object) (float64, error) {
	o, err := f.resolve(o)
	if n, ok := o.(Integer); ok {
		return float64(n), nil
	}
	if err != nil {
		return 0, err
	}
	x, err := resolveTo[Real](f, o)
	return float64(x), err
}

func kindOf(o Object) string {
	switch o.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case Integer:
		return "integer"
	case Real:
		return "number"
	case String:
		return "string"
	case Name:
		return "name"
	case Array:
		return "array"
	case Dict:
		return "dictionary"
	case *Stream:
		return "stream"
	}
	return "reference"
}

// LastReference follows references to references to the one that names the object itself, and reports whether there is
// one.
func (f *File) LastReference(o Object) (Ref, bool) {
	ref, ok := o.(Ref)
	for range 16 {
		if !ok {
			break
		}
		next, err := f.Object(ref)
		if err != nil {
			return ref, true
		}
		further, more := next.(Ref)
		if !more {
			return ref, true
		}
		ref = further
	}
	return Ref{}, false
}

// IgnoreMalformed returns nil for an error which says that the file is malformed ([ErrDamaged], [ErrUnsupported],
// [ErrLimit]), and any other error as it is. It is for what a caller reads and can do without.
func IgnoreMalformed(err error) error {
	if errors.Is(err, ErrDamaged) || errors.Is(err, ErrUnsupported) || errors.Is(err, ErrLimit) {
		return nil
	}
	return err
}

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

// Object returns the object that ref names: null if there is none, it is free, or its
// generation is another (7.3.10). Errors: [ErrDamaged], [ErrUnsupported], [ErrLimit].
func (f *File) Object(ref Ref) (Object, error) {
	o, err := f.object(ref)
	if err != nil {
		return nil, fmt.Errorf("pdf: object %s: %w", ref.identity(), err)
	}
	return o, nil
}

func (f *File) object(ref Ref) (Object, error) {
	o, err := f.find(ref)
	if err != nil || !o.stream {
		return o.value, err
	}
	return f.newStream(o)
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
