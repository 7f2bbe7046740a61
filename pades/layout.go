package pades

import (
	"bytes"
	"crypto"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"

	"github.com/innsigli/innsigli/internal/pdf"
)

// layout is a revision with a hole: the hexadecimal string of /Contents.
type layout struct {
	before, after []byte
	reserved      int // bytes of /Contents
	usageRights   bool
}

// filled puts a signature, padded with zeros, between the two parts.
func (l layout) filled(der []byte) []byte {
	contents := make([]byte, l.reserved)
	copy(contents, der)
	out := make([]byte, 0, len(l.before)+2*l.reserved+2+len(l.after))
	out = append(out, l.before...)
	out = append(out, '<')
	out = hex.AppendEncode(out, contents)
	out = append(out, '>')
	return append(out, l.after...)
}

// newRevision is what is appended at base, with the states of the hash around it: sum is
// that of the document so far.
func newRevision(base int64, out []byte, h crypto.Hash, sum hash.Hash) (Revision, error) {
	before, err := save(sum)
	if err != nil {
		return Revision{}, err
	}
	sum.Write(out)
	after, err := save(sum)
	if err != nil {
		return Revision{}, err
	}
	return Revision{
		Base: base, Bytes: out,
		Hashed: []Midstate{{h, base + int64(len(out)), after}}, before: []Midstate{{h, base, before}},
	}, nil
}

// signatureDictionary is the source of a signature dictionary and where in it
// the two values lie that are filled in later.
type signatureDictionary struct {
	source    []byte
	byteRange int // of the placeholder's first byte
	contents  int // of the "<"
	reserved  int // bytes of Contents
}

// byteRangeWidth holds four integers of 10 digits, the most that a
// cross-reference table can say, in brackets and apart.
const byteRangeWidth = 4*10 + 3 + 2

// beginSignature writes a signature dictionary up to its Contents, entries first.
func beginSignature(b *bytes.Buffer, entries string, reserved int) signatureDictionary {
	d := signatureDictionary{reserved: reserved}
	b.WriteString("<< " + entries + " /ByteRange ")
	d.byteRange = b.Len()
	fmt.Fprintf(b, "%-*s", byteRangeWidth, "[0 0 0 0]") // an array already, and no longer than the one to come
	b.WriteString(" /Contents ")
	d.contents = b.Len()
	b.WriteByte('<')
	b.Write(bytes.Repeat([]byte{'0'}, 2*reserved))
	b.WriteByte('>')
	return d
}

// cutOut returns the update that the dictionary is the object ref of, without Contents,
// for a document of size bytes.
func (d signatureDictionary) cutOut(update *pdf.Update, ref pdf.Ref, size int64) (layout, error) {
	appended, offsets, err := update.Bytes()
	if err != nil {
		return layout{}, err
	}
	gap := offsets[ref] + int64(d.contents)
	gapEnd := gap + int64(2*d.reserved+2) // the hexadecimal digits and their delimiters
	if err := fillByteRange(appended[offsets[ref]+int64(d.byteRange):], size+gap, size+gapEnd, size+int64(len(appended))); err != nil {
		return layout{}, err
	}
	return layout{before: appended[:gap:gap], after: appended[gapEnd:], reserved: d.reserved}, nil
}

// fillByteRange writes the array of ISO 32000-2 12.8.1 over its placeholder: all
// of the file but the bytes from gap to gapEnd.
func fillByteRange(placeholder []byte, gap, gapEnd, size int64) error {
	array := fmt.Appendf(nil, "[0 %d %d %d]", gap, gapEnd, size-gapEnd)
	if len(array) > byteRangeWidth {
		return fmt.Errorf("%w: file of %d bytes", pdf.ErrLimit, size)
	}
	copy(placeholder, array)
	return nil
}

// patchObject changes the source of an object; nil leaves it as it is.
func patchObject(update *pdf.Update, ref pdf.Ref, patch func(source []byte) ([]byte, error)) error {
	source, err := update.Source(ref)
	if err != nil {
		return err
	}
	patched, err := patch(source)
	if err == nil && patched != nil {
		update.Set(ref, patched)
	}
	return err
}

// setEntry sets an entry of a dictionary that is an object of its own.
func setEntry(update *pdf.Update, dict pdf.Ref, key pdf.Name, value []byte) error {
	return patchObject(update, dict, func(source []byte) ([]byte, error) { return pdf.SetKey(source, key, value) })
}

