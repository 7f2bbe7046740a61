// Package pdf reads PDF files through an [io.ReaderAt], object by object, and writes
// incremental updates: bytes to append that leave every byte before them as it is.
// It is what a signature needs and no more: nothing is rendered, validated or
// rewritten (ISO 32000-2:2020; clauses below are of that standard).
//
// # Reading
//
// [Open] reads the header, the last "startxref" and the chain of cross-reference
// sections; objects are parsed when they are asked for, from the bytes around their
// offset. An [Object] is a Go value: nil (null), bool, [Integer], [Real], [String],
// [Name], [Array], [Dict], *[Stream] or [Ref].
//
//	file, err := pdf.Open(r, size)
//	page, err := file.Page(1)
//	annotations, err := file.Array(page.Dict["Annots"]) // follows references
//
// A reference to an object that does not exist or is free is null, and the typed
// accessors return the zero value for null (7.3.10).
//
// Every file is taken for hostile. Objects, nesting, decoded streams, the number of
// objects and the work that a file takes over the life of a [File] are bounded; a bound
// that is exceeded is [ErrLimit].
// A [File] keeps some decoded object streams and is not safe for concurrent use.
//
// Encrypted files that open with an empty user password are read and updated like others
// (7.6): strings and streams are plain text to callers, and encrypted in the file. What
// the file's author allows is in [File.Permissions]; it is for callers to obey.
//
// [Open] repairs nothing: a cross-reference that is wrong is [ErrDamaged], and
// [ErrMisplaced] where that comes out later. [Rebuild] goes by the objects instead, as
// viewers do then.
//
// Not read, and refused by name: files that need a password or are encrypted in another
// way than the standard security handler's ([ErrEncrypted]).
//
// # Writing
//
// An [Update] collects new and replaced objects as source text, and [Update.Bytes]
// returns what is to be appended at [File.Size]. So that nothing but what has to
// change does, an existing object is not serialised again from its values: its text
// ([Update.Source]) is patched by [SetKey] and [AppendItem].
//
//	update := file.NewUpdate()
//	field := update.Add([]byte("<< /FT /Sig /T (Signature1) >>"))
//	source, err := update.Source(formRef)
//	source, err = pdf.SetKey(source, "Fields", []byte("["+field.String()+"]"))
//	update.Set(formRef, source)
//	appended, offsets, err := update.Bytes()
//
// [Update.Import] copies objects of another file, with all that they refer to.
//
// The appended section is of the same kind as the file's last one, because viewers
// repair, and so change, files that mix them without need. Behind a rebuilt file it lists
// every object and leads to no other section.
package pdf

import (
	"errors"
	"fmt"
	"strconv"
)

// Errors that callers tell apart. What is returned wraps one of them with the detail;
// errors of the underlying reader are wrapped as they are.
var (
	ErrNotPDF      = errors.New("not a PDF file")               // no %PDF- in the first 1024 bytes
	ErrDamaged     = errors.New("damaged PDF")                  // the cross-reference or an object cannot be read
	ErrEncrypted   = errors.New("encrypted PDF")                // it needs a password or what this package does not know
	ErrNoPages     = errors.New("PDF without pages")            // the page tree has no leaf
	ErrNoPage      = errors.New("no such page")                 // a page number outside of 1..PageCount
	ErrLimit       = errors.New("PDF exceeds a limit")          // a bound on size, depth, number or work
	ErrUnsupported = errors.New("unsupported feature of a PDF") // named by the error's text

	// ErrMisplaced is [ErrDamaged] too: an object is not where the cross-reference says.
	ErrMisplaced = errors.New("broken cross-reference")
)

// Bounds on what a file can make this package do.
const (
	headerWindow      = 1024           // bytes before the end of which %PDF- has to begin
	maxTrailingBytes  = 64 << 10       // window at the file's end that is searched for startxref
	maxObjectBytes    = 16 << 20       // source text of one object, without a stream's payload
	maxDepth          = 200            // arrays and dictionaries in one another
	maxItems          = 1 << 18        // array elements and dictionary entries of one object
	maxReferences     = 16             // references to references
	maxSections       = 4096           // cross-reference sections
	maxEntries        = 1 << 20        // objects
	maxObjectNumber   = 8_388_607      // indirect objects of ISO 32000-1 Annex C.2
	maxSectionEntries = 4 * maxEntries // entries of all sections, overridden ones included
	maxStreamBytes    = 1 << 30        // decoded bytes of one stream
	minStageBytes     = 1 << 20        // decoded bytes that each of several filters may return
	maxFilters        = 8              // filters of one stream
	maxObjectStream   = 16 << 20       // decoded bytes of one object stream
	maxTrailerBytes   = 1 << 20        // source text of a trailer dictionary
	maxCachedStreams  = 16 << 20       // decoded bytes of object streams kept
	maxNesting        = 4              // streams that are needed to read a stream
	maxTreeDepth      = 64             // levels of the page tree
	minWork           = 192 << 20      // bytes read, lexed and decoded in all, ...
	workPerByte       = 8              // ... and these more for each byte of the file
	stringWork        = 2048           // what setting up a cipher for a string counts as
	minEntries        = 64 << 10       // objects of a small file, ...
	entriesPerByte    = 1              // ... and these more for each byte of it
	maxImportedBytes  = 8 << 20        // bytes that one import copies
	maxImported       = 10_000         // objects that one import copies
)

// Object is one of nil, bool, Integer, Real, String, Name, Array, Dict, *Stream and Ref (7.3).
type Object = any

// Integer is an integer number (7.3.3).
type Integer int64

// Real is a real number, or an integer that exceeds 64 bits (7.3.3).
type Real float64

// String is the bytes of a string, escapes and hexadecimal digits decoded (7.3.4). [Text]
// decodes the characters of those that are text strings.
type String string

// Name is a name without its solidus, its #xx sequences decoded (7.3.5).
type Name string

// Array is a sequence of objects (7.3.6).
type Array []Object

// Dict maps keys to values that are not null (7.3.7). Of equal keys the last counts.
type Dict map[Name]Object

// Stream is a stream's dictionary and where its payload lies (7.3.8). [File.Stream] decodes it.
type Stream struct {
	Dict   Dict
	Ref    Ref
	Offset int64 // of the payload, from the file's first byte
	Length int64 // of the payload, encoded, in bytes
}

// Ref is a reference to an indirect object (7.3.10).
type Ref struct {
	Num uint32
	Gen uint16
}

// String returns the reference as it is written in a file: "12 0 R".
func (r Ref) String() string { return r.identity() + " R" }

func (r Ref) identity() string {
	return strconv.FormatUint(uint64(r.Num), 10) + " " + strconv.FormatUint(uint64(r.Gen), 10)
}

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

// exported names the package in an error that leaves it.
func prefixed[T any](value T, err error) (T, error) {
	if err != nil {
		err = fmt.Errorf("pdf: %w", err)
	}
	return value, err
}
