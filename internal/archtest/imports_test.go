package archtest_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// violations returns the imports that the table does not permit, the packages that it lacks, and the
// lines of the table that permit an import of a package that is not in a lower layer.
func violations(layers []layer, packages map[string]listed) []string {
	level, entries := make(map[string]int), make(map[string]entry)
	for i, l := range layers {
		for _, e := range l {
			level[e.path], entries[e.path] = i, e
		}
	}
	var out []string
	for path, e := range entries {
		if _, ok := packages[modulePath+"/"+path]; !ok {
			out = append(out, fmt.Sprintf("%s is in the table and does not exist", path))
		}
		for _, below := range strings.Fields(e.ours) {
			if l, ok := level[below]; !ok || l <= level[path] {
				out = append(out, fmt.Sprintf("the table permits %s to import %s, which is not in a lower layer", path, below))
			}
		}
	}
	for _, p := range packages {
		path := p.ours()
		if path == "" {
			continue
		}
		e, ok := entries[path]
		if !ok {
			out = append(out, fmt.Sprintf("%s is not in the table", path))
			continue
		}
		for _, imported := range p.Imports {
			if !e.mayImport(packages[imported]) {
				out = append(out, fmt.Sprintf("%s imports %s", path, strings.TrimPrefix(imported, modulePath+"/")))
			}
		}
	}
	slices.Sort(out)
	return out
}

func (e entry) mayImport(p listed) bool {
	if p.Standard {
		return true
	}
	if path := p.ours(); path != "" {
		return slices.Contains(strings.Fields(e.ours), path)
	}
	return slices.ContainsFunc(strings.Fields(e.modules), func(short string) bool {
		return p.Module != nil && p.Module.Path == modules[short]
	})
}

// Every import is permitted by the table of layers_test.go.
func TestImportsFollowTheTable(t *testing.T) {
	if diff := cmp.Diff([]string(nil), violations(layers, list(t, "./..."))); diff != "" {
		t.Errorf("violations of the table in layers_test.go (+):\n%s", diff)
	}
}

// The table permits no import that is not there.
func TestTableHasNoUnusedImport(t *testing.T) {
	packages := list(t, "./...")
	for _, e := range slices.Concat(layers...) {
		imports := packages[modulePath+"/"+e.path].Imports
		for _, path := range strings.Fields(e.ours) {
			if !slices.Contains(imports, modulePath+"/"+path) {
				t.Errorf("the table permits %s to import %s, and it does not", e.path, path)
			}
		}
		for _, short := range strings.Fields(e.modules) {
			if !slices.ContainsFunc(imports, func(path string) bool {
				module := packages[path].Module
				return module != nil && module.Path == modules[short]
			}) {
				t.Errorf("the table permits %s to import %s, and it does not", e.path, short)
			}
		}
	}
}

// A package of this module is imported by the same name everywhere.
func TestPackagesHaveOneImportName(t *testing.T) {
	names := make(map[string]string) // by import path
	err := filepath.WalkDir(testenv.Root(t), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			if !strings.HasPrefix(spec.Path.Value, `"`+modulePath+"/") {
				continue
			}
			name := ""
			if spec.Name != nil {
				name = spec.Name.Name
			}
			if known, ok := names[spec.Path.Value]; ok && known != name {
				t.Errorf("%s imports %s as %q, and another file as %q", path, spec.Path.Value, name, known)
			}
			names[spec.Path.Value] = name
		}
		return nil
	})
	if err != nil || len(names) == 0 {
		t.Fatalf("%d packages, %v", len(names), err)
	}
}

