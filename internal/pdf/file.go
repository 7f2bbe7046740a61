package pdf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// File is an open PDF file. It is not safe for concurrent use.
type File struct {
	r         io.ReaderAt
	size      int64
	shift     int64 // of the header; what offsets inside the file count from
	startxref int64 // as it stands at the file's end, without shift
	sections  []section
	entries   entryTable
	hybrid    int64 // where the last table with an XRefStm is; 0 when there is none
	maxNum    uint32
	rebuilt   bool // entries are those of Rebuild
	doubled   bool // of an object that was read, a dictionary has two values for a key

	tablesFrom   int64 // where tables begin that are read without the streams beside them; 0: nowhere
	streams      streamCache
	nesting      int   // streams being read in order to read another one
	work         int64 // bytes read, lexed and decoded so far
	kept         keptObjects
	keptSections keptSections
	whole        *File           // of which it is the beginning, and whose work its own is; nil: none
	named        map[uint32]bool // numbers above maxNum that references name
	searched     bool            // noteDangling has looked for them

	encryption *encryption // nil when there is none
}

// Open reads the cross-reference of the file that r holds in its first size bytes. r has to
// stay readable for as long as the File is used. Errors: [ErrNotPDF], [ErrDamaged],
// [ErrEncrypted], [ErrUnsupported], [ErrLimit] or those of r.
func Open(r io.ReaderAt, size int64) (*File, error) {
	f := &File{r: r, size: size, named: map[uint32]bool{}}
	if err := f.open(); err != nil {
		return nil, fmt.Errorf("pdf: opening: %w", err)
	}
	return f, nil
}

// Earlier opens the first bytes of the file, which are what it was before later updates (7.5.6). It may have any
// number of these: the work that they take is the file's.
func (f *File) Earlier(size int64) (*File, error) {
	earlier := &File{r: f.r, size: size, named: map[uint32]bool{}, whole: f}
	if err := earlier.open(); err != nil {
		return nil, fmt.Errorf("pdf: opening an earlier revision: %w", err)
	}
	return earlier, nil
}

func (f *File) open() error {
	header, err := f.findHeader()
	if err != nil {
		return err
	}
	if f.startxref, err = f.findStartxref(); err != nil {
		return err
	}
	if err := f.readSectionsFrom(header); err != nil {
		return err
	}
	if err := f.openEncryption(); err != nil {
		return err
	}
	return f.findMaxNum()
}

// readSectionsFrom reads the cross-reference with offsets that count from the header, as
// they have to, or else from the first byte: junk may have been there from the start.
func (f *File) readSectionsFrom(header int64) error {
	f.shift = header
	err := f.readSections()
	if header == 0 || !errors.Is(err, ErrDamaged) {
		return err
	}
	f.shift = 0
	if f.readSections() != nil {
		return err
	}
	return nil
}

// findHeader returns where the header begins (7.5.2). Other bytes may precede it.
func (f *File) findHeader() (int64, error) {
	window, err := f.read(0, int(min(f.size, headerWindow)))
	if err != nil {
		return 0, err
	}
	i := bytes.Index(window, []byte("%PDF-"))
	if i < 0 {
		return 0, ErrNotPDF
	}
	return int64(i), nil
}

// findStartxref returns the offset that follows the last startxref (7.5.5). Other bytes
// may follow the file's end, so the window that is searched grows.
func (f *File) findStartxref() (int64, error) {
	for n := int64(headerWindow); ; n *= 4 {
		start := max(f.size-n, 0)
		window, err := f.read(start, int(f.size-start))
		if err != nil {
			return 0, err
		}
		if i := bytes.LastIndex(window, []byte("startxref")); i >= 0 {
			return startxrefOffset(window[i:])
		}
		if start == 0 || n >= maxTrailingBytes {
			return 0, fmt.Errorf("%w: no startxref at the end", ErrDamaged)
		}
	}
}

func startxrefOffset(text []byte) (int64, error) {
	p := &parser{buf: text, final: true}
	p.word()
	o, err := p.object()
	if n, ok := o.(Integer); err == nil && ok && n > 0 {
		return int64(n), nil
	}
	return 0, fmt.Errorf("%w: startxref without an offset", ErrDamaged)
}

// findMaxNum finds the highest object number in use or promised by Size.
func (f *File) findMaxNum() error {
	size, ok := f.Trailer()["Size"].(Integer)
	if !ok || size < 1 || size > maxObjectNumber+1 {
		return fmt.Errorf("%w: trailer without a usable Size", ErrDamaged)
	}
	f.maxNum = max(uint32(size-1), f.entries.maxNum())
	f.note(f.Trailer())
	return nil
}

// note remembers references to objects that do not exist. They are null (7.3.10), and
// have to stay so when an update adds objects.
func (f *File) note(o Object) {
	switch o := o.(type) {
	case Ref:
		if o.Num > f.maxNum {
			f.named[o.Num] = true
		}
	case Array:
		for _, item := range o {
			f.note(item)
		}
	case Dict:
		for _, value := range o {
			f.note(value)
		}
	}
}

// searchWork bounds the work of noteDangling.
const searchWork = 256 << 10

// noteDangling notes the references in the objects of a small file, and in some of a large one, which is not to be read
// for this.
func (f *File) noteDangling() error {
	began := f.origin().work
	for num, e := range f.entries.all() {
		if f.origin().work-began > searchWork || f.Spent() != nil {
			return nil
		}
		o, err := f.locate(Ref{Num: num, Gen: e.gen})
		if IgnoreMalformed(err) != nil {
			return err
		}
		f.note(o.value)
	}
	return nil
}

// Spent returns [ErrLimit] once the file has taken all the work that it may. Every call
// that reads objects fails with it from then on.
func (f *File) Spent() error {
	if f = f.origin(); f.work > minWork+workPerByte*f.size {
		return fmt.Errorf("%w: it takes too much work", ErrLimit)
	}
	return nil
}

func (f *File) spend(work int64) { f.origin().work += work }

// Size returns the file's size in bytes, as Open was given it.
func (f *File) Size() int64 { return f.size }

// Trailer returns the trailer dictionary of the last section (7.5.5); for a
// cross-reference stream, the stream's dictionary.
func (f *File) Trailer() Dict { return f.sections[0].trailer }
