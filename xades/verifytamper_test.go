package xades_test

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
	"github.com/innsigli/innsigli/xades"
)

// content is what a document says to its readers, in canonical form and without comments, and what its signers
// say of it.
type content struct {
	document   string
	properties []string
}

var exclusive = xmldoc.Canonicalization{Method: xmldoc.Exclusive}

// contentOf is found without the references of signatures: it is what they should lead to. The container of
// a document that is signed internally detached is none of it.
func contentOf(t testing.TB, b []byte) (c content) {
	t.Helper()
	d, err := xmldoc.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	isSignature := func(n xmldoc.Node) bool { return n.Is(xmldsig.Namespace, "Signature") }
	document := write(t, d, xmldoc.Subset{Without: isSignature})
	if root := d.Root(); root.Is("", "internally-detached") {
		document = ""
		for n := range root.Elements() {
			if !isSignature(n) {
				document += write(t, d, xmldoc.Subset{Apex: n})
			}
		}
	}
	for _, s := range xmldsig.Find(d) {
		for object := range s.Elements() {
			said := propertiesIn(object)
			switch {
			case !object.Is(xmldsig.Namespace, "Object"):
			case said == xmldoc.Node{} && isText(object): // its attributes are not signed
				document += base64Of.Replace(object.Text())
			case said == xmldoc.Node{}:
				document += write(t, d, xmldoc.Subset{Apex: object})
			default:
				c.properties = append(c.properties, write(t, d, xmldoc.Subset{Apex: said}))
			}
		}
	}
	c.document = document
	return c
}

// base64Of leaves out of Base64 what is no part of it (XML Signature 1.1 6.6.2).
var base64Of = strings.NewReplacer(" ", "", "\t", "", "\r", "", "\n", "")

func isText(n xmldoc.Node) bool {
	for range n.Elements() {
		return false
	}
	return true
}

func propertiesIn(object xmldoc.Node) (found xmldoc.Node) {
	for n := range object.Descendants() {
		if n.Is("http://uri.etsi.org/01903/v1.3.2#", "SignedProperties") {
			return n
		}
	}
	return found
}

func write(t testing.TB, d *xmldoc.Document, part xmldoc.Subset) string {
	t.Helper()
	var b bytes.Buffer
	if err := d.Canonicalize(&b, exclusive, part); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// passes says whether a document is passed by somebody who trusts an authority.
func passes(t testing.TB, b []byte, ca *sandboxca.Authority) bool {
	t.Helper()
	report, err := xades.Verify(t.Context(), document(b), ades.VerifyOptions{Roots: ca.Roots()})
	return err == nil && report.Passed()
}

// A bit that is changed in a signed document is noticed, unless the document says the same: it is in a comment,
// in a name that is declared otherwise, or in what is not signed because it proves something itself.
func TestChangedBits(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	for _, k := range packings {
		for _, test := range []struct {
			level ades.Level
			step  int
			least float64 // part of the changes that is noticed; most of level LTA is evidence
		}{{ades.B, 50, 0.3}, {ades.LTA, 1013, 0.1}} {
			o := k.options()
			o.City, o.Reason = "Reykjavík", "Undirritun"
			signed := signLevel(t, []byte(contract), p, test.level, o)
			tried, noticed := changeBits(t, signed, test.step, p.ca)
			if float64(noticed) < test.least*float64(tried) {
				t.Errorf("%s, %v: %d of %d changes are noticed", k.name, test.level, noticed, tried)
			}
		}
	}
}

func changeBits(t *testing.T, signed []byte, step int, ca *sandboxca.Authority) (tried, noticed int) {
	t.Helper()
	if !passes(t, signed, ca) {
		t.Fatal("refused as it is")
	}
	was := contentOf(t, signed)
	for at := 0; at < len(signed); at += step {
		b := bytes.Clone(signed)
		b[at] ^= 1 << (at / step % 7)
		if tried++; !passes(t, b, ca) {
			noticed++
		} else if is := contentOf(t, b); is.document != was.document || !slices.Equal(is.properties, was.properties) {
			t.Errorf("the byte at %d is %q for %q in %q", at, b[at], signed[at], signed[max(0, at-50):min(len(signed), at+50)])
		}
	}
	return tried, noticed
}

// Every byte of what is signed is, in a document in which nothing may be written otherwise.
func TestEachByteIsSigned(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	const plain = `<a b="c"><d>efgh</d></a>`
	for _, k := range packings {
		signed := sign(t, []byte(plain), p, k.options())
		start, end := bytes.Index(signed, []byte("efgh")), 4
		if k.base64 {
			text := base64.StdEncoding.EncodeToString([]byte(plain))
			start, end = bytes.Index(signed, []byte(text)), len(text)
		}
		for at := range end {
			b := bytes.Clone(signed)
			if b[start+at]++; passes(t, b, p.ca) {
				t.Errorf("%s: %q at %d", k.name, b[start+at], at)
			}
		}
	}
}
