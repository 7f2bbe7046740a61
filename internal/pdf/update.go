package pdf

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// An Update collects the objects of an incremental update (ISO 32000-2 7.5.6).
type Update struct {
	file   *File
	bodies map[Ref][]byte
	maxNum uint32
	err    error // first read error of the search for dangling references; Bytes returns it
}

// NewUpdate returns an empty update of the file.
func (f *File) NewUpdate() *Update {
	return &Update{file: f, bodies: map[Ref][]byte{}, maxNum: f.maxNum}
}

// Reserve returns a reference with a new object number: no object of the file or the update ever
// had it. References of the file to objects that do not exist do not have it either; in a large
// file, only those in the objects read so far are checked. The reference refers to null until the
// caller gives it a body with [Update.Set].
func (u *Update) Reserve() Ref {
	u.maxNum = u.nextNum()
	return Ref{Num: u.maxNum}
}

// Set gives a new object its body, or an existing object a new body. The body is the source text
// between obj and endobj, with the payload of a stream. The update keeps body and does not copy it.
// The body is plain text in an encrypted file too; there, a stream needs a direct Length.
func (u *Update) Set(ref Ref, body []byte) {
	u.bodies[ref] = body
	u.maxNum = max(u.maxNum, ref.Num)
}

// Add adds a new object with a body and returns its reference.
func (u *Update) Add(body []byte) Ref {
	ref := u.Reserve()
	u.Set(ref, body)
	return ref
}

// Source returns the source text of an object: its body in the update if it has one, else
// [File.Source]. The caller must not change the returned bytes.
func (u *Update) Source(ref Ref) ([]byte, error) {
	if body, ok := u.bodies[ref]; ok {
		return body, nil
	}
	return u.file.Source(ref)
}

// Bytes returns the bytes that the caller has to append to the file, and for each object the offset
// of its body within these bytes. An update without objects is empty.
//
// In an encrypted file, strings and payloads are encrypted, except Contents of a signature
// dictionary. Encryption changes lengths, so an offset within a body is valid there only up to its
// first string. The new trailer has the entries of the last trailer, with a new second element of
// ID.
//
// Errors: [ErrLimit] if the file becomes longer, or has more objects, than its cross-reference can
// represent; [ErrDamaged] if the caller set an object whose generation number differs from the
// file's, or, in an encrypted file, an object whose body cannot be parsed; or an error of the
// file's reader.
func (u *Update) Bytes() (appended []byte, offsets map[Ref]int64, err error) {
	if len(u.bodies) == 0 {
		return nil, nil, nil
	}
	if err := u.check(); err != nil {
		return nil, nil, fmt.Errorf("pdf: update: %w", err)
	}
	if appended, err = u.leadingLineEnd(); err != nil {
		return nil, nil, fmt.Errorf("pdf: update: %w", err)
	}
	w := &sectionWriter{file: u.file, out: appended, size: u.maxNum + 1, next: u.nextNum()}
	offsets = make(map[Ref]int64, len(u.bodies))
	for _, ref := range slices.SortedFunc(maps.Keys(u.bodies), byNumber) {
		body, err := u.file.encryption.encryptObject(ref, u.bodies[ref])
		if err != nil {
			return nil, nil, fmt.Errorf("pdf: update: object %s: %w", ref.identity(), err)
		}
		offsets[ref] = w.object(ref, body)
	}
	if err := w.section(); err != nil {
		return nil, nil, fmt.Errorf("pdf: update: %w", err)
	}
	return w.out, offsets, nil
}

// Attempt makes several changes together or not at all. It calls change with a copy of the update;
// the copy replaces the update unless change returns an error.
func (u *Update) Attempt(change func(*Update) error) error {
	draft := *u
	draft.bodies = maps.Clone(u.bodies)
	if err := change(&draft); err != nil {
		return err
	}
	*u = draft
	return nil
}

// nextNum returns the lowest object number above all existing ones. It skips numbers that dangling
// references have: these are null, and would refer to the new object.
func (u *Update) nextNum() uint32 {
	if !u.file.danglingSearched && u.err == nil {
		u.err = u.file.searchDangling()
		u.file.danglingSearched = u.err == nil
	}
	num := min(u.maxNum, maxObjectNumber) + 1 // Bytes returns an error above maxObjectNumber
	for u.file.dangling[num] {
		num++
	}
	return num
}

func byNumber(a, b Ref) int { return cmp.Compare(a.Num, b.Num) }

// check returns an error if an object number is too high, reading has failed, an object of the update
// has number 0 or another generation than in the file, or two of them have the same number.
func (u *Update) check() error {
	if next := u.nextNum(); next > maxObjectNumber { // a cross-reference stream may use this number
		return fmt.Errorf("%w: object number %d is too high", ErrLimit, next)
	}
	if u.err != nil {
		return u.err
	}
	nums := map[uint32]bool{0: true} // object 0 is the head of the list of free objects
	for ref := range u.bodies {
		e := u.file.entries.get(ref.Num)
		if nums[ref.Num] || (e.kind != freeEntry && e.gen != ref.Gen) {
			return fmt.Errorf("%w: object %s has another generation in the file, is written twice or has number 0", ErrDamaged, ref.identity())
		}
		nums[ref.Num] = true
	}
	return nil
}

// leadingLineEnd returns a line feed if the file does not end with an end of line, so that the
// first object does not become part of a comment.
func (u *Update) leadingLineEnd() ([]byte, error) {
	last, err := u.file.read(u.file.size-1, 1)
	if err != nil || bytes.ContainsAny(last, "\r\n") {
		return nil, err
	}
	return []byte{'\n'}, nil
}

// noteDangling records the dangling references in o: those whose object number is above that of
// every object of the file. Such a reference is null (7.3.10), and has to stay null when an update
// adds objects.
func (f *File) noteDangling(o Object) {
	switch o := o.(type) {
	case Ref:
		if o.Num > f.maxNum {
			f.dangling[o.Num] = true
		}
	case Array:
		for _, item := range o {
			f.noteDangling(item)
		}
	case Dict:
		for _, value := range o {
			f.noteDangling(value)
		}
	}
}

// searchWork limits the work of searchDangling, in the units of File.work.
const searchWork = 256 << 10

// searchDangling records the dangling references in all objects of a small file. In a large file it
// stops after searchWork, because reading the whole file for this would take too long.
func (f *File) searchDangling() error {
	began := f.origin().work
	for num, e := range f.entries.all() {
		if f.origin().work-began > searchWork || f.CheckBudget() != nil {
			return nil
		}
		o, err := f.locate(Ref{Num: num, Gen: e.gen})
		if IgnoreMalformed(err) != nil {
			return err
		}
		f.noteDangling(o.value)
	}
	return nil
}
