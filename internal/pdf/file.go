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

// A File is an open PDF file. It is not safe for concurrent use.
type File struct {
	r             io.ReaderAt
	size          int64
	offsetBase    int64 // absolute offset that file offsets are relative to, usually the header's
	startxref     int64 // offset after the last startxref, relative to offsetBase
	sections      []xrefSection
	entries       entryTable
	lastHybrid    int64 // absolute offset of the last table with an XRefStm; 0: none
	maxNum        uint32
	rebuilt       bool // Rebuild or RebuildForReading made the entries
	duplicateKeys bool // a dictionary in an object read so far has two different values for a key

	ignoreXRefStmFrom int64 // XRefStm of tables from this absolute offset on is ignored; 0: never
	streams           streamCache
	nesting           int   // object streams that are being read in order to read another one
	work              int64 // bytes read, parsed and decoded so far
	objectCache       objectCache
	sectionCache      sectionCache
	parent            *File           // file whose budget and caches this one uses; nil: none
	dangling          map[uint32]bool // object numbers above maxNum that references name
	danglingSearched  bool            // searchDangling has run

	encryption *encryption // nil: the file is not encrypted
}

// Open reads the cross-reference of the file that r holds in its first size bytes. r has to stay
// readable as long as the caller uses the File. Errors: [ErrNotPDF], [ErrDamaged], [ErrEncrypted],
// [ErrUnsupported], [ErrLimit], or those of r.
func Open(r io.ReaderAt, size int64) (*File, error) {
	f := &File{r: r, size: size, dangling: map[uint32]bool{}}
	if err := f.open(); err != nil {
		return nil, fmt.Errorf("pdf: opening: %w", err)
	}
	return f, nil
}

// EarlierRevision opens the first size bytes of the file, which are an earlier revision of it (7.5.6). All
// earlier revisions share the work budget of the file, so that the caller may open any number of
// them.
func (f *File) EarlierRevision(size int64) (*File, error) {
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

// readSectionsFrom reads the cross-reference with offsets that are relative to the header, as the
// standard requires. If this fails, it takes them as relative to the first byte: the bytes before
// the header may have been there when the offsets were written.
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

// findHeader returns the absolute offset of the header (7.5.2). Other bytes may precede the header.
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

// findStartxref returns the offset that follows the last startxref (7.5.5). Other bytes may follow
// the end of the file, so the search window grows, up to maxTrailingBytes.
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

// findMaxNum sets maxNum to the highest object number that has an entry or that Size permits, and
// notes the trailer's references to objects above it.
func (f *File) findMaxNum() error {
	size, ok := f.Trailer()["Size"].(Integer)
	if !ok || size < 1 || size > maxObjectNumber+1 {
		return fmt.Errorf("%w: trailer without a usable Size", ErrDamaged)
	}
	f.maxNum = max(uint32(size-1), f.entries.maxNum())
	f.noteDangling(f.Trailer())
	return nil
}

// CheckBudget returns [ErrLimit] when the file has used up its work budget. From then on, every
// call that reads objects returns this error.
func (f *File) CheckBudget() error {
	if f = f.origin(); f.work > minWork+workPerByte*f.size {
		return fmt.Errorf("%w: reading takes too many operations", ErrLimit)
	}
	return nil
}

func (f *File) spend(work int64) { f.origin().work += work }

// Size returns the size of the file in bytes, as the caller of Open gave it.
func (f *File) Size() int64 { return f.size }

// Trailer returns the trailer dictionary of the last section (7.5.5). For a cross-reference stream,
// this is the dictionary of the stream.
func (f *File) Trailer() Dict { return f.sections[0].trailer }

// Version returns the PDF version of the file: the version in the header or, if it is later, the
// Version of the catalog (7.5.2, Table 29). If the header cannot be read, its version counts as
// 0.0.
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

// headerVersion returns the version after %PDF-.
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

// maxMetadata is the maximum size of a decoded metadata stream in bytes.
const maxMetadata = 1 << 20

// ClaimsPDFA reports whether the document claims to be PDF/A, by its metadata (ISO 19005-1 6.7.11) or
// by a PDF/A output intent (6.2.2). Malformed metadata and malformed output intents claim nothing.
// Errors are those of [File.Catalog] and of the reader.
func (f *File) ClaimsPDFA() (bool, error) {
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

// hasPDFAPart reports whether metadata (XMP, ISO 16684-1) states the part of ISO 19005 that the
// document conforms to, as an element or as an attribute.
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
