// Package pdf reads PDF files through an [io.ReaderAt], object by object, and writes incremental
// updates: bytes that a caller appends and that leave every earlier byte unchanged. It does what a
// signature needs and no more: it does not render, validate or rewrite a file. It follows ISO
// 32000-2:2020; all clauses below are of that standard.
//
// # Reading
//
// [Open] reads the header, the last "startxref" and the chain of cross-reference sections. An
// object is parsed when the caller asks for it, from the bytes around its offset. An [Object] is a
// Go value: nil (null), bool, [Integer], [Real], [String], [Name], [Array], [Dict], *[Stream] or
// [Ref].
//
//	file, err := pdf.Open(r, size)
//	page, err := file.Page(1)
//	annotations, err := file.Array(page.Dict["Annots"]) // follows references
//
// A reference to an object that does not exist or is free is null, and the typed accessors return
// the zero value for null (7.3.10).
//
// Every file is treated as hostile. The package limits the size of objects, their nesting, the
// length of decoded streams, the number of objects, and the work that a file takes over the life of
// a [File]. A file that exceeds a limit is [ErrLimit]. A [File] caches some decoded object streams
// and is not safe for concurrent use.
//
// An encrypted file that opens with an empty user password is read and updated like any other file
// (7.6): the caller sees strings and streams as plain text, and the file has them encrypted.
// [File.Permissions] returns what the author of the file permits; the caller has to respect it.
//
// [Open] repairs nothing. A wrong cross-reference is [ErrDamaged], and also [ErrMisplaced] if the
// reader finds the error only when it reads an object. [Rebuild] ignores the cross-reference and
// searches the file for objects, as viewers do in this case.
//
// The package refuses files that need a password, and files that are encrypted by another security
// handler than the standard one or by an unknown version of it ([ErrEncrypted]).
//
// # Writing
//
// An [Update] collects new and replaced objects as source text, and [Update.Bytes] returns what the
// caller has to append at [File.Size]. An existing object is not serialised again from its values,
// so that an update changes only what has to change: the caller patches the object's text
// ([Update.Source]) with [SetKey] and [AppendItem].
//
//	update := file.NewUpdate()
//	field := update.Add([]byte("<< /FT /Sig /T (Signature1) >>"))
//	source, err := update.Source(formRef)
//	source, err = pdf.SetKey(source, "Fields", []byte("["+field.String()+"]"))
//	update.Set(formRef, source)
//	appended, offsets, err := update.Bytes()
//
// [Update.Import] copies objects of another file, with all objects that they refer to.
//
// The appended cross-reference section is of the same kind as the last section of the file. Viewers
// repair, and so change, files that mix the two kinds without need. In an update of a rebuilt file,
// the section lists every object and has no Prev.
package pdf

import (
	"errors"
	"fmt"
	"strconv"
)

// Errors that callers tell apart. Each returned error wraps one of them and adds the detail. Errors
// of the underlying reader are wrapped unchanged.
var (
	// ErrNotPDF means that the first 1024 bytes have no %PDF-.
	ErrNotPDF = errors.New("not a PDF file")

	// ErrDamaged means that the cross-reference or an object cannot be read.
	ErrDamaged = errors.New("damaged PDF")

	// ErrEncrypted means that the file needs a password, or that the package does not know the
	// security handler or its version.
	ErrEncrypted = errors.New("encrypted PDF")

	// ErrNoPages means that the page tree has no leaf.
	ErrNoPages = errors.New("PDF without pages")

	// ErrNoPage means that a page number is not in 1..PageCount, or that no page matches.
	ErrNoPage = errors.New("no such page")

	// ErrLimit means that the file exceeds a limit on size, depth, number or work.
	ErrLimit = errors.New("PDF exceeds a limit")

	// ErrUnsupported means that the file uses a feature which the text of the error names.
	ErrUnsupported = errors.New("unsupported feature of a PDF")

	// ErrMisplaced means that an object is not at the offset that the cross-reference states. Such
	// an error is also [ErrDamaged].
	ErrMisplaced = errors.New("broken cross-reference")
)

