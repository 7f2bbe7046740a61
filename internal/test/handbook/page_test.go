// Package handbook holds docs/ and the other papers to the program: links lead somewhere, what is
// typed is there and does what the page says, the examples sign, the tables are those of the API.
package handbook_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// page is a paper of the repository.
type page struct {
	path    string // from the root, with slashes
	anchors []string
	links   []string
	blocks  []block
}

// block is a fenced block of code.
type block struct {
	info string // what stands behind the fence: a language, and more
	text string
}

func (b block) language() string {
	language, _, _ := strings.Cut(b.info, " ")
	return language
}

// rest is what stands behind the language.
func (b block) rest() string {
	_, rest, _ := strings.Cut(b.info, " ")
	return rest
}

// pages are all papers of the repository.
func pages(t *testing.T) (all []page) {
	t.Helper()
	root := testenv.Root(t)
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (name != "." && strings.HasPrefix(path.Base(name), ".") || path.Base(name) == "testdata" || path.Base(name) == "node_modules"):
			return fs.SkipDir
		case path.Ext(name) == ".md":
			all = append(all, readPage(t, name))
		}
		return nil
	})
	if err != nil || len(all) < 20 {
		t.Fatalf("%d papers, %v", len(all), err)
	}
	return all
}

func readPage(t *testing.T, name string) page {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(testenv.Root(t), filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return parsePage(name, source)
}

func parsePage(name string, source []byte) page {
	p, lines := page{path: name}, func(n ast.Node) string { return string(n.Lines().Value(source)) }
	parser := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser()
	// The walk ends without an error, as the function returns none.
	_ = ast.Walk(parser.Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			p.anchors = append(p.anchors, p.anchor(words(n, source)))
		case *ast.Link:
			p.links = append(p.links, string(n.Destination))
		case *ast.Image:
			p.links = append(p.links, string(n.Destination))
		case *ast.AutoLink:
			p.links = append(p.links, string(n.URL(source)))
		case *ast.FencedCodeBlock:
			b := block{text: lines(n)}
			if n.Info != nil {
				b.info = string(n.Info.Value(source))
			}
			p.blocks = append(p.blocks, b)
		}
		return ast.WalkContinue, nil
	})
	return p
}

// words is the text of a heading, without its marks.
func words(n ast.Node, source []byte) string {
	var out strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			out.Write(t.Segment.Value(source))
		}
		return ast.WalkContinue, nil
	})
	return out.String()
}

// anchor is the name that GitHub gives to a heading, of which a page may have several.
func (p page) anchor(heading string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
	for again, base := 1, name; slices.Contains(p.anchors, name); again++ {
		name = base + "-" + string(rune('0'+again))
	}
	return name
}
