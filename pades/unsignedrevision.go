package pades

import (
	"bytes"
	"crypto"
	"encoding/hex"
	"fmt"
	"hash"

	"github.com/innsigli/innsigli/internal/hashstate"
	"github.com/innsigli/innsigli/internal/pdf"
)

// unsignedRevision is the revision of a signature or document timestamp without the hexadecimal string of /Contents,
// which goes between before and after.
type unsignedRevision struct {
	before, after []byte
	reserved      int // bytes reserved in /Contents
	usageRights   bool
}

// filled returns the revision with a signature in /Contents, padded with zeros.
func (r unsignedRevision) filled(der []byte) []byte {
	contents := make([]byte, r.reserved)
	copy(contents, der)
	out := make([]byte, 0, len(r.before)+2*r.reserved+2+len(r.after))
	out = append(out, r.before...)
	out = append(out, '<')
	out = hex.AppendEncode(out, contents)
	out = append(out, '>')
	return append(out, r.after...)
}

// newRevision returns the revision that appends out at base. sum is the state of the hash h over
// the document before it; the revision gets this state and the one after out.
func newRevision(base int64, out []byte, h crypto.Hash, sum hash.Hash) (Revision, error) {
	before, err := hashstate.Save(sum)
	if err != nil {
		return Revision{}, err
	}
	sum.Write(out)
	after, err := hashstate.Save(sum)
	if err != nil {
		return Revision{}, err
	}
	return Revision{
		Base: base, Bytes: out,
		Hashed: []Midstate{{h, base + int64(len(out)), after}}, before: []Midstate{{h, base, before}},
	}, nil
}

// unsignedRevision returns a revision without a signature. If a hash state over the whole document
// is known, the revision gets the state after it too.
func (d Document) unsignedRevision(appended []byte) (Revision, error) {
	for _, m := range d.Hashed {
		if m.Offset != d.Size {
			continue
		}
		if sum, err := hashstate.Restore(m.Hash, m.State); err == nil {
			return newRevision(d.Size, appended, m.Hash, sum)
		}
	}
	return Revision{Base: d.Size, Bytes: appended}, nil
}

// signatureDictionary is the source of a signature dictionary, with the places of the two values
// that are filled in later.
type signatureDictionary struct {
	source    []byte
	byteRange int // offset of the placeholder of ByteRange
	contents  int // offset of the "<" of Contents
	reserved  int // bytes reserved in Contents
}

// byteRangeWidth is the length of an array of four integers with 10 digits, the most that a
// cross-reference table can have, with brackets and spaces.
const byteRangeWidth = 4*10 + 3 + 2

// beginSignature writes a signature dictionary up to its Contents. It begins with the given
// entries.
func beginSignature(b *bytes.Buffer, entries string, reserved int) signatureDictionary {
	d := signatureDictionary{reserved: reserved}
	b.WriteString("<< " + entries + " /ByteRange ")
	d.byteRange = b.Len()
	fmt.Fprintf(b, "%-*s", byteRangeWidth, "[0 0 0 0]") // a valid array that is no longer than the final one
	b.WriteString(" /Contents ")
	d.contents = b.Len()
	b.WriteByte('<')
	b.Write(bytes.Repeat([]byte{'0'}, 2*reserved))
	b.WriteByte('>')
	return d
}

// newSignatureDictionary returns the signature dictionary of ISO 32000-2 table 255 as EN 319 142-1
// 5.3 and 6.3 restrict it. references is the source of /Reference; nil for none.
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

// revision returns the update as a revision without Contents, and fills in ByteRange. The dictionary is
// the object ref of the update; the document before the update has size bytes.
func (d signatureDictionary) revision(update *pdf.Update, ref pdf.Ref, size int64) (unsignedRevision, error) {
	appended, offsets, err := update.Bytes()
	if err != nil {
		return unsignedRevision{}, err
	}
	gap := offsets[ref] + int64(d.contents)
	gapEnd := gap + int64(2*d.reserved+2) // hexadecimal digits and delimiters
	if err := fillByteRange(appended[offsets[ref]+int64(d.byteRange):], size+gap, size+gapEnd, size+int64(len(appended))); err != nil {
		return unsignedRevision{}, err
	}
	return unsignedRevision{before: appended[:gap:gap], after: appended[gapEnd:], reserved: d.reserved}, nil
}

// fillByteRange writes the array of ISO 32000-2 12.8.1 over its placeholder. It covers the whole
// file except the bytes from gap to gapEnd.
func fillByteRange(placeholder []byte, gap, gapEnd, size int64) error {
	array := fmt.Appendf(nil, "[0 %d %d %d]", gap, gapEnd, size-gapEnd)
	if len(array) > byteRangeWidth {
		return fmt.Errorf("%w: file of %d bytes", pdf.ErrLimit, size)
	}
	copy(placeholder, array)
	return nil
}
