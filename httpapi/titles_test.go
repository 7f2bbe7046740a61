package httpapi_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/httpapi"
)

// Whatever title an answer can have by the source, its type leads to a page that is headed by it and says
// more (spec 1.4), also where no test gets that answer. No two titles share a page.
func TestEachTitleHasAPage(t *testing.T) {
	t.Parallel()
	api := httpapi.New(httpapi.Config{BaseURL: "https://sign.example"})
	written, pages := titles(t), map[string]string{}
	if len(written) < 30 || !slices.Contains(written, "One or more validation errors occurred.") {
		t.Fatalf("%d titles found: %q", len(written), written)
	}
	for _, title := range written {
		name := strings.ReplaceAll(strings.ToLower(strings.TrimSuffix(title, ".")), " ", "-")
		a := httptest.NewRecorder()
		api.ServeHTTP(a, httptest.NewRequest(http.MethodGet, "/problems/"+name, nil))
		if page := a.Body.String(); a.Code != http.StatusOK || !strings.Contains(page, "<h1>"+title+"</h1>") || strings.Contains(page, "<p></p>") {
			t.Errorf("the page of %q answers %d, or has another heading, or says nothing", title, a.Code)
		}
		if other, taken := pages[name]; taken {
			t.Errorf("%q and %q share the page %s", other, title, name)
		}
		pages[name] = title
	}
}

// titles are those that problems of the package are made with.
func titles(t *testing.T) (all []string) {
	t.Helper()
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	constants := map[string]ast.Expr{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == len(spec.Names) {
				for i, name := range spec.Names {
					constants[name.Name] = spec.Values[i]
				}
			}
			return true
		})
	}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			if title := titleOf(n); title != nil {
				if name, ok := title.(*ast.Ident); ok {
					title = constants[name.Name]
				}
				if word, ok := title.(*ast.BasicLit); ok {
					text, err := strconv.Unquote(word.Value)
					if err != nil {
						t.Error(err)
					}
					all = append(all, text)
				}
			}
			return true
		})
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// titleOf is the title of a problem that is made here, nil where none is.
func titleOf(n ast.Node) ast.Expr {
	switch n := n.(type) {
	case *ast.CallExpr:
		switch called, _ := n.Fun.(*ast.Ident); {
		case called == nil:
		case called.Name == "titledError":
			return n.Args[1]
		case called.Name == "badRequest":
			return n.Args[0]
		}
	case *ast.CompositeLit:
		if kind, _ := n.Type.(*ast.Ident); kind != nil && kind.Name == "problem" {
			for _, element := range n.Elts {
				if pair, ok := element.(*ast.KeyValueExpr); ok && pair.Key.(*ast.Ident).Name == "Title" {
					return pair.Value
				}
			}
		}
	}
	return nil
}
