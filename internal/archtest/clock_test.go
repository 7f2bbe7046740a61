package archtest_test

import (
	"fmt"
	"go/ast"
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

// timed are calls that make a test depend on how fast the machine is: by waiting for a time instead of for what is to
// happen, by giving up after one, or by measuring time or memory to judge it. Bytes ever allocated, bytes read and
// the like are counts of work and none of these.
var timed = []string{
	"time.Sleep", "time.After", "time.AfterFunc", "time.NewTimer", "time.NewTicker", "time.Tick", "time.Since",
	"context.WithTimeout", "context.WithTimeoutCause", "context.WithDeadline", "context.WithDeadlineCause",
	"runtime.ReadMemStats", "testenv.PeakHeap", "testenv.ProcessorTime",
}

// No test is timed. A call named above may stand in a synctest bubble, where time is virtual; in a benchmark; and where
// a comment on its line or the line above begins with "time:" (as in "// time: a person takes a moment") and says why
// nothing depends on it. In all other places testenv.Wait waits for what is to happen.
func TestNoTestIsTimed(t *testing.T) {
	root := testenv.Root(t)
	packages := make(map[string][]string)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case strings.HasSuffix(path, "_test.go"):
			packages[filepath.Dir(path)] = append(packages[filepath.Dir(path)], path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, paths := range packages {
		var p testPackage
		for _, path := range paths {
			p.parse(t, path, nil)
		}
		for _, where := range p.timedCalls() {
			t.Error(strings.TrimPrefix(where, root+string(filepath.Separator)))
		}
	}
}

// services are the packages that ask a storage.Clock for the time, so that a deployment can give them another one.
var services = []string{"account", "busysignal", "portal", "portal/page", "sandbox", "server/internal/notify", "server/operator", "signing", "webhook/delivery"}

// Services ask the machine's clock nowhere, but where a comment on the line or the line above begins with "time:" and says
// why: a duration is measured, or another machine compares the time with its own.
func TestServicesAskTheirClock(t *testing.T) {
	root := testenv.Root(t)
	for _, folder := range services {
		paths, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
		if err != nil || len(paths) == 0 {
			t.Fatal(folder, err)
		}
		var p testPackage
		for _, path := range paths {
			if !strings.HasSuffix(path, "_test.go") {
				p.parse(t, path, nil)
			}
		}
		for _, file := range p.files {
			ast.Inspect(file, func(n ast.Node) bool {
				f, ok := n.(*ast.SelectorExpr)
				if !ok || !slices.Contains([]string{"Now", "Since", "Until"}, f.Sel.Name) {
					return true
				}
				at := p.positions.Position(f.Pos())
				if x, ok := f.X.(*ast.Ident); ok && x.Name == "time" && !p.reasons[fmt.Sprintf("%s:%d", at.Filename, at.Line)] {
					t.Errorf("%s:%d: time.%s in place of the service's clock", strings.TrimPrefix(at.Filename, root+string(filepath.Separator)), at.Line, f.Sel.Name)
				}
				return true
			})
		}
	}
}

// The rule sees what it is for, and lets pass what it allows.
func TestTimedCallsAreSeen(t *testing.T) {
	const source = `package p
import ("context"; "runtime"; "testing"; "testing/synctest"; "time")
func TestSleeps(t *testing.T) { time.Sleep(1) }                             // line 3
func TestMeasures(t *testing.T) { if time.Since(began) > limit { t.Fail() } } // line 4
func TestWeighs(t *testing.T) { runtime.ReadMemStats(&m) }                  // line 5
func TestGivesUp(t *testing.T) { wait(t) }
func wait(t *testing.T) { select { case <-done: case <-time.After(1): } }   // line 7
func TestSubtracts(t *testing.T) { _ = time.Now().Sub(began) > 1 }          // line 8
func TestInABubble(t *testing.T) { synctest.Test(t, func(t *testing.T) { time.Sleep(1); pause() }) }
func TestInAWrappedBubble(t *testing.T) { bubble(t, func() { time.Sleep(1); pause() }) }
func bubble(t *testing.T, do func()) { synctest.Test(t, func(t *testing.T) { do() }) }
func pause() { time.Sleep(1) }
func BenchmarkMeasures(b *testing.B) { _ = time.Since(began); measure() }
func measure() { _ = time.Since(began) }
func TestWithAReason(t *testing.T) {
	time.Sleep(1) // time: a person takes a moment
	// time: a person takes a moment
	time.Sleep(1)
}
func both() { time.Sleep(1) } // line 20
func TestOfBoth(t *testing.T) { both(); synctest.Test(t, func(t *testing.T) { both() }) }
`
	var p testPackage
	p.parse(t, "p_test.go", source)
	var lines []string
	for _, call := range p.timedCalls() {
		lines = append(lines, strings.Split(call, ":")[1])
	}
	if diff := cmp.Diff([]string{"3", "4", "5", "7", "8", "20"}, lines); diff != "" {
		t.Errorf("lines -want +got:\n%s", diff)
	}
}

// testPackage is the test files of a package. Functions and methods are told apart by their names alone, which is
// stricter than the language where two methods have one name.
type testPackage struct {
	positions token.FileSet
	calls     []timedCall
	uses      map[string][]use // of functions, by name
	bubbles   map[string]bool  // functions that run one of their arguments in a bubble
	files     []*ast.File
	reasons   map[string]bool // file:line of comments that allow a call
}

type timedCall struct {
	at   token.Position
	name string
	use
}

// use is where something is called: in which function, "" for the declarations of the package, and whether within a bubble.
type use struct {
	function string
	bubble   bool
}

func (p *testPackage) parse(t *testing.T, path string, source any) {
	t.Helper()
	file, err := parser.ParseFile(&p.positions, path, source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	p.files = append(p.files, file)
	for _, group := range file.Comments {
		for _, comment := range group.List {
			if strings.HasPrefix(comment.Text, "// time: ") {
				if p.reasons == nil {
					p.reasons = make(map[string]bool)
				}
				end := p.positions.Position(group.End())
				for _, line := range []int{p.positions.Position(comment.Pos()).Line, end.Line + 1} {
					p.reasons[fmt.Sprintf("%s:%d", path, line)] = true
				}
			}
		}
	}
}

// timedCalls returns "file:line: what" of each call that no rule allows, in the order of the files.
func (p *testPackage) timedCalls() (found []string) {
	p.findBubbles()
	p.uses = make(map[string][]use)
	for _, file := range p.files {
		for _, declaration := range file.Decls {
			where := use{}
			if f, ok := declaration.(*ast.FuncDecl); ok {
				where.function = f.Name.Name
			}
			p.look(declaration, where)
		}
	}
	untimed := p.untimed()
	for _, c := range p.calls {
		if !c.bubble && !untimed[c.function] && !p.reasons[fmt.Sprintf("%s:%d", c.at.Filename, c.at.Line)] {
			found = append(found, fmt.Sprintf("%s:%d: %s in a test depends on how fast the machine is", c.at.Filename, c.at.Line, c.name))
		}
	}
	return found
}

// findBubbles finds the functions that hand on a function to synctest.Test, or to one of their like.
func (p *testPackage) findBubbles() {
	p.bubbles = map[string]bool{"synctest.Test": true}
	for again := true; again; {
		again = false
		for _, file := range p.files {
			for _, declaration := range file.Decls {
				f, ok := declaration.(*ast.FuncDecl)
				if !ok || f.Body == nil || p.bubbles[f.Name.Name] || !takesFunction(f) {
					continue
				}
				ast.Inspect(f.Body, func(n ast.Node) bool {
					if call, ok := n.(*ast.CallExpr); ok && p.bubbles[called(call)] && !p.bubbles[f.Name.Name] {
						p.bubbles[f.Name.Name], again = true, true
					}
					return true
				})
			}
		}
	}
}

func takesFunction(f *ast.FuncDecl) bool {
	return slices.ContainsFunc(f.Type.Params.List, func(parameter *ast.Field) bool {
		_, ok := parameter.Type.(*ast.FuncType)
		return ok
	})
}

// called is the name of what is called: "f" of a function or method of the package, "time.Now" of another's.
func called(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok {
			return x.Name + "." + f.Sel.Name
		}
		if x, ok := f.X.(*ast.CallExpr); ok && called(x) == "time.Now" && f.Sel.Name == "Sub" {
			return "time.Since"
		}
	}
	return ""
}

// look notes the timed calls in a node and the names that it uses.
func (p *testPackage) look(n ast.Node, where use) {
	ast.Inspect(n, func(m ast.Node) bool {
		switch m := m.(type) {
		case *ast.FuncDecl:
			if m.Body != nil { // without its own name
				p.look(m.Body, where)
			}
			return false
		case *ast.CallExpr:
			name := called(m)
			if slices.Contains(timed, name) {
				p.calls = append(p.calls, timedCall{p.positions.Position(m.Pos()), name, where})
			}
			if p.bubbles[name] && !where.bubble {
				p.uses[name] = append(p.uses[name], where)
				for _, argument := range m.Args {
					p.look(argument, use{where.function, true})
				}
				return false
			}
		case *ast.Ident:
			p.uses[m.Name] = append(p.uses[m.Name], where)
		}
		return true
	})
}

// untimed are the functions that run in bubbles and benchmarks alone: benchmarks, and those that are used in
// bubbles and in untimed functions, and nowhere else.
func (p *testPackage) untimed() map[string]bool {
	untimed := make(map[string]bool)
	for _, file := range p.files {
		for _, declaration := range file.Decls {
			if f, ok := declaration.(*ast.FuncDecl); ok {
				name := f.Name.Name
				untimed[name] = strings.HasPrefix(name, "Benchmark") || len(p.uses[name]) > 0
			}
		}
	}
	for again := true; again; {
		again = false
		for name := range untimed {
			if untimed[name] && slices.ContainsFunc(p.uses[name], func(u use) bool { return !u.bubble && !untimed[u.function] }) {
				untimed[name], again = false, true
			}
		}
	}
	return untimed
}
