package pdf

import (
	"errors"
	"fmt"
)

// Resolve follows references until an object that is none, and returns that.
func (f *File) Resolve(o Object) (Object, error) { return exported(f.resolve(o)) }

// Dict returns the dictionary that o is or refers to; nil for null. What is neither is
// [ErrDamaged], here and below.
func (f *File) Dict(o Object) (Dict, error) { return exported(resolveTo[Dict](f, o)) }

// Array returns the array that o is or refers to; nil for null.
func (f *File) Array(o Object) (Array, error) { return exported(resolveTo[Array](f, o)) }

// Name returns the name that o is or refers to; "" for null.
func (f *File) Name(o Object) (Name, error) { return exported(resolveTo[Name](f, o)) }

// Bool returns the boolean that o is or refers to; false for null.
func (f *File) Bool(o Object) (bool, error) { return exported(resolveTo[bool](f, o)) }

// StreamObject returns the stream that o refers to; nil for null.
func (f *File) StreamObject(o Object) (*Stream, error) { return exported(resolveTo[*Stream](f, o)) }

// Int returns the integer that o is or refers to; 0 for null.
func (f *File) Int(o Object) (int64, error) {
	n, err := exported(resolveTo[Integer](f, o))
	return int64(n), err
}

// Number returns the integer or real number that o is or refers to; 0 for null.
func (f *File) Number(o Object) (float64, error) { return exported(f.number(o)) }

// Bytes returns the bytes of the string that o is or refers to; nil for null.
func (f *File) Bytes(o Object) ([]byte, error) {
	o, err := f.resolve(o)
	if o == nil || err != nil {
		return exported([]byte(nil), err)
	}
	s, err := resolveTo[String](f, o)
	return exported([]byte(s), err)
}

// exported names the package in an error that leaves it.
func exported[T any](value T, err error) (T, error) {
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
