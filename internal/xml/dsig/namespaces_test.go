package dsig

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

const (
	depth   = 100  // elements around a signature
	breadth = 1000 // attributes that each of them has
)

// within puts something into elements with many attributes, the outermost of which binds prefixes to the
// namespace of XML Signature.
func within(content string, prefixes ...string) string {
	var bound, attributes, b strings.Builder
	for _, prefix := range prefixes {
		fmt.Fprintf(&bound, " xmlns:%s='%s'", prefix, Namespace)
	}
	for i := range breadth {
		fmt.Fprintf(&attributes, " a%d=''", i)
	}
	b.WriteString("<r" + bound.String() + ">")
	for range depth {
		b.WriteString("<a" + attributes.String() + ">")
	}
	return b.String() + content + strings.Repeat("</a>", depth) + "</r>"
}

// without is a transform that leaves out signatures, by an expression with a prefix that is bound elsewhere.
func without(prefix string) string {
	return `<ds:Transform Algorithm="` + transformXPath + `"><ds:XPath>not(ancestor-or-self::` + prefix + `:Signature)</ds:XPath></ds:Transform>`
}

// A prefix that is bound far away is looked for once, however many expressions have it.
func TestPrefixIsLookedForOnce(t *testing.T) {
	d := parse(t, within(newECDSASigner(t).signature(t, strings.Repeat(reference("", without("z")), 500)), "z"))
	reader := NewReader(t.Context(), d)
	before := reader.namespaces.left
	s, err := reader.Read(Find(d)[0])
	if err != nil {
		t.Fatal(err)
	}
	if kind := s.References[499].Transforms[0].Kind; kind != WithoutSignatures {
		t.Errorf("it is %v", kind)
	}
	if took := before - s.left; took < depth*breadth || took > 2*depth*breadth {
		t.Errorf("%d attributes for %d", took, depth*breadth)
	}
}

// Prefixes that are all bound far away are each looked for, until it is enough.
func TestPrefixesAreCharged(t *testing.T) {
	var references strings.Builder
	var prefixes []string
	for i := range 500 {
		prefixes = append(prefixes, fmt.Sprint("z", i))
		references.WriteString(reference("", without(prefixes[i])))
	}
	d := parse(t, within(newECDSASigner(t).signature(t, references.String()), prefixes...))
	reader := NewReader(t.Context(), d)
	reader.namespaces.left = 10 * depth * breadth
	if _, err := reader.Read(Find(d)[0]); !errors.Is(err, ErrLimit) {
		t.Errorf("read: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := NewReader(ended, d).Read(Find(d)[0]); !errors.Is(err, context.Canceled) {
		t.Errorf("read after the end: %v", err)
	}
}

// A small element may have much around it, in which its canonical form has to be looked for.
func TestWhatIsAroundIsCharged(t *testing.T) {
	k := newECDSASigner(t)
	for _, method := range []xmldoc.Method{xmldoc.C14N10, xmldoc.C14N11} {
		d := parse(t, within(`<b Id="x"/>`+k.signature(t, reference("#x"))))
		s, err := NewReader(t.Context(), d).Read(Find(d)[0])
		if err != nil {
			t.Fatal(err)
		}
		s.left = 10 * depth * breadth
		const most = 4 // three times through all that is around, each
		forms := 0
		for forms <= most && s.Canonicalize(new(strings.Builder), xmldoc.Canonicalization{Method: method}, xmldoc.Subset{Apex: s.SignedInfo}) == nil {
			forms++
		}
		if forms < 1 || forms > most {
			t.Errorf("%d forms or more for the work of ten", forms)
		}
	}
}
