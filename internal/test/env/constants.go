package env

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Constants returns the values of the string constants of the package that is tested, in order:
// those that are declared with the type, or, when it is "string", without one, and whose name ends
// with the suffix. So a test of all kinds of a thing fails when a kind is new. It fails the test when
// there is none.
func Constants(t testing.TB, typed, suffix string) (values []string) {
	t.Helper()
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
				literal, isLiteral := spec.Values[0].(*ast.BasicLit)
				if isLiteral && literal.Kind == token.STRING && typeOf(spec) == typed && strings.HasSuffix(spec.Names[0].Name, suffix) {
					value, _ := strconv.Unquote(literal.Value)
					values = append(values, value)
				}
			}
			return true
		})
	}
	if values == nil {
		t.Fatalf("the package has no constant of type %s that ends with %q", typed, suffix)
	}
	slices.Sort(values)
	return values
}

// typeOf returns the name of the type that constants are declared with, "string" without one.
func typeOf(spec *ast.ValueSpec) string {
	if name, ok := spec.Type.(*ast.Ident); ok {
		return name.Name
	}
	return "string"
}
