package doc_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/beevik/etree"
	dsig "github.com/russellhaering/goxmldsig"

	"github.com/innsigli/innsigli/internal/test/validators"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// TestGoXMLDSig compares the exclusive form of roots with what another library in Go makes of them, which
// shares nothing with libxml2. It has the documents of others right; in the generated ones it does not normalise
// white space and line ends everywhere, takes a default namespace back that there is none of, and puts attributes in
// the order of prefixes. So where it says something else, libxml2 decides. Its inclusive methods are not asked: they
// have that order always.
func TestGoXMLDSig(t *testing.T) {
	t.Parallel()
	generated, foreign := goComparison{T: t}, goComparison{T: t}
	for seed := range uint64(1000) {
		document, _ := generate(seed)
		generated.add(fmt.Sprint("document ", seed), []byte(document))
	}
	for path, source := range foreignFiles(t) {
		foreign.add(filepath.Base(path), source)
	}
	generated.decide(0.4)
	foreign.decide(0.9)
}

// goComparison is the documents that were asked about.
type goComparison struct {
	*testing.T
	asked, same int
	names       []string
	others      []validators.CanonicalRequest // about what goxmldsig says something else of
}

func (g *goComparison) add(name string, source []byte) {
	g.Helper()
	d, err := xmldoc.Parse(source)
	if err != nil {
		g.Fatal(err)
	}
	other := validators.CanonicalRequest{Document: source}
	for _, prefixes := range [][]string{nil, {"a", "ds"}} {
		for _, form := range variants(validators.CanonicalForm{Apex: 1, Prefixes: prefixes})[4:] {
			theirs := etree.NewDocument()
			if err := theirs.ReadFromBytes(source); err != nil {
				return // it has no encodings but UTF-8
			}
			want, err := exclusiveOf(form).Canonicalize(theirs.Root())
			if err != nil {
				g.Fatalf("%s: goxmldsig: %v", name, err)
			}
			if got, err := canonical(d, form); err != nil || !bytes.Equal(got, want) {
				other.Forms = append(other.Forms, form)
			}
		}
	}
	g.asked++
	if other.Forms == nil {
		g.same++
		return
	}
	g.names, g.others = append(g.names, name), append(g.others, other)
}

func exclusiveOf(form validators.CanonicalForm) dsig.Canonicalizer {
	list := strings.Join(form.Prefixes, " ")
	if form.Comments {
		return dsig.MakeC14N10ExclusiveWithCommentsCanonicalizerWithPrefixList(list)
	}
	return dsig.MakeC14N10ExclusiveCanonicalizerWithPrefixList(list)
}

// decide asks libxml2 about the rest, which is no more than was known.
func (g *goComparison) decide(least float64) {
	g.Helper()
	g.Logf("figure: goxmldsig says the same of %d of %d documents", g.same, g.asked)
	if g.asked == 0 || float64(g.same) < least*float64(g.asked) {
		g.Error("it says so of few")
	}
	if len(g.others) == 0 {
		return
	}
	for i, report := range validators.LibXML2(g, g.others...) {
		compare(g.T, g.names[i], g.others[i], report)
	}
}
