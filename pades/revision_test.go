package pades_test

import (
	"bytes"
	"fmt"
	"regexp"
	"testing"

	"github.com/innsigli/innsigli/internal/pdf"
)

// revision is what somebody appends to a document.
type revision struct {
	*testing.T
	base     []byte
	file     *pdf.File
	update   *pdf.Update
	rewrites []rewrite
}

// rewrite changes what was written, where no update would: at the cross-reference.
type rewrite struct {
	pattern *regexp.Regexp
	with    string
}

func newRevision(t *testing.T, b []byte) *revision {
	t.Helper()
	file, err := pdf.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return &revision{T: t, base: b, file: file, update: file.NewUpdate()}
}

// Objects of documents of pdftest, and the first of the further ones.
const catalog, content, page, first = 1, 3, 10, 100

// form, stamp and store are the numbers of the objects that have these in a document of
// level LTA.
func (r *revision) form() uint32  { return r.reference(r.catalog()["AcroForm"]).Num }
func (r *revision) store() uint32 { return r.reference(r.catalog()["DSS"]).Num }

func (r *revision) stamp() uint32 {
	fields := r.fields()
	return r.reference(fields[len(fields)-1]).Num
}

func (r *revision) fields() pdf.Array {
	r.Helper()
	form, err := r.file.Dict(r.catalog()["AcroForm"])
	if err != nil {
		r.Fatal(err)
	}
	fields, err := r.file.Array(form["Fields"])
	if err != nil || len(fields) < 2 {
		r.Fatalf("fields %v, %v", fields, err)
	}
	return fields
}

func (r *revision) catalog() pdf.Dict {
	r.Helper()
	_, dict, err := r.file.Catalog()
	if err != nil {
		r.Fatal(err)
	}
	return dict
}

func (r *revision) reference(o pdf.Object) pdf.Ref {
	r.Helper()
	ref, ok := o.(pdf.Ref)
	if !ok {
		r.Fatalf("%v is no reference", o)
	}
	return ref
}

// add adds an object, and addStream one with a payload.
func (r *revision) add(body string) pdf.Ref { return r.update.Add([]byte(body)) }

func (r *revision) addStream(entries, payload string) pdf.Ref { return r.add(stream(entries, payload)) }

func stream(entries, payload string) string {
	return fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", entries, len(payload), payload)
}

// replace gives an object a new body, and set a dictionary a value.
func (r *revision) replace(num uint32, body string) {
	r.update.Set(pdf.Ref{Num: num}, []byte(body))
}

func (r *revision) set(num uint32, key pdf.Name, value string) {
	r.Helper()
	source, err := r.update.Source(pdf.Ref{Num: num})
	if err != nil {
		r.Fatal(err)
	}
	if source, err = pdf.SetKey(source, key, []byte(value)); err != nil {
		r.Fatal(err)
	}
	r.update.Set(pdf.Ref{Num: num}, source)
}

// appendTo appends items to the array under a key.
func (r *revision) appendTo(num uint32, key pdf.Name, items ...pdf.Ref) {
	r.Helper()
	source, err := r.update.Source(pdf.Ref{Num: num})
	if err != nil {
		r.Fatal(err)
	}
	value, _, err := pdf.Key(source, key)
	if err != nil {
		r.Fatal(err)
	}
	for _, item := range items {
		if value, err = pdf.AppendItem(value, []byte(item.String())); err != nil {
			r.Fatal(err)
		}
	}
	r.set(num, key, string(value))
}

// rewrite replaces what is written at the end.
func (r *revision) rewrite(pattern, with string) {
	r.rewrites = append(r.rewrites, rewrite{regexp.MustCompile(pattern), with})
}

// written is the document with the revision.
func (r *revision) written() []byte {
	r.Helper()
	appended, _, err := r.update.Bytes()
	if err != nil {
		r.Fatal(err)
	}
	for _, w := range r.rewrites {
		if !w.pattern.Match(appended) {
			r.Fatalf("%v is nowhere", w.pattern)
		}
		appended = w.pattern.ReplaceAll(appended, []byte(w.with))
	}
	return append(bytes.Clone(r.base), appended...)
}
