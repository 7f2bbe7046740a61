package pdf

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// File is an open PDF file. It is not safe for concurrent use.
type File struct {
	r             io.ReaderAt
	size          int64
	offsetBase    int64 // of the header; what offsets inside the file count from
	startxref     int64 // as it stands at the file's end, without shift
	sections      []section
	entries       entryTable
	lastHybrid    int64 // where the last table with an XRefStm is; 0 when there is none
	maxNum        uint32
	rebuilt       bool // entries are those of Rebuild
	duplicateKeys bool // of an object that was read, a dictionary has two values for a key

	ignoreXRefStmFrom int64 // where tables begin that are read without the streams beside them; 0: nowhere
	streams           streamCache
	nesting           int   // streams being read in order to read another one
	work              int64 // bytes read, lexed and decoded so far
	objectCache       objectCache
	sectionCache      sectionCache
	parent            *File           // of which it is the beginning, and whose work its own is; nil: none
	dangling          map[uint32]bool // numbers above maxNum that references name
	danglingSearched  bool            // noteDangling has looked for them

	encryption *encryption // nil when there is none
}

// Open reads the cross-reference of the file that r holds in its first size bytes. r has to
// stay readable for as long as the File is used. Errors: [ErrNotPDF], [ErrDamaged],
// [ErrEncrypted], [ErrUnsupported], [ErrLimit] or those of r.
func Open(r io.ReaderAt, size int64) (*File, error) {
	f := &File{r: r, size: size, dangling: map[uint32]bool{}}
	if err := f.open(); err != nil {
		return nil, fmt.Errorf("pdf: opening: %w", err)
	}
	return f, nil
}

// Earlier opens the first bytes of the file, which are what it was before later updates (7.5.6). It may have any
// number of these: the work that they take is the file's.
func (f *File) Earlier(size int64) (*File, error) {
	earlier := &File{r: f.r, size: size, dangling: map[uint32]bool{}, parent: f}
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
	f.offsetBase = header
	err := f.readSections()
	if header == 0 || !errors.Is(err, ErrDamaged) {
		return err
	}
	f.offsetBase = 0
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
	f.noteDangling(f.Trailer())
	return nil
}

// CheckBudget returns [ErrLimit] once the file has taken all the work that it may. Every call
// that reads objects fails with it from then on.
func (f *File) CheckBudget() error {
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

// Version returns the version of PDF that the file says it is of: that of the header, or
// of the catalog's Version when that is later (7.5.2, table 29). What cannot be
// read says 0.0.
func (f *File) Version() (major, minor int) {
	major, minor = f.headerVersion()
	_, catalog, err := f.catalog()
	if err != nil {
		return major, minor
	}
	stated, err := resolveTo[Name](f, catalog["Version"])
	if err != nil {
		return major, minor
	}
	later, laterMinor := parseVersion([]byte(stated))
	if cmp.Or(cmp.Compare(later, major), cmp.Compare(laterMinor, minor)) > 0 {
		return later, laterMinor
	}
	return major, minor
}

// headerVersion reads the version behind %PDF-.
func (f *File) headerVersion() (major, minor int) {
	const prefix, longest = "%PDF-", "1.7\n"
	at, err := f.findHeader()
	if err != nil {
		return 0, 0
	}
	header, err := f.read(at, int(min(int64(len(prefix+longest)), f.size-at)))
	if err != nil {
		return 0, 0
	}
	p := &parser{buf: header[len(prefix):], final: true}
	return parseVersion(p.word())
}

func parseVersion(text []byte) (major, minor int) {
	before, after, _ := bytes.Cut(text, []byte("."))
	a, err := strconv.ParseUint(string(before), 10, 8)
	if err != nil {
		return 0, 0
	}
	b, err := strconv.ParseUint(string(after), 10, 8)
	if err != nil {
		return 0, 0
	}
	return int(a), int(b)
}

// maxMetadata bounds a metadata stream in bytes.
const maxMetadata = 1 << 20

// Archival reports whether the document claims to be PDF/A: by its metadata (ISO 19005-1 6.7.11), or
// by an output intent that is made for it (6.2.2). What cannot be read claims nothing. Errors are those of
// [File.Catalog] and of the reader.
func (f *File) Archival() (bool, error) {
	_, catalog, err := f.Catalog()
	if err != nil {
		return false, err
	}
	for _, claim := range []func(*File, Dict) (bool, error){claimedByIntent, claimedByMetadata} {
		ok, err := claim(f, catalog)
		if IgnoreMalformed(err) != nil {
			return false, err
		}
		if err == nil && ok {
			return true, nil
		}
	}
	return false, nil
}

func claimedByIntent(file *File, catalog Dict) (bool, error) {
	intents, err := file.Array(catalog["OutputIntents"])
	if err != nil {
		return false, err
	}
	for _, o := range intents {
		intent, err := file.Dict(o)
		if err != nil {
			return false, err
		}
		if kind, err := file.Name(intent["S"]); err != nil || kind == "GTS_PDFA1" {
			return err == nil, err
		}
	}
	return false, nil
}

func claimedByMetadata(file *File, catalog Dict) (bool, error) {
	stream, err := file.StreamObject(catalog["Metadata"])
	if err != nil || stream == nil {
		return false, err
	}
	metadata, err := file.Stream(stream, maxMetadata)
	return err == nil && hasPDFAPart(metadata), err
}

// statesPart reports whether metadata (XMP, ISO 16684-1) names the part of ISO 19005 that a
// document is made by, as an element or as an attribute.
func hasPDFAPart(metadata []byte) bool {
	part := xml.Name{Space: "http://www.aiim.org/pdfa/ns/id/", Local: "part"}
	isPart := func(a xml.Attr) bool { return a.Name == part }
	d := xml.NewDecoder(bytes.NewReader(metadata))
	d.Strict = false
	for {
		token, err := d.Token()
		if err != nil {
			return false
		}
		start, ok := token.(xml.StartElement)
		if ok && (start.Name == part || slices.ContainsFunc(start.Attr, isPart)) {
			return true
		}
	}
}
