package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const root = "../.."

// bounds are benchmarks with no figures for the page: they fail beyond a promise, and .ci/full runs them.
var bounds = []string{
	"BenchmarkBombs of internal/xml/doc", "BenchmarkBombs of pades", "BenchmarkBombs of xades",
	"BenchmarkFirstPicture of portal/page",
	"BenchmarkMemoryOfALargeProcess of cmd/innsigli", "BenchmarkMemoryOfLargeDocuments of cmd/innsigli",
	"BenchmarkMemoryOfLargeDocumentsInPostgres of cmd/innsigli", "BenchmarkMemoryOfLargeXML of cmd/innsigli",
	"BenchmarkMemoryOfTheFirstStart of cmd/innsigli",
	"BenchmarkBombs of tools/trial", "BenchmarkCapacity of tools/trial",
	"BenchmarkOutage of tools/trial",
}

// Every other benchmark of the module is on the page, itself or as what measures another program.
func TestEveryBenchmarkHasATable(t *testing.T) {
	planned := slices.Clone(bounds)
	for _, s := range subjects {
		for _, m := range s.benchmarks {
			planned = append(planned, m.title())
			for _, p := range m.beside {
				if p.by != "" {
					planned = append(planned, p.part(m).title())
				}
			}
		}
	}
	slices.Sort(planned)
	if diff := cmp.Diff(benchmarks(t), planned); diff != "" {
		t.Errorf("benchmarks of the module (-) and of tools/performance/plan.go (+):\n%s", diff)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "performance.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range subjects {
		for _, m := range s.benchmarks {
			if !strings.Contains(string(page), "\n### "+m.title()+"\n\n"+m.describe()) {
				t.Errorf("docs/performance.md is not what go run ./tools/performance writes about %s", m.title())
			}
		}
	}
}

// benchmarks are the titles of those that the module has.
func benchmarks(t *testing.T) (all []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata"):
			return fs.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		pkg, err := filepath.Rel(root, filepath.Dir(path))
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil {
				continue
			}
			if name, ok := strings.CutPrefix(f.Name.Name, "Benchmark"); ok {
				all = append(all, benchmark{pkg: filepath.ToSlash(pkg), name: name}.title())
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

// What go test prints comes into the table, beside others as multiples of the same floor.
func TestTable(t *testing.T) {
	m := benchmark{name: "Sign", unit: "x-floor", beside: []peer{{name: "Other", by: "Other"}, {name: "xmlsec1", unit: "xmlsec1"}}}
	ours := parse("goos: linux\n"+
		"BenchmarkSign/22MB       \t      20\t  15000000 ns/op\t1500 MB/s\t  10000000 floor-ns\t  1.500 x-floor\t  0.5 xmlsec1\t  4096 B/op\t  9 allocs/op\n"+
		"--- BENCH: BenchmarkSign/22MB\n    sign_test.go:42: figure: peak of memory       9 MB\n    sign_test.go:42: done\n"+
		"BenchmarkSignature \t 1 \t 5 ns/op\nPASS\n", "Sign")
	got := m.table(ours, map[string]map[string]float64{"Other": {"22MB": 0.05}})
	want := "|  | time | floor | ours | Other (BenchmarkOther) | xmlsec1 | beside that |\n| --- | --- | --- | --- | --- | --- | --- |\n" +
		"| 22MB | 15 ms | 10 ms | 1.5 | 5 | 3 | 4096 B/op, peak of memory 9 MB |\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A page that is written again keeps the tables of what was not measured.
func TestPageKeepsTables(t *testing.T) {
	tables := make(map[string]string)
	for _, s := range subjects {
		for i, m := range s.benchmarks {
			if i%2 == 0 {
				tables[m.title()] = "| " + m.title() + " |\n| --- |\n"
			}
		}
	}
	if diff := cmp.Diff(tables, rowsOf(pageOf("somewhere", tables))); diff != "" {
		t.Error(diff)
	}
}
