package pdf

import (
	"errors"
	"fmt"
)

// indirect is an indirect object as it stands in the file (7.3.10).
type indirect struct {
	ref     Ref
	value   Object
	source  []byte // of the value
	ended   bool   // endobj follows
	closed  bool   // whatever follows, bytes behind the file's end do not go on with it
	stream  bool   // stream follows
	doubled bool   // a dictionary in it has two values for a key
	payload int64  // absolute offset of the stream's payload
	start   int    // of source, in what the parser had
	at, end int64  // absolute offsets of source as it stands in the file; 0 in an object stream
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
	o.source, o.doubled = p.buf[o.start:p.pos], p.doubled
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
	if err := f.Spent(); err != nil {
		return indirect{}, err
	}
	o, err := f.locate(ref)
	f.note(o.value)
	f.doubled = f.doubled || o.doubled
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
	return o, f.encryption.reveal(&o)
}

func misplaced(format string, args ...any) error {
	return fmt.Errorf("%w, %w: %s", ErrDamaged, ErrMisplaced, fmt.Sprintf(format, args...))
}
