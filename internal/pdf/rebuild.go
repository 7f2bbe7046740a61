package pdf

import (
	"fmt"
	"io"
)

// Rebuild opens a file whose cross-reference is broken, by the objects that stand in it:
// of those with the same number the one nearest to the end holds. An [Update] of such a
// file lists every object, so that readers need not do the same again, each in its own way.
//
// Because that list replaces what readers would find for themselves, a file is [ErrDamaged]
// when an object, an object stream or a trailer that counts cannot be read here: somebody
// else might read it. So is a signed file: its signatures cover a cross-reference that
// another one would replace. Errors are otherwise those of [Open].
func Rebuild(r io.ReaderAt, size int64) (*File, error) { return rebuilt(r, size, false) }

// Salvage is [Rebuild] for a file that nobody writes on: whether it is signed, and whatever
// else of it cannot be read.
func Salvage(r io.ReaderAt, size int64) (*File, error) { return rebuilt(r, size, true) }

func rebuilt(r io.ReaderAt, size int64, lenient bool) (*File, error) {
	f := &File{r: r, size: size, rebuilt: true, named: map[uint32]bool{}}
	b := &rebuilding{file: f, lenient: lenient, streams: map[uint32]bool{}, unread: map[uint32]int64{}}
	if err := b.rebuild(); err != nil {
		return nil, fmt.Errorf("pdf: rebuilding the cross-reference: %w", err)
	}
	return f, nil
}

func (b *rebuilding) rebuild() (err error) {
	f := b.file
	if f.shift, err = f.findHeader(); err != nil {
		return err
	}
	if err := b.refuseSigned(); err != nil {
		return err
	}
	if err := b.scan(); err != nil {
		return err
	}
	if err := b.setTrailer(); err != nil {
		return err
	}
	if f.Trailer()["Encrypt"] == nil {
		if err := f.refuse("/Encrypt", "how the file is encrypted is not known"); err != nil {
			return err
		}
	}
	if err := f.openEncryption(); err != nil {
		return err
	}
	if err := b.addCompressed(); err != nil {
		return err
	}
	if err := b.checkUnread(); err != nil {
		return err
	}
	f.maxNum = f.entries.maxNum()
	if err := b.checkDensity(); err != nil {
		return err
	}
	return b.setRoot()
}

func (b *rebuilding) refuseSigned() error {
	if b.lenient {
		return nil
	}
	return b.file.refuse("/ByteRange", "the file is signed")
}

// refuse fails if the file has a name in it, wherever: it may stand where nothing is read.
func (f *File) refuse(name, because string) error {
	at, err := f.index(name, 0)
	if err == nil && at < f.size {
		err = fmt.Errorf("%w: not done, because %s", ErrDamaged, because)
	}
	return err
}

// rebuilding is what a scan of a file finds, in the order of the file.
type rebuilding struct {
	file     *File
	lenient  bool // nobody writes on it
	trailers []section
	streams  map[uint32]bool  // object streams
	unread   map[uint32]int64 // objects that cannot be read, the last of each number
}

// checkUnread refuses a file with an object that cannot be read and that no later one of
// its number replaces: readers that are more tolerant have it.
func (b *rebuilding) checkUnread() error {
	if b.lenient {
		return nil
	}
	entries := &b.file.entries
	for num, at := range b.unread {
		e := entries.get(num)
		if e.kind == compressedEntry {
			e = entries.get(uint32(e.offset))
		}
		if e.kind != plainEntry || e.offset < at {
			return fmt.Errorf("%w: object %d at %d cannot be read", ErrDamaged, num, at)
		}
	}
	return nil
}

// checkDensity refuses numbers that are far apart: the new section has an entry for each
// number, as that of a first revision must (7.5.4).
func (b *rebuilding) checkDensity() error {
	if most := 1000 + 10*b.file.entries.count; int(b.file.maxNum) > most {
		return fmt.Errorf("%w: object number %d in a file of %d objects", ErrLimit, b.file.maxNum, b.file.entries.count)
	}
	return nil
}