// patchCatalog changes the source of the dictionary under a key of the catalog.
func patchCatalog(file *pdf.File, update *pdf.Update, key pdf.Name, patch func(source []byte) ([]byte, error)) error {
	ref, catalog, err := file.Catalog()
	if err != nil {
		return err
	}
	return patchObject(update, ref, func(source []byte) ([]byte, error) {
		return patchValue(file, update, source, catalog, key, patch)
	})
}

// patchValue changes the value under a key of a dictionary, given as its source and its
// value. A value that is an object of its own is changed there, and the result is nil: the
// dictionary stays as it is.
func patchValue(file *pdf.File, update *pdf.Update, source []byte, dict pdf.Dict, key pdf.Name, patch func(source []byte) ([]byte, error)) ([]byte, error) {
	if ref, ok := file.LastReference(dict[key]); ok {
		return nil, patchObject(update, ref, patch)
	}
	value, _, err := pdf.Key(source, key)
	if err != nil {
		return nil, err
	}
	patched, err := patch(value)
	if err != nil || patched == nil {
		return nil, err
	}
	return pdf.SetKey(source, key, patched)
}

// appendReference appends a reference to the array under a key of a dictionary, given as
// its source and its value. An array that is an object of its own is changed there, and
// the result is nil: the dictionary stays as it is.
func appendReference(file *pdf.File, update *pdf.Update, source []byte, dict pdf.Dict, key pdf.Name, item pdf.Ref) ([]byte, error) {
	array, err := file.Array(dict[key])
	if err != nil {
		return nil, err
	}
	if array == nil {
		return pdf.SetKey(source, key, fmt.Appendf(nil, "[%s]", item))
	}
	return patchValue(file, update, source, dict, key, func(source []byte) ([]byte, error) {
		return appendOnce(source, item)
	})
}

// appendOnce appends a reference to the source of an array. One array may be both the
// annotations and the fields, and then has it already: the result is nil.
func appendOnce(source []byte, item pdf.Ref) ([]byte, error) {
	value, err := pdf.Parse(source)
	if items, ok := value.(pdf.Array); err != nil || ok && slices.Contains(items, pdf.Object(item)) {
		return nil, err
	}
	return pdf.AppendItem(source, []byte(item.String()))
}

// etsiLevel is the level of ETSI's extension of PDF 1.7 that SubFilter
// ETSI.CAdES.detached is of (EN 319 142-1).
const etsiLevel = 2

// etsiExtension is its developer extensions dictionary (ISO 32000-2 table 49).
const etsiExtension = "<< /Type /DeveloperExtensions /BaseVersion /1.7 /ExtensionLevel 2 >>"

// declareExtension says in the catalog that the document uses ETSI's extension
// (ISO 32000-2 7.12; EN 319 142-1 recommends it). Only a file of PDF 1.7 can say so: in one
// of an earlier version BaseVersion would be later than the file's, which table 49 excludes,
// and to raise that would claim more than a signature knows, and end PDF/A-1; PDF 2.0 has
// the format itself. An Extensions entry that cannot be read stays as it is.
func declareExtension(file *pdf.File, update *pdf.Update) error {
	if major, minor := file.Version(); major != 1 || minor != 7 {
		return nil
	}
	ref, catalog, err := file.Catalog()
	if err != nil {
		return err
	}
	extensions, err := file.Dict(catalog["Extensions"])
	if err != nil {
		return pdf.IgnoreMalformed(err)
	}
	return pdf.IgnoreMalformed(update.Attempt(func(draft *pdf.Update) error {
		if extensions == nil {
			return setEntry(draft, ref, "Extensions", []byte("<< /ESIC "+etsiExtension+" >>"))
		}
		return patchCatalog(file, draft, "Extensions", func(source []byte) ([]byte, error) {
			return patchExtensions(file, draft, source, extensions)
		})
	}))
}

// patchExtensions adds ETSI's extension, or raises its level. An array of extensions, which
// PDF 2.0 introduced, stays as it is, as does a reference, which 7.12.1 excludes: who wrote
// that goes by other rules.
func patchExtensions(file *pdf.File, update *pdf.Update, source []byte, extensions pdf.Dict) ([]byte, error) {
	switch declared := extensions["ESIC"].(type) {
	case nil:
		return pdf.SetKey(source, "ESIC", []byte(etsiExtension))
	case pdf.Dict:
		level, err := file.Int(declared["ExtensionLevel"])
		if err != nil || level >= etsiLevel {
			return nil, err
		}
		return patchValue(file, update, source, extensions, "ESIC", func(source []byte) ([]byte, error) {
			return pdf.SetKey(source, "ExtensionLevel", fmt.Append(nil, etsiLevel))
		})
	}
	return nil, nil
}
