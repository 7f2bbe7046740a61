package pades

import (
	"bytes"
	"crypto"
	"encoding/hex"
	"fmt"
	"hash"

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

// unsignedRevision is the revision with bytes that nobody signs. It goes on with the hash that the
// document is known by, if there is one.
func (d Document) unsignedRevision(appended []byte) (Revision, error) {
	for _, m := range d.Hashed {
		if m.Offset != d.Size {
			continue
		}
		if sum, err := restore(m.Hash, m.State); err == nil {
			return newRevision(d.Size, appended, m.Hash, sum)
		}
	}
	return Revision{Base: d.Size, Bytes: appended}, nil
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

// newSignatureDictionary writes the dictionary of ISO 32000-2 table 255 as
// EN 319 142-1 5.3 and 6.3 restrict it. references is the source of /Reference, if any.
func newSignatureDictionary(subFilter pdf.Name, o Options, references []byte, reserved int) signatureDictionary {
	var b bytes.Buffer
	d := beginSignature(&b, "/Type /Sig /Filter /Adobe.PPKLite /SubFilter /"+string(subFilter), reserved)
	fmt.Fprintf(&b, " /M %s", pdf.DateString(o.Time))
	for _, entry := range []struct{ key, value string }{
		{"Name", o.Name}, {"Reason", o.Reason}, {"Location", o.Location}, {"ContactInfo", o.ContactInfo},
	} {
		if entry.value != "" {
			fmt.Fprintf(&b, " /%s %s", entry.key, pdf.TextString(entry.value))
		}
	}
	if references != nil {
		fmt.Fprintf(&b, " /Reference %s", references)
	}
	b.WriteString(" >>")
	d.source = b.Bytes()
	return d
}

// cutOut returns the update that the dictionary is the object ref of, without Contents,
// for a document of size bytes.
func (d signatureDictionary) layout(update *pdf.Update, ref pdf.Ref, size int64) (layout, error) {
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
