package pdf

import "strconv"

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
