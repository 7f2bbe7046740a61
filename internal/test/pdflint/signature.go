package pdflint

import (
	"bytes"
	"encoding/asn1"
	"encoding/hex"
	"regexp"

	"github.com/innsigli/innsigli/internal/pdf"
)

var byteRange = regexp.MustCompile(`/ByteRange ?\[0 (\d+) (\d+) (\d+)\]`)

// checkSignature checks the one signature dictionary of the increment, by its bytes.
func (l *linter) checkSignature() {
	o, array, ok := l.signature()
	if !ok {
		l.fault(ByteRange, "not one signature dictionary in plain text")
		return
	}
	gap, gapEnd, rest := number(array[1]), number(array[2]), number(array[3])
	if gapEnd+rest != len(l.whole) {
		l.fault(ByteRange, "it ends at %d in a revision of %d bytes", gapEnd+rest, len(l.whole))
	}
	if gap < o.at || gapEnd > o.at+len(o.body) || gap >= gapEnd {
		l.fault(ByteRange, "the gap from %d to %d is not in the dictionary, from %d to %d", gap, gapEnd, o.at, o.at+len(o.body))
		return
	}
	if !bytes.HasSuffix(bytes.TrimRight(l.whole[o.at:gap], " \n"), []byte("/Contents")) {
		l.fault(ByteRange, "the gap is not the value of Contents")
	}
	l.checkGap(l.whole[gap:gapEnd])
}

// signature returns the object that is a signature dictionary, with its ByteRange.
func (l *linter) signature() (found object, array [][]byte, ok bool) {
	for _, o := range l.objects {
		text, _, _ := o.split()
		if m := byteRange.FindAllSubmatch(text, -1); len(m) > 0 {
			if ok || len(m) > 1 {
				return object{}, nil, false
			}
			found, array, ok = o, m[0], true
		}
	}
	return found, array, ok
}

// checkGap: the gap is the hexadecimal string with its delimiters. In it is one DER value
// that has come out whole, and then zeros.
func (l *linter) checkGap(gap []byte) {
	last := len(gap) - 1
	if gap[0] != '<' || gap[last] != '>' {
		l.fault(ByteRange, "the gap is not the string and its delimiters: %.10q to %.10q", gap, gap[max(0, last-9):])
		return
	}
	contents, err := hex.DecodeString(string(gap[1:last]))
	if err != nil {
		l.fault(Contents, "%v", err)
		return
	}
	var der asn1.RawValue
	padding, err := asn1.Unmarshal(contents, &der)
	if err != nil || der.Tag != asn1.TagSequence {
		l.fault(Contents, "no CMS of whole length: %v", err)
		return
	}
	if len(bytes.Trim(padding, "\x00")) > 0 {
		l.fault(Contents, "%d bytes behind the CMS that are not all zero", len(padding))
	}
}

// checkMeaning checks what the signature says by its entries.
func (l *linter) checkMeaning() {
	o, _, ok := l.signature()
	if signature, err := l.new.Dict(o.ref); ok && err == nil {
		l.checkSubFilter(signature)
		l.checkCertification(o.ref, signature)
	}
}

// newObject says whether the increment's object is one that the file did not have.
func (l *linter) newObject(ref pdf.Ref) bool {
	old, err := l.old.Object(ref)
	return old == nil && err == nil
}
