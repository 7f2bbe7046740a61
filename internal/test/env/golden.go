package env

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Golden returns the content of a golden file. A file that does not exist is written first, with
// what build returns, if INNSIGLI_GOLDEN is "1" in the environment. A file that exists is never
// written.
func Golden(t testing.TB, path string, build func() []byte) []byte {
	t.Helper()
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && os.Getenv("INNSIGLI_GOLDEN") == "1" {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, build(), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// SameAsGolden fails the test unless got is the content of a golden file, and returns that content.
// See [Golden] for when the file is written.
func SameAsGolden(t testing.TB, path string, got []byte) []byte {
	t.Helper()
	want := Golden(t, path, func() []byte { return got })
	if !bytes.Equal(want, got) {
		t.Errorf("%s is different.\n%s", path, firstDifference(string(want), string(got)))
	}
	return want
}

// firstDifference shows where two texts begin to differ.
func firstDifference(want, got string) string {
	same := 0
	for same < min(len(want), len(got)) && want[same] == got[same] {
		same++
	}
	part := func(text string) string {
		from := max(strings.LastIndexByte(text[:same], '\n')+1, same-40)
		line, _, _ := strings.Cut(text[from:], "\n")
		return fmt.Sprintf("%.100q", line)
	}
	return fmt.Sprintf("Line %d of the file has\n\t%s\nand now it is\n\t%s", strings.Count(want[:same], "\n")+1, part(want), part(got))
}

// SameAsGoldenJSON is [SameAsGolden] for values in JSON that have names. The file is one object
// with the names as its members. It has each value byte for byte.
func SameAsGoldenJSON(t testing.TB, path string, got map[string][]byte) map[string]json.RawMessage {
	t.Helper()
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(got)) {
		lines = append(lines, fmt.Sprintf("\t%q: %s", name, got[name]))
	}
	content := SameAsGolden(t, path, []byte("{\n"+strings.Join(lines, ",\n")+"\n}\n"))
	var want map[string]json.RawMessage
	if err := json.Unmarshal(content, &want); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return want
}

// Filled fails the test for each field of a struct that is zero. It also looks into the structs in
// it, and into the first one of a slice. So a golden file has a value for every field, and a new field
// needs a new golden file. Fields that are not exported are left out, unless they are embedded.
func Filled(t testing.TB, value any) {
	t.Helper()
	for _, field := range unfilled(reflect.ValueOf(value), reflect.TypeOf(value).String()) {
		t.Errorf("%s is not set", field)
	}
}

// unfilled returns the paths of the fields that are zero.
func unfilled(v reflect.Value, path string) (paths []string) {
	switch {
	case v.IsZero(), v.Kind() == reflect.Slice && v.Len() == 0:
		return []string{path}
	case v.Kind() == reflect.Pointer:
		return unfilled(v.Elem(), path)
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
		return unfilled(v.Index(0), path+"[0]")
	case v.Kind() != reflect.Struct || v.Type() == reflect.TypeFor[time.Time]():
		return nil
	}
	for field, value := range v.Fields() {
		if field.IsExported() || field.Anonymous {
			paths = append(paths, unfilled(value, path+"."+field.Name)...)
		}
	}
	return paths
}

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
