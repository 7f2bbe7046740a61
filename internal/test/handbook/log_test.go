package handbook_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// logLine is a call of the logger. Level is empty and Keys are nil if the call computes them.
type logLine struct {
	Level, Message string
	Keys           []string
}

// TestLogPage compares the calls of the logger in the server and the program with docs/reference/logs-and-metrics.md, and
// checks the form of messages and keys.
func TestLogPage(t *testing.T) {
	page := make(map[string]logLine)
	for _, row := range regexp.MustCompile("(?m)^\\| ([A-Z]+) \\| `([^`]+)` \\|([^|]*)\\|").FindAllStringSubmatch(
		string(contents(t, filepath.Join(testenv.Root(t), "docs", "reference", "logs-and-metrics.md"))), -1) {
		var keys []string
		for _, key := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[3], -1) {
			keys = append(keys, key[1])
		}
		page[row[2]] = logLine{row[1], row[2], keys}
	}
	lines := make(map[string]logLine)
	for _, l := range logCalls(t) {
		if regexp.MustCompile(`^(a|an|the) .* was |\.$`).MatchString(l.Message) {
			t.Errorf("message %q: leave out the article, the auxiliary verb and the full stop", l.Message)
		}
		for _, key := range l.Keys {
			if !regexp.MustCompile(`^[a-z][a-zA-Z]*$`).MatchString(key) {
				t.Errorf("message %q: key %q is not in camel case", l.Message, key)
			}
		}
		if l.Level == "" {
			l.Level, l.Keys = page[l.Message].Level, page[l.Message].Keys
		}
		lines[l.Message] = l
	}
	if diff := cmp.Diff(page, lines); diff != "" {
		t.Errorf("the page and the calls differ (-page +calls):\n%s", diff)
	}
}

// logCalls returns the calls of loggers in the server and the program whose messages are literals.
func logCalls(t *testing.T) (calls []logLine) {
	t.Helper()
	for _, folder := range []string{"server", "cmd/innsigli"} {
		err := filepath.WalkDir(filepath.Join(testenv.Root(t), filepath.FromSlash(folder)), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					if l, ok := logCall(call); ok {
						calls = append(calls, l)
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(calls) < 30 {
		t.Fatalf("%d calls", len(calls))
	}
	return calls
}

// logCall reads a call such as log.Info("listening", "address", a).
func logCall(call *ast.CallExpr) (l logLine, ok bool) {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains([]string{"log", "Log"}, lastName(f.X)) {
		return logLine{}, false
	}
	name, arguments := f.Sel.Name, call.Args
	switch {
	case name == "LogAttrs":
		arguments = arguments[2:]
	case strings.HasSuffix(name, "Context"):
		name, arguments = strings.TrimSuffix(name, "Context"), arguments[1:]
	}
	if len(arguments) == 0 {
		return logLine{}, false
	}
	if l.Message, ok = stringLiteral(arguments[0]); !ok || name == "LogAttrs" {
		return l, ok
	}
	l.Level = strings.ToUpper(name)
	for i := 1; i < len(arguments); i += 2 {
		key, _ := stringLiteral(arguments[i])
		l.Keys = append(l.Keys, key)
	}
	return l, slices.Contains([]string{"DEBUG", "INFO", "WARN", "ERROR"}, l.Level)
}

// lastName returns the name of a variable or field.
func lastName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

func stringLiteral(e ast.Expr) (string, bool) {
	literal, ok := e.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(literal.Value)
	return s, err == nil
}
