package doc_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestIdentifiers(t *testing.T) {
	d := parse(t, []byte("<a Id='1'><b ID='2'/><c id='3' ID='3'/><d xml:id='4'/><e iD='5'/><f xmlns:p='u:v' p:Id='6'/>"+
		"<g id='&#x37;'/><h id='8' ID='9'/></a>"))
	for id, want := range map[string]string{"1": "a", "2": "b", "3": "c", "4": "d", "5": "", "6": "", "7": "g", "8": "h", "9": "h", "": ""} {
		n, ok := d.ByID(id)
		if ok != (want != "") || n.Name().Local != want {
			t.Errorf("%q is that of %q", id, n.Name().Local)
		}
	}
	if id, found := d.DuplicateID(); found {
		t.Errorf("%q is one of several elements", id)
	}
}

// TestDuplicateIdentifier: an identifier of two elements is that of none, whatever it is called in
// them.
func TestDuplicateIdentifier(t *testing.T) {
	for _, source := range []string{
		"<a><b Id='x'/><c Id='x'/></a>",
		"<a Id='x'><b id='x'/></a>",
		"<a><b ID='x'/><c xml:id='x'/><d Id='y'/></a>",
		"<a><b Id='x'/><c Id='&#x78;'/></a>",
		"<a><b Id='x' ID='x'/><c Id='x'/></a>",
	} {
		d := parse(t, []byte(source))
		if id, found := d.DuplicateID(); !found || id != "x" {
			t.Errorf("%s: %q, %v", source, id, found)
		}
		if _, ok := d.ByID("x"); ok {
			t.Errorf("%s: one of them is taken", source)
		}
	}
}

// TestManyIdentifiers finds each of many, and none that is not there or there twice.
func TestManyIdentifiers(t *testing.T) {
	var b strings.Builder
	b.WriteString("<a>")
	for i := range 5000 {
		fmt.Fprintf(&b, "<b n='' Id='x%d'><c/></b>text", i)
	}
	b.WriteString("<d Id='x77'/><d Id='x77'/></a>")
	d := parse(t, []byte(b.String()))
	for i := range 5000 {
		id := fmt.Sprint("x", i)
		n, ok := d.ByID(id)
		if got, _ := n.Attr("", "Id"); ok != (i != 77) || ok && got != id {
			t.Fatalf("%s: %q, %v", id, got, ok)
		}
	}
	if _, ok := d.ByID("x5000"); ok {
		t.Error("one that no element has")
	}
	if id, _ := d.DuplicateID(); id != "x77" {
		t.Errorf("%q is there twice", id)
	}
}
