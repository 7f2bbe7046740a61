// Package pdflint checks the incremental updates that this module writes to sign a PDF. It has one rule for each way in
// which such an update can harm a file or make viewers reject it. Only tests import it.
//
//	pdflint.Clean(t, original, signed, signedTwice)
//
// The updates are written by internal/pdf, so pdflint reads from the bytes what it can: offsets, entries, object heads
// and the ByteRange. It uses internal/pdf only to read values. What no rule permits is a fault: when the writer changes
// more, the rules have to be extended. Clauses are those of ISO 32000-2:2020.
package pdflint

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/innsigli/innsigli/internal/pdf"
)

// A Rule is a rule for increments.
type Rule string

// The rules.
const (
	Prefix        Rule = "prefix"        // the original file is unchanged (7.5.6)
	Readable      Rule = "readable"      // the file can be opened
	LineEnd       Rule = "line end"      // the first object begins on a new line
	Startxref     Rule = "startxref"     // it names the section of the increment, and the file ends after it (7.5.5)
	SectionKind   Rule = "section kind"  // a table follows a table or a hybrid file, and a stream follows a stream
	EntrySize     Rule = "entry size"    // an entry of a table has 20 bytes (7.5.4)
	Offset        Rule = "offset"        // each entry has the offset of its object head
	Unlisted      Rule = "unlisted"      // all bytes of the increment belong to listed objects
	Generation    Rule = "generation"    // a rewritten object keeps its generation number (7.3.10)
	ObjectFlow    Rule = "object flow"   // no object is compressed (7.5.7)
	Prev          Rule = "Prev"          // it is the startxref of the original file (7.5.6)
	Everything    Rule = "everything"    // a section without Prev lists every object
	Size          Rule = "Size"          // it is the highest object number plus 1 (7.5.5)
	Leftovers     Rule = "leftovers"     // the trailer has no entries that describe an old section
	Carried       Rule = "carried"       // the other entries of the trailer are unchanged: Root, Info, Encrypt
	ID            Rule = "ID"            // the first part is unchanged, and the second is new (14.4)
	ByteRange     Rule = "ByteRange"     // all bytes of the revision except the hexadecimal string (12.8.1)
	Contents      Rule = "Contents"      // one whole CMS, padded with zeros
	Rewritten     Rule = "rewritten"     // only the catalog, the page, the form, arrays, the field and the structure
	Kept          Rule = "kept"          // all other entries of a rewritten object are unchanged
	SigFlags      Rule = "SigFlags"      // SignaturesExist and AppendOnly (Table 225)
	Value         Rule = "value"         // the signature is the value of one field, and not of its widget (12.7.5.5)
	FieldName     Rule = "field name"    // unique, without a full stop (12.7.4.2)
	AltName       Rule = "alt name"      // a new field has an alternate name (ISO 14289-1 7.18.4)
	Annots        Rule = "Annots"        // a new widget is an annotation of its page, and names the page (12.5.2)
	Rect          Rule = "Rect"          // a new widget has the requested place (12.5.2)
	WidgetFlags   Rule = "widget flags"  // printed and not hidden (12.5.3, ISO 19005-2 6.3.2)
	Appearance    Rule = "appearance"    // AP has only N (ISO 19005-2 6.3.3)
	Tagged        Rule = "tagged"        // the first new widget is part of the structure (14.7, ISO 14289)
	SubFilter     Rule = "SubFilter"     // that of PAdES (EN 319 142-1 5.4.3, 6.3)
	Store         Rule = "store"         // new items are streams with one DER value, which is new (12.8.4.3)
	Certification Rule = "certification" // the first signature, and the catalog names it (12.8.6)
	Locks         Rule = "locks"         // no earlier signature forbids this one (12.8.2)
	Extensions    Rule = "Extensions"    // direct, and only in a file of version 1.7 (7.12)
	Plaintext     Rule = "plaintext"     // strings in an encrypted file are encrypted (7.6.2)
	Payload       Rule = "payload"       // payloads of streams in an encrypted file are encrypted (7.6.3)
	Comment       Rule = "comment"       // no comment has an object head or a NUL
	PayloadSize   Rule = "payload size"  // Length is the length of a stream's payload (7.3.8.2)
)

