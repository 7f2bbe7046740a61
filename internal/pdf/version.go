package pdf

import (
	"bytes"
	"cmp"
	"strconv"
)

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
