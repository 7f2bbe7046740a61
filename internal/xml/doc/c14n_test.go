package doc_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/internal/test/validators"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

func TestCanonicalize(t *testing.T) {
	var requests []validators.CanonicalRequest
	for _, test := range clauses {
		if test.form.Method == "" {
			test.form.Method = "1.0"
		}
		request := validators.CanonicalRequest{Document: []byte(test.document), Forms: []validators.CanonicalForm{test.form}}
		requests = append(requests, request)
		d, err := xmldoc.Parse(request.Document)
		if err != nil {
			t.Errorf("%s: %v", test.rule, err)
			continue
		}
		got, err := canonical(d, test.form)
		if err != nil {
			t.Errorf("%s: %v", test.rule, err)
		}
		if diff := cmp.Diff(test.want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.rule, diff)
		}
	}
	t.Run("libxml2", func(t *testing.T) {
		for i, report := range validators.LibXML2(t, requests...) {
			agrees := report.Error == "" && string(report.Forms[0]) == clauses[i].want
			if agrees == clauses[i].mistaken {
				t.Errorf("%s: libxml2 has %q, %s", clauses[i].rule, report.Forms, report.Error)
			}
		}
	})
}

func TestRelativeNamespaces(t *testing.T) {
	for space, refused := range map[string]bool{
		"a": true, "../a": true, "//host/a": true, "#a": true, "?a:b": true, "1a:b": true, "é:b": true, ":a": true,
		"a:": false, "a+-.1:b": false, "http://host": false, "URN:a": false,
	} {
		d, err := xmldoc.Parse([]byte("<p:a xmlns:p='" + space + "'><b/></p:a>"))
		if err != nil {
			t.Fatal(err)
		}
		for name, method := range methods {
			err := d.Canonicalize(io.Discard, xmldoc.Canonicalization{Method: method}, xmldoc.Subset{})
			if errors.Is(err, xmldoc.ErrNamespace) != refused {
				t.Errorf("%q, %s: %v", space, name, err)
			}
		}
	}
}

func TestManyBases(t *testing.T) {
	document := strings.Repeat("<a xml:base='"+strings.Repeat("b/", 100)+"'>", 50) + strings.Repeat("</a>", 50)
	d, err := xmldoc.Parse([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := canonical(d, element(50, "1.1")); !errors.Is(err, xmldoc.ErrLimit) {
		t.Errorf("%v, want %v", err, xmldoc.ErrLimit)
	}
	if _, err := canonical(d, element(20, "1.1")); err != nil {
		t.Error(err)
	}
}

// TestGrowth is a megabyte that would be said half a million times.
func TestGrowth(t *testing.T) {
	space := "urn:" + strings.Repeat("a", 1<<20)
	d, err := xmldoc.Parse([]byte("<a xmlns:p='" + space + "'>" + strings.Repeat("<p:b/>", 500_000) + "</a>"))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Canonicalize(io.Discard, xmldoc.Canonicalization{Method: xmldoc.Exclusive}, xmldoc.Subset{}); !errors.Is(err, xmldoc.ErrLimit) {
		t.Errorf("%v, want %v", err, xmldoc.ErrLimit)
	}
	if err := d.Canonicalize(io.Discard, xmldoc.Canonicalization{Method: xmldoc.C14N10}, xmldoc.Subset{}); err != nil {
		t.Error(err)
	}
}

// failing writes so many times.
type failing struct{ writes int }

var errFull = errors.New("full")

func (f *failing) Write(p []byte) (int, error) {
	if f.writes--; f.writes < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestCanonicalizeSaysWhyItCouldNotWrite(t *testing.T) {
	d, err := xmldoc.Parse([]byte("<a>" + strings.Repeat("<b>&amp;</b>", 10_000) + strings.Repeat("c", 100_000) + "</a>"))
	if err != nil {
		t.Fatal(err)
	}
	for writes := range 10 {
		w := &failing{writes}
		if err := d.Canonicalize(w, xmldoc.Canonicalization{Method: xmldoc.C14N10}, xmldoc.Subset{}); !errors.Is(err, errFull) {
			t.Errorf("after %d writes: %v", writes, err)
		}
		if w.writes != -1 {
			t.Errorf("after %d writes: %d more than the one that failed", writes, -1-w.writes)
		}
	}
}

func TestMethodOfNoName(t *testing.T) {
	d, err := xmldoc.Parse([]byte("<a/>"))
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range []xmldoc.Method{0, xmldoc.Exclusive + 1} {
		if err := d.Canonicalize(io.Discard, xmldoc.Canonicalization{Method: method}, xmldoc.Subset{}); err == nil {
			t.Errorf("method %d has a canonical form", method)
		}
	}
}

func TestApexElsewhere(t *testing.T) {
	documents := [2]*xmldoc.Document{}
	for i, source := range []string{"<a><b/></a>", "<a/>"} {
		d, err := xmldoc.Parse([]byte(source))
		if err != nil {
			t.Fatal(err)
		}
		documents[i] = d
	}
	s := xmldoc.Subset{Apex: apex(documents[0], 2)}
	if err := documents[1].Canonicalize(io.Discard, xmldoc.Canonicalization{Method: xmldoc.C14N10}, s); err == nil {
		t.Error("an element of another document has a canonical form")
	}
}
