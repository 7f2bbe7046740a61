package pades

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/innsigli/innsigli/internal/pdf"
)

// lock is what a signature keeps later revisions from doing: the parameters of a DocMDP
// or FieldMDP transform (ISO 32000-2 tables 257 and 259), or the lock dictionary of the
// field that is signed (table 236). They have the same entries.
type lock struct {
	permission Permission // P; 0: it says nothing of the document
	action     pdf.Name   // All, Include or Exclude; "": it says nothing of fields
	fields     []string   // fully qualified names
	named      map[string]bool
}

// readLock reads a lock. A name that cannot be read says nothing; a permission or an
// action that cannot be read may forbid anything. Readers take 1.0 for 1.
func readLock(file *pdf.File, d pdf.Dict) (lock, error) {
	l := lock{named: make(map[string]bool)}
	p, err := file.Number(d["P"])
	if err != nil {
		return l, err
	}
	l.permission = Permission(max(-1, min(p, 127)))
	if l.action, err = file.Name(d["Action"]); err != nil {
		return l, err
	}
	names, err := file.Array(d["Fields"])
	if err != nil {
		return l, err
	}
	for _, o := range names {
		if name, err := file.Bytes(o); err == nil && name != nil {
			text := pdf.Text(pdf.String(name))
			l.fields, l.named[text] = append(l.fields, text), true
		}
	}
	return l, nil
}

// locks says whether a field must not be changed any more. An action that ISO 32000-2
// does not know may lock any, and so may each a field whose name stands as its digest.
func (l lock) locks(field string) bool {
	switch {
	case l.action == "":
		return false
	case strings.HasPrefix(field, nameDigest):
		return true
	}
	switch l.action {
	case "Include":
		return l.lists(field)
	case "Exclude":
		return !l.lists(field)
	}
	return true
}

// locksNew says whether fields are locked that the lock does not name.
func (l lock) locksNew() bool { return l.action != "" && l.action != "Include" }

// lists says whether a field is named, or one that it is below.
func (l lock) lists(field string) bool {
	for !l.named[field] {
		parent := strings.LastIndexByte(field, '.')
		if parent < 0 {
			return false
		}
		field = field[:parent]
	}
	return true
}

// reference is the signature reference dictionary that makes the lock of a field part of
// its signature (ISO 32000-2 12.8.2.4). Data was required up to PDF 1.7. P is where
// Acrobat puts and looks for the permission of an approval signature.
func (l lock) reference(catalog pdf.Ref) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "<< /Type /SigRef /TransformMethod /FieldMDP /Data %s /TransformParams << /Type /TransformParams /V /1.2 /Action %s", catalog, pdf.NameToken(l.action))
	if l.action != "All" {
		b.WriteString(" /Fields [")
		for _, name := range l.fields {
			b.Write(pdf.TextString(name))
		}
		b.WriteString("]")
	}
	if l.permission != 0 {
		fmt.Fprintf(&b, " /P %d", l.permission)
	}
	b.WriteString(" >> >>")
	return b.Bytes()
}

// check refuses a lock that cannot be carried over into a signature.
func (l lock) check(field string) error {
	if !slices.Contains([]pdf.Name{"", "All", "Include", "Exclude"}, l.action) {
		return fmt.Errorf("%w: the lock of field %q asks for the unknown action %.32q", ErrForbidden, field, string(l.action))
	}
	if l.permission < 0 || l.permission > Annotations {
		return fmt.Errorf("%w: the lock of field %q asks for the unknown permission %d", ErrForbidden, field, l.permission)
	}
	if l.permission != 0 && l.action == "" { // which is required, and what the signature would refer to
		return fmt.Errorf("%w: the lock of field %q has a permission and no action", ErrForbidden, field)
	}
	return nil
}
