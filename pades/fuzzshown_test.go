package pades_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/internal/pdf"
)

// sameShown makes sure that the pages of a document show what those of its beginning do, but for annotations.
func sameShown(t *testing.T, b []byte, signed int64) {
	t.Helper()
	now, err := pdf.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	before, err := now.Earlier(signed)
	if err != nil {
		return // nobody could read it when it was signed
	}
	if was, is := shownOf(before), shownOf(now); !slices.Equal(was, is) {
		t.Errorf("another page is shown than was signed:\n%q", b)
	}
}

// shownOf is what each page shows, as a digest.
func shownOf(file *pdf.File) (all []string) {
	err := file.EachPage(func(page *pdf.Page, err error) error {
		if err != nil {
			all = append(all, "damaged")
			return nil
		}
		d := showing{file, sha256.New(), make(map[pdf.Ref]bool)}
		fmt.Fprintf(d.sum, "%v %v %v %v", page.MediaBox, page.CropBox, page.Rotate, page.UserUnit)
		d.note(page.Dict["Contents"])
		d.note(page.Resources)
		all = append(all, fmt.Sprintf("%x", d.sum.Sum(nil)))
		return nil
	})
	if err != nil {
		all = append(all, "damaged")
	}
	return all
}

// showing adds up what objects lead to.
type showing struct {
	file *pdf.File
	sum  hash.Hash
	seen map[pdf.Ref]bool
}

func (d showing) note(o pdf.Object) {
	switch o := o.(type) {
	case pdf.Ref:
		fmt.Fprintf(d.sum, "%v ", o)
		if next, err := d.file.Object(o); err != nil {
			fmt.Fprint(d.sum, "damaged ")
		} else if !d.seen[o] {
			d.seen[o] = true
			d.note(next)
		}
	case pdf.Array:
		for _, item := range o {
			d.note(item)
		}
	case pdf.Dict:
		for _, key := range slices.Sorted(maps.Keys(o)) {
			fmt.Fprintf(d.sum, "/%s ", key)
			d.note(o[key])
		}
	case *pdf.Stream:
		d.note(o.Dict)
		content, err := d.file.Stream(o, mostOfABomb)
		fmt.Fprintf(d.sum, "%d %x %t ", len(content), sha256.Sum256(content), err == nil)
	case pdf.Integer, pdf.Real: // of which some writers give every one a fraction
		fmt.Fprintf(d.sum, "%v ", o)
	default:
		fmt.Fprintf(d.sum, "%T %v ", o, o)
	}
}

// tampered is a document in which an object is another, or a new one.
func tampered(f *testing.F, b []byte, change func(update *pdf.Update)) []byte {
	f.Helper()
	file, err := pdf.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		f.Fatal(err)
	}
	update := file.NewUpdate()
	change(update)
	appended, _, err := update.Bytes()
	if err != nil {
		f.Fatal(err)
	}
	return append(bytes.Clone(b), appended...)
}

// tamperedSeeds are a signed document after attacks.
func tamperedSeeds(f *testing.F, b []byte) [][]byte {
	set := func(num uint32, body func(source string, update *pdf.Update) string) []byte {
		return tampered(f, b, func(update *pdf.Update) {
			source, err := update.Source(pdf.Ref{Num: num})
			if err != nil {
				f.Fatal(err)
			}
			update.Set(pdf.Ref{Num: num}, []byte(body(string(source), update)))
		})
	}
	other := []byte(stream("", drawing))
	return [][]byte{
		tampered(f, b, func(update *pdf.Update) { update.Set(pdf.Ref{Num: content}, other) }),
		set(page, func(source string, update *pdf.Update) string { // two values for a key
			return strings.Replace(source, "<<", "<< /Contents "+update.Add(other).String(), 1)
		}),
		set(page, func(source string, update *pdf.Update) string { // an annotation that may be a field
			return strings.Replace(source, "/Annots [", "/Annots ["+update.Add([]byte(stampField)).String()+" ", 1)
		}),
		set(page, func(source string, update *pdf.Update) string { // a missing object of another generation
			return strings.Replace(source, "/Contents 3 0 R", "/Contents [3 1 R 3 0 R]", 1)
		}),
	}
}