// A Fault is a broken rule. Text says how the increment breaks it.
type Fault struct {
	Rule Rule
	Text string
}

func (f Fault) String() string { return string(f.Rule) + ": " + f.Text }

// Clean fails the test with every fault of every increment. Each version is the previous one with
// one more increment. New fields are invisible.
func Clean(t testing.TB, versions ...[]byte) {
	t.Helper()
	for i := 1; i < len(versions); i++ {
		for _, fault := range Check(versions[i-1], versions[i]) {
			t.Errorf("increment %d: %v", i, fault)
		}
	}
}

// Check returns the faults of the increment that whole has after base. The increment has one
// signature, one document timestamp, or validation data. internal/pdf has to be able to open base.
// A new field is invisible and on the first page.
func Check(base, whole []byte) []Fault { return CheckAt(Place{Page: 1}, base, whole) }

// CheckAt does the same as Check for a new field at a place.
func CheckAt(place Place, base, whole []byte) []Fault {
	l := &linter{base: base, whole: whole, wanted: place}
	if !l.checkPrefix() || !l.readIncrement() || !l.readBase() {
		return l.faults
	}
	l.checkSection()
	l.checkBodies()
	l.checkTrailer()
	readable := l.readWhole()
	if readable && l.addsValidationData() {
		l.checkStore()
	} else {
		l.checkSignature()
	}
	if readable {
		l.checkEverything()
		if !l.addsValidationData() {
			l.checkValue()
			l.checkField()
			l.checkMeaning()
		}
		l.checkChanges()
		l.checkCatalog()
		l.checkPlaintext()
		l.checkPayloads()
	}
	return l.faults
}

// A linter checks one increment.
type linter struct {
	base, whole []byte
	wanted      Place     // place of a new field
	old, new    *pdf.File // the original file, and the file with the increment
	was, is     []formField
	shift       int      // absolute offset that offsets are relative to
	section     section  // at the end of the increment
	objects     []object // of the increment, in the order of the file
	faults      []Fault
}

func (l *linter) fault(rule Rule, format string, args ...any) {
	l.faults = append(l.faults, Fault{rule, fmt.Sprintf(format, args...)})
}

// checkPrefix checks that whole begins with base. If it does not, no other rule is checked.
func (l *linter) checkPrefix() bool {
	if len(l.whole) <= len(l.base) || !bytes.HasPrefix(l.whole, l.base) {
		l.fault(Prefix, "the file does not begin with the original file")
		return false
	}
	return true
}

// readBase opens the original file in the same way as the writer of the increment. A file that can
// be read must not be rebuilt.
func (l *linter) readBase() bool {
	old, err := open(l.base)
	if l.rebuilt() {
		if err == nil && readable(old) {
			l.fault(Prev, "missing, although the original file can be read")
		}
		old, err = pdf.Rebuild(bytes.NewReader(l.base), int64(len(l.base)))
	}
	if err != nil {
		l.fault(Readable, "the original file: %v", err)
	}
	l.old = old
	return err == nil
}

// readable reports whether the parts of a file that signing needs can be read.
func readable(file *pdf.File) bool {
	_, catalog, err := file.Catalog()
	if err == nil {
		_, err = file.Dict(catalog["AcroForm"])
	}
	if err == nil {
		_, err = file.PageCount()
	}
	if err == nil {
		_, err = formFields(file)
	}
	return err == nil
}

// readWhole opens the file with the increment, for the rules about values.
func (l *linter) readWhole() bool {
	var err error
	if l.new, err = open(l.whole); err != nil {
		l.fault(Readable, "%v", err)
		return false
	}
	l.was, _ = formFields(l.old)
	l.is, _ = formFields(l.new)
	return true
}

func open(b []byte) (*pdf.File, error) { return pdf.Open(bytes.NewReader(b), int64(len(b))) }
