package pdflint

import (
	"bytes"
	"encoding/asn1"
	"encoding/hex"
	"reflect"
	"regexp"
	"strings"

	"github.com/innsigli/innsigli/internal/pdf"
)

var byteRange = regexp.MustCompile(`/ByteRange ?\[0 (\d+) (\d+) (\d+)\]`)

// checkSignature checks the bytes of the one signature dictionary of the increment.
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

// checkGap checks that the gap of ByteRange is a hexadecimal string with its delimiters, and that
// the string has one whole DER value and zeros after it.
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
		l.fault(Contents, "%d bytes after the CMS that are not all zero", len(padding))
	}
}

// checkMeaning checks the entries of the signature dictionary.
func (l *linter) checkMeaning() {
	o, _, ok := l.signature()
	if signature, err := l.new.Dict(o.ref); ok && err == nil {
		l.checkSubFilter(signature)
		l.checkCertification(o.ref, signature)
	}
}

// newObject reports whether the original file does not have an object.
func (l *linter) newObject(ref pdf.Ref) bool {
	old, err := l.old.Object(ref)
	return old == nil && err == nil
}

// checkSubFilter checks that the signature is a PAdES signature (EN 319 142-1 5.3, 6.3), or a
// document timestamp, which has no entries about a signer (5.4.3).
func (l *linter) checkSubFilter(signature pdf.Dict) {
	wanted := map[pdf.Name]pdf.Object{"Type": pdf.Name("Sig"), "Filter": pdf.Name("Adobe.PPKLite"), "SubFilter": pdf.Name("ETSI.CAdES.detached")}
	if isTimestamp(signature) {
		wanted["Type"], wanted["SubFilter"] = pdf.Name("DocTimeStamp"), pdf.Name("ETSI.RFC3161")
		for _, key := range []pdf.Name{"Cert", "Reference", "Changes", "M", "Name", "Reason", "Location", "ContactInfo"} {
			wanted[key] = nil
		}
	}
	for key, want := range wanted {
		if signature[key] != want {
			l.fault(SubFilter, "%s is %v", key, signature[key])
		}
	}
}

func isTimestamp(signature pdf.Dict) bool { return signature["Type"] == pdf.Name("DocTimeStamp") }

// checkCertification checks that the catalog names a certification signature and no other
// signature, and that it is the first signature (12.8.2.2, 12.8.6).
func (l *linter) checkCertification(ref pdf.Ref, signature pdf.Dict) {
	was, is := certification(l.old), certification(l.new)
	permission, certifies := l.certifies(signature)
	switch {
	case !certifies && !reflect.DeepEqual(was, is):
		l.fault(Certification, "is %v and was %v, and the signature does not certify", is, was)
	case !certifies:
	case is != ref:
		l.fault(Certification, "the catalog names %v, and %s certifies", is, ref)
	case was != nil || len(l.signatures()) > 0:
		l.fault(Certification, "is not the first signature")
	case permission < 1 || permission > 3:
		l.fault(Certification, "permits %d", permission)
	}
}

// certification returns the value of DocMDP in the Perms of the catalog (Table 263).
func certification(file *pdf.File) pdf.Object {
	_, catalog, err := file.Catalog()
	if err != nil {
		return nil
	}
	permissions, _ := file.Dict(catalog["Perms"])
	return permissions["DocMDP"]
}

// certifies reports whether the signature has a DocMDP transform, and what it permits (Table 256).
func (l *linter) certifies(signature pdf.Dict) (permission int64, ok bool) {
	references, _ := l.new.Array(signature["Reference"])
	for _, r := range references {
		reference, _ := l.new.Dict(r)
		if method, err := l.new.Name(reference["TransformMethod"]); err == nil && method == "DocMDP" {
			parameters, _ := l.new.Dict(reference["TransformParams"])
			permission, _ = l.new.Int(parameters["P"])
			return permission, true
		}
	}
	return 0, false
}

// checkLocks checks that no earlier signature forbids this one, because it permits no changes or
// locks the field (12.8.2.2.2, 12.8.2.4). A lock of all fields, or of all with exceptions, locks a
// new field too.
func (l *linter) checkLocks(field formField) {
	if signature, err := l.new.Dict(field.dict["V"]); err == nil && isTimestamp(signature) {
		return // a timestamp is no change (Table 257)
	}
	for _, lock := range l.locks() {
		action, err := l.old.Name(lock["Action"])
		if err != nil {
			l.fault(Locks, "an earlier lock cannot be read: %v", err)
		}
		if p, err := l.old.Int(lock["P"]); err == nil && p == 1 {
			l.fault(Locks, "an earlier signature permits no changes")
		}
		listed := l.lists(lock, field.name)
		switch {
		case action == "", action == "Include" && !listed:
		case action == "Exclude" && listed && !l.newObject(field.ref):
		default:
			l.fault(Locks, "an earlier signature locks %q: %v", field.name, lock)
		}
	}
}

// locks returns the parameters of the transforms of all earlier signatures and of the
// certification, and the locks of their fields (Tables 236, 257, 259).
func (l *linter) locks() (locks []pdf.Dict) {
	certifying, _ := l.old.Dict(certification(l.old))
	signatures := []pdf.Dict{certifying}
	for _, f := range l.signatures() {
		if filter, _ := l.old.Name(f.signature["SubFilter"]); filter == "ETSI.RFC3161" {
			continue // a timestamp is not a statement of a signer
		}
		signatures = append(signatures, f.signature)
		if lock, err := l.old.Dict(f.dict["Lock"]); err == nil && lock != nil {
			locks = append(locks, lock)
		}
	}
	for _, signature := range signatures {
		references, _ := l.old.Array(signature["Reference"])
		for _, r := range references {
			reference, _ := l.old.Dict(r)
			if parameters, err := l.old.Dict(reference["TransformParams"]); err == nil && parameters != nil {
				locks = append(locks, parameters)
			}
		}
	}
	return locks
}

// lists reports whether a lock names a field or an ancestor of it.
func (l *linter) lists(lock pdf.Dict, field string) bool {
	names, _ := l.old.Array(lock["Fields"])
	for _, o := range names {
		b, err := l.old.Bytes(o)
		if name := pdf.Text(pdf.String(b)); err == nil && b != nil && (field == name || strings.HasPrefix(field, name+".")) {
			return true
		}
	}
	return false
}