// Each kind of violation is found.
func TestViolationsAreFound(t *testing.T) {
	small := []layer{
		{{"wire", "left right leaf", ""}},
		{{"left", "leaf", "uuid"}, {"right", "leaf", ""}},
		{{"leaf", "", ""}},
	}
	for _, test := range []struct {
		name     string
		from, to string
		want     string
		table    []layer // nil: small
	}{
		{name: "up", from: "leaf", to: modulePath + "/left", want: "leaf imports left"},
		{name: "to a sibling", from: "left", to: modulePath + "/right", want: "left imports right"},
		{name: "another layer's module", from: "leaf", to: "github.com/google/uuid", want: "leaf imports github.com/google/uuid"},
		{name: "an unknown module", from: "left", to: "example.com/other", want: "left imports example.com/other"},
		{name: "a package that the table lacks", from: "extra", to: "fmt", want: "extra is not in the table"},
		{name: "a line without a package", table: append(slices.Clone(small), layer{{"absent", "", ""}}), want: "absent is in the table and does not exist"},
		{name: "a line that permits an import upwards", table: append(slices.Clone(small), layer{{"bottom", "leaf", ""}}), from: "bottom", to: modulePath + "/leaf",
			want: "the table permits bottom to import leaf, which is not in a lower layer"},
		{name: "a line that permits an import of a sibling", table: append(slices.Clone(small[:2]), layer{{"leaf", "", ""}, {"bottom", "leaf", ""}}), from: "bottom", to: modulePath + "/leaf",
			want: "the table permits bottom to import leaf, which is not in a lower layer"},
	} {
		t.Run(test.name, func(t *testing.T) {
			packages := smallModule()
			if test.from != "" {
				p := packages[modulePath+"/"+test.from]
				packages[modulePath+"/"+test.from] = ourPackage(test.from, append(p.Imports, test.to)...)
			}
			table := small
			if test.table != nil {
				table = test.table
			}
			if diff := cmp.Diff([]string{test.want}, violations(table, packages)); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		if diff := cmp.Diff([]string(nil), violations(small, smallModule())); diff != "" {
			t.Error(diff)
		}
	})
}

// An import that the real table forbids is found.
func TestViolationsOfTheTableAreFound(t *testing.T) {
	packages := list(t, "./...")
	for from, to := range map[string]string{
		"pades":      "storage",
		"ades":       "internal/pdf",
		"storage":    "account",
		"busysignal": "signing",
		"account":    "sandbox",
		"signing":    "httpapi",
		"httpapi":    "storage/bolt",
	} {
		p := packages[modulePath+"/"+from]
		changed := map[string]listed{p.ImportPath: ourPackage(from, append(slices.Clone(p.Imports), modulePath+"/"+to)...)}
		for path, p := range packages {
			if _, ok := changed[path]; !ok {
				changed[path] = p
			}
		}
		if want := from + " imports " + to; !slices.Contains(violations(layers, changed), want) {
			t.Errorf("not found: %s", want)
		}
	}
}

func smallModule() map[string]listed {
	packages := map[string]listed{
		"fmt":                    {ImportPath: "fmt", Standard: true},
		"github.com/google/uuid": foreignPackage("github.com/google/uuid"),
		"example.com/other":      foreignPackage("example.com/other"),
	}
	for _, p := range []listed{
		ourPackage("wire", "fmt", modulePath+"/left", modulePath+"/right"),
		ourPackage("left", "github.com/google/uuid", modulePath+"/leaf"),
		ourPackage("right", modulePath+"/leaf"),
		ourPackage("leaf", "fmt"),
	} {
		packages[p.ImportPath] = p
	}
	return packages
}

func ourPackage(name string, imports ...string) listed {
	p := foreignPackage(modulePath + "/" + name)
	p.Module.Path, p.Imports = modulePath, imports
	return p
}

func foreignPackage(path string) listed {
	return listed{ImportPath: path, Module: &struct{ Path string }{path}}
}

// The commands that run the server assemble it as a foreign program does: of this project they use packages server
// and server/config alone.
func TestServeUsesTheServerAlone(t *testing.T) {
	want := []string{modulePath + "/server", modulePath + "/server/config"}
	for _, name := range []string{"serve.go", "sandbox.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("../../cmd/innsigli", name), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		var ours []string
		for _, i := range file.Imports {
			if path := strings.Trim(i.Path.Value, `"`); strings.HasPrefix(path, modulePath) {
				ours = append(ours, path)
			}
		}
		if diff := cmp.Diff(want, ours); diff != "" {
			t.Errorf("%s imports (-want +got):\n%s", name, diff)
		}
	}
}
