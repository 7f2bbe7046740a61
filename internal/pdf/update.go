package pdf

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
)

// Update collects the objects of an incremental update (7.5.6).
type Update struct {
	file   *File
	bodies map[Ref][]byte
	maxNum uint32
	err    error // of the file's reader, while dangling references were looked for
}

// NewUpdate returns an empty update of the file.
func (f *File) NewUpdate() *Update {
	return &Update{file: f, bodies: map[Ref][]byte{}, maxNum: f.maxNum}
}

// Reserve returns a reference that no object of the file or the update ever had, and that nothing in a small file refers
// to; in a large one, nothing in what was read of it. Until [Update.Set] gives it a body it refers to null.
func (u *Update) Reserve() Ref {
	u.maxNum = u.nextNum()
	return Ref{Num: u.maxNum}
}

// next returns the lowest number above those of all objects that no reference names.
func (u *Update) nextNum() uint32 {
	if !u.file.danglingSearched && u.err == nil {
		u.err = u.file.searchDangling()
		u.file.danglingSearched = u.err == nil
	}
	num := min(u.maxNum, maxObjectNumber) + 1 // beyond it, Bytes refuses
	for u.file.dangling[num] {
		num++
	}
	return num
}

// note remembers references to objects that do not exist. They are null (7.3.10), and
// have to stay so when an update adds objects.
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

// searchWork bounds the work of noteDangling.
const searchWork = 256 << 10

// noteDangling notes the references in the objects of a small file, and in some of a large one, which is not to be read
// for this.
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

// Set gives a new object its body, or an existing one a new body: the source text
// between obj and endobj, a stream's payload included. The update keeps body. It is plain
// text in an encrypted file too, where a stream needs a direct Length.
func (u *Update) Set(ref Ref, body []byte) {
	u.bodies[ref] = body
	u.maxNum = max(u.maxNum, ref.Num)
}

// Add adds a new object.
func (u *Update) Add(body []byte) Ref {
	ref := u.Reserve()
	u.Set(ref, body)
	return ref
}

// Source returns the source text of an object as the update has it, or else
// [File.Source]. It is not to be changed.
func (u *Update) Source(ref Ref) ([]byte, error) {
	if body, ok := u.bodies[ref]; ok {
		return body, nil
	}
	return u.file.Source(ref)
}

// Bytes returns what has to be appended at the file's size, and for each object where its
// body begins within that. In an encrypted file strings and payloads are encrypted, but for
// Contents of a signature dictionary: a body is what was set up to its first string. The
// last section's trailer is carried over, with a new second part of ID. An update without
// objects is empty. Errors: [ErrLimit] when the file gets longer or has more objects than
// its cross-reference can say, [ErrDamaged] when an object was set whose generation is not
// the file's, or in an encrypted file one whose body cannot be read; or one of the file's reader.
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

func byNumber(a, b Ref) int { return int(int64(a.Num) - int64(b.Num)) }

// check refuses what would make a file that readers understand differently.
func (u *Update) check() error {
	if next := u.nextNum(); next > maxObjectNumber { // a cross-reference stream takes it
		return fmt.Errorf("%w: object number %d", ErrLimit, next)
	}
	if u.err != nil {
		return u.err
	}
	nums := map[uint32]bool{0: true}
	for ref := range u.bodies {
		e := u.file.entries.get(ref.Num)
		if nums[ref.Num] || e.kind != freeEntry && e.gen != ref.Gen {
			return fmt.Errorf("%w: generation of object %s", ErrDamaged, ref.identity())
		}
		nums[ref.Num] = true
	}
	return nil
}

// leadingLineEnd returns the line feed that is needed where the file does not end with an
// end of line, so that no object begins within a comment.
func (u *Update) leadingLineEnd() ([]byte, error) {
	last, err := u.file.read(u.file.size-1, 1)
	if err != nil || bytes.ContainsAny(last, "\r\n") {
		return nil, err
	}
	return []byte{'\n'}, nil
}

// Attempt makes several changes together or not at all: change gets a copy of the update,
// which takes its place unless change fails.
func (u *Update) Attempt(change func(*Update) error) error {
	draft := *u
	draft.bodies = maps.Clone(u.bodies)
	if err := change(&draft); err != nil {
		return err
	}
	*u = draft
	return nil
}
