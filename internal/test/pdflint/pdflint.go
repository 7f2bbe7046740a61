// Package pdflint says what is wrong with an incremental update that this module wrote to
// sign a PDF: one rule for each way in which such updates are known to harm files or to be
// rejected by viewers. Only tests import it.
//
//	pdflint.Clean(t, original, signed, signedTwice)
//
// It judges what internal/pdf writes, so what it can it reads from the bytes by itself:
// offsets, entries, the object heads they lead to, the signature's gap. It uses package
// pdf to read values. It is strict: what no rule allows is a fault, and a new thing that
// the writer learns to do has to be allowed here. Clauses are those of ISO 32000-2:2020.
package pdflint

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/innsigli/innsigli/internal/pdf"
)

// Rule is what an increment must obey.
type Rule string

// The rules.
const (
	Prefix        Rule = "prefix"        // what was there stays, byte for byte (7.5.6)
	Readable      Rule = "readable"      // the file can be opened
	LineEnd       Rule = "line end"      // the first object begins on a line of its own
	Startxref     Rule = "startxref"     // it leads to our section, and the file ends behind it (7.5.5)
	SectionKind   Rule = "section kind"  // table after table, stream after stream, table after hybrid
	EntrySize     Rule = "entry size"    // an entry of a table is 20 bytes (7.5.4)
	Offset        Rule = "offset"        // each entry leads to its object's head
	Unlisted      Rule = "unlisted"      // no byte of the increment belongs to no listed object
	Generation    Rule = "generation"    // an object that is rewritten keeps its own (7.3.10)
	ObjectFlow    Rule = "object flow"   // no object stream is written (7.5.7)
	Prev          Rule = "Prev"          // it is the startxref of the file as it was (7.5.6)
	Everything    Rule = "everything"    // a section without Prev lists every object
	Size          Rule = "Size"          // it is the highest number and 1 (7.5.5)
	Leftovers     Rule = "leftovers"     // nothing of an old section's own is in a trailer
	Carried       Rule = "carried"       // all else of the old trailer is, as it was: Root, Info, Encrypt
	ID            Rule = "ID"            // the first part stays, the second is new (14.4)
	ByteRange     Rule = "ByteRange"     // all but the hexadecimal string, to the revision's end (12.8.1)
	Contents      Rule = "Contents"      // the whole CMS, padded with zeros
	Rewritten     Rule = "rewritten"     // only what has to be: catalog, page, form, arrays, field, structure
	Kept          Rule = "kept"          // every entry stays as it was but those that have to change
	SigFlags      Rule = "SigFlags"      // SignaturesExist and AppendOnly (table 225)
	Value         Rule = "value"         // on one signature field, never on a widget below it (12.7.5.5)
	FieldName     Rule = "field name"    // unique, without a full stop (12.7.4.2)
	AltName       Rule = "alt name"      // a new field says what it is (ISO 14289-1 7.18.4)
	Annots        Rule = "Annots"        // a new widget is one of its page's, and names the page (12.5.2)
	Rect          Rule = "Rect"          // and is where it was to be, or nowhere (12.5.2)
	WidgetFlags   Rule = "widget flags"  // printed and not hidden (12.5.3, ISO 19005-2 6.3.2)
	Appearance    Rule = "appearance"    // AP has N alone (ISO 19005-2 6.3.3)
	Tagged        Rule = "tagged"        // the first new widget is part of the structure (14.7, ISO 14289)
	SubFilter     Rule = "SubFilter"     // of PAdES (EN 319 142-1 5.4.3, 6.3)
	Store         Rule = "store"         // gets new streams with one DER value each, once (12.8.4.3)
	Certification Rule = "certification" // comes first, and the catalog names it (12.8.6)
	Locks         Rule = "locks"         // no earlier signature forbids this one (12.8.2)
	Extensions    Rule = "Extensions"    // direct, and only in a file of version 1.7 (7.12)
	Plaintext     Rule = "plaintext"     // strings of an encrypted file are encrypted (7.6.2)
	Payload       Rule = "payload"       // and so are payloads of streams (7.6.3)
	Comment       Rule = "comment"       // no comment that looks like an object, none with a NUL
	PayloadSize   Rule = "payload size"  // Length is the length of a stream's payload (7.3.8.2)
)

// Fault is a rule that is broken, and how.
type Fault struct {
	Rule Rule
	Text string
}

func (f Fault) String() string { return string(f.Rule) + ": " + f.Text }

// Clean fails the test with every fault of every increment. Each version is the one before
// it with one increment more, in which nothing new is shown.
func Clean(t testing.TB, versions ...[]byte) {
	t.Helper()
	for i := 1; i < len(versions); i++ {
		for _, fault := range Check(versions[i-1], versions[i]) {
			t.Errorf("increment %d: %v", i, fault)
		}
	}
}

// Check returns the faults of the increment that whole is longer by than base: one
// revision with one signature, with one document timestamp, or with validation data. base is
// a file that internal/pdf opens. A new field is invisible, on the first page.
func Check(base, whole []byte) []Fault { return CheckAt(Place{Page: 1}, base, whole) }

// CheckAt is Check for a new field that is at a place.
func CheckAt(place Place, base, whole []byte) []Fault {
	l := &linter{base: base, whole: whole, asked: place}
	if !l.checkPrefix() || !l.readIncrement() || !l.readBase() {
		return l.faults
	}
	l.checkSection()
	l.checkBodies()
	l.checkTrailer()
	readable := l.readWhole()
	if readable && l.embeds() {
		l.checkStore()
	} else {
		l.checkSignature()
	}
	if readable {
		l.checkEverything()
		if !l.embeds() {
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

// linter is one increment under examination.
type linter struct {
	base, whole []byte
	asked       Place     // of a new field
	old, new    *pdf.File // both as internal/pdf reads them, for values
	was, is     []formField
	shift       int      // of the header: what offsets count from
	section     section  // that the increment ends with
	objects     []object // of the increment, by place
	faults      []Fault
}

func (l *linter) fault(rule Rule, format string, args ...any) {
	l.faults = append(l.faults, Fault{rule, fmt.Sprintf(format, args...)})
}

// checkPrefix: without it nothing else means anything.
func (l *linter) checkPrefix() bool {
	if len(l.whole) <= len(l.base) || !bytes.HasPrefix(l.whole, l.base) {
		l.fault(Prefix, "the file does not begin with what it was")
		return false
	}
	return true
}

// readBase opens the file as it was, in the way that the increment goes on from. A file
// that can be read is not rebuilt.
func (l *linter) readBase() bool {
	old, err := open(l.base)
	if l.rebuilt() {
		if err == nil && readable(old) {
			l.fault(Prev, "missing, although the file can be read without that")
		}
		old, err = pdf.Rebuild(bytes.NewReader(l.base), int64(len(l.base)))
	}
	if err != nil {
		l.fault(Readable, "the file as it was: %v", err)
	}
	l.old = old
	return err == nil
}

// readable says whether what a signature needs can be read.
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

// readWhole opens the file for what depends on values.
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