// Limits on the size of a file's parts and on the work that a file can cause.
const (
	headerWindow      = 1024           // %PDF- has to lie in this many first bytes
	maxTrailingBytes  = 64 << 10       // bytes at the end searched for startxref
	maxObjectBytes    = 16 << 20       // bytes of source text of one object, without payload
	maxDepth          = 200            // nesting of arrays and dictionaries
	maxItems          = 1 << 18        // array elements and dictionary entries of one object
	maxReferences     = 16             // length of a chain of references to references
	maxSections       = 4096           // cross-reference sections
	maxEntries        = 1 << 20        // objects
	maxObjectNumber   = 8_388_607      // number of indirect objects in ISO 32000-1 Annex C.2
	maxSectionEntries = 4 * maxEntries // entries of all sections, overridden ones included
	maxStreamBytes    = 1 << 30        // decoded bytes of one stream
	minStageBytes     = 1 << 20        // decoded bytes that each filter may always return
	maxFilters        = 8              // filters of one stream
	maxObjectStream   = 16 << 20       // decoded bytes of one object stream
	maxTrailerBytes   = 1 << 20        // bytes of source text of a trailer dictionary
	maxCachedStreams  = 16 << 20       // decoded bytes of object streams in the cache
	maxNesting        = 4              // object streams that are read in order to read another one
	maxTreeDepth      = 64             // levels of the page tree
	minWork           = 192 << 20      // bytes read, parsed and decoded in total, ...
	workPerByte       = 8              // ... plus this number for each byte of the file
	stringWork        = 2048           // bytes that the setup of a cipher for one string counts as
	minEntries        = 64 << 10       // objects of a file, ...
	entriesPerByte    = 1              // ... plus this number for each byte of the file
	maxImportedBytes  = 8 << 20        // bytes that one call of Import copies
	maxImported       = 10_000         // objects that one call of Import copies
)

// An Object is one of nil, bool, Integer, Real, String, Name, Array, Dict, *Stream and Ref (7.3).
type Object = any

// An Integer is an integer number (7.3.3).
type Integer int64

// A Real is a real number, or an integer that does not fit in 64 bits (7.3.3).
type Real float64

// A String has the bytes of a string, after escapes and hexadecimal digits are decoded (7.3.4).
// [Text] decodes the characters of a text string.
type String string

// A Name is a name without its solidus, with its #xx sequences decoded (7.3.5).
type Name string

// An Array is a sequence of objects (7.3.6).
type Array []Object

// A Dict maps keys to values that are not null (7.3.7). If a dictionary has a key several times,
// the Dict has the last value.
type Dict map[Name]Object

// A Stream has the dictionary of a stream and the place of its payload in the file (7.3.8).
// [File.Stream] decodes the payload.
type Stream struct {
	Dict   Dict
	Ref    Ref
	Offset int64 // of the payload, from the first byte of the file
	Length int64 // of the encoded payload, in bytes
}

// A Ref is a reference to an indirect object (7.3.10).
type Ref struct {
	Num uint32
	Gen uint16
}

// String returns the source text of the reference, such as "12 0 R".
func (r Ref) String() string { return r.identity() + " R" }

func (r Ref) identity() string {
	return strconv.FormatUint(uint64(r.Num), 10) + " " + strconv.FormatUint(uint64(r.Gen), 10)
}

// Resolve follows references until it finds an object that is not a reference, and returns that
// object.
func (f *File) Resolve(o Object) (Object, error) { return prefixed(f.resolve(o)) }

// Dict returns the dictionary that o is or refers to; nil for null. For an object of another type,
// the error is [ErrDamaged], as it is in the accessors below.
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

// LastReference follows a chain of references to references and returns the last one, which names
// the object itself. If it cannot read an object, it returns the reference to that object. It
// reports false if o is not a reference, or if the chain has more than 16 references.
func (f *File) LastReference(o Object) (Ref, bool) {
	ref, ok := o.(Ref)
	for range maxReferences {
		if !ok {
			break
		}
		next, err := f.Object(ref)
		if err != nil {
			return ref, true
		}
		nextRef, isRef := next.(Ref)
		if !isRef {
			return ref, true
		}
		ref = nextRef
	}
	return Ref{}, false
}

// IgnoreMalformed returns nil for an error which means that the file is malformed ([ErrDamaged],
// [ErrUnsupported], [ErrLimit]), and any other error unchanged. A caller uses it when it reads
// something that it can do without.
func IgnoreMalformed(err error) error {
	if errors.Is(err, ErrDamaged) || errors.Is(err, ErrUnsupported) || errors.Is(err, ErrLimit) {
		return nil
	}
	return err
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

// resolveTo follows references to an object of type T. It returns the zero value of T for null.
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

// prefixed adds the name of the package to an error that the package returns.
func prefixed[T any](value T, err error) (T, error) {
	if err != nil {
		err = fmt.Errorf("pdf: %w", err)
	}
	return value, err
}
