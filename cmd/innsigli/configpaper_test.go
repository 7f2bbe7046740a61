package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

const configurationPaper = "docs/configuration.md"

// The page of the configuration has each flag with its variable, and each metric, as the program has them.
// In .ci/full it is written.
func TestConfigurationPaper(t *testing.T) {
	path := filepath.Join(testenv.Root(t), configurationPaper)
	text := string(mustRead(t, path))
	whole := text
	for mark, table := range map[string]string{
		"flags of serve": flagTable(t, "serve"), "flags of sandbox": flagTable(t, "sandbox"), "metrics": metricTable(t),
	} {
		block := regexp.MustCompile(`(?s)(<!-- ` + mark + ` -->\n).*?(<!-- end -->)`)
		if !block.MatchString(whole) {
			t.Fatalf("no place for %s", mark)
		}
		whole = block.ReplaceAllString(whole, "${1}\n"+strings.ReplaceAll(table, "$", "$$")+"\n${2}")
	}
	if testenv.Full() {
		if err := os.WriteFile(path, []byte(whole), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(strings.Split(text, "\n"), strings.Split(whole, "\n")); diff != "" {
		t.Errorf("%s is not what the program says; INNSIGLI_FULL=1 go test -run %s writes it (-page +program):\n%s", configurationPaper, t.Name(), diff)
	}
}

func flagTable(t *testing.T, command string) string {
	t.Helper()
	app, err := kong.New(&cli{}, kong.DefaultEnvars("INNSIGLI"))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(app.Model.Children, func(n *kong.Node) bool { return n.Name == command })
	var b strings.Builder
	b.WriteString("| Flag | Default | Meaning |\n|---|---|---|\n")
	for _, f := range app.Model.Children[i].Flags {
		name, otherwise := "--"+f.Name, ""
		if f.Name == "help" {
			continue
		}
		if !f.IsBool() {
			name += " " + strings.TrimPrefix(f.FormatPlaceHolder(), "=")
		}
		switch {
		case f.Required:
			otherwise = "required"
		case f.Default != "":
			otherwise = "`" + f.Default + "`"
		}
		help := regexp.MustCompile(` \(default \$?\{?[^)]*\)`).ReplaceAllStringFunc(f.Help, func(said string) string {
			if strings.Contains(said, f.Default) && f.Default != "" || strings.Contains(said, "${default}") {
				return ""
			}
			return said
		})
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, otherwise, strings.ReplaceAll(help, "|", `\|`))
	}
	return b.String()
}

// metricTable has what the registry describes, but for the runtime's.
func metricTable(t *testing.T) string {
	t.Helper()
	m := newMetrics()
	m.backlog(nil)
	m.dueJobs(nil, nil)
	descriptions := make(chan *prometheus.Desc, 1000)
	m.registry.Describe(descriptions)
	close(descriptions)
	form := regexp.MustCompile(`fqName: "(innsigli_[^"]*)", help: "((?:[^"\\]|\\.)*)", (?:unit: "[^"]*", )?constLabels: \{\}, variableLabels: \{([^}]*)\}`)
	lines := make(map[string]string)
	for d := range descriptions {
		if of := form.FindStringSubmatch(d.String()); of != nil {
			help, err := strconv.Unquote(`"` + of[2] + `"`)
			if err != nil {
				t.Fatal(err)
			}
			name := of[1]
			if of[3] != "" {
				name += "{" + of[3] + "}"
			}
			lines[name] = fmt.Sprintf("| `%s` | %s |\n", name, help)
		}
	}
	if len(lines) < 10 {
		t.Fatalf("%d metrics", len(lines))
	}
	table := "| Metric | Meaning |\n|---|---|\n"
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		table += lines[name]
	}
	return table
}

// documentedKey is a row of a section's table.
type documentedKey struct{ section, name, kind string }

// documentedKeys are those of the page.
func documentedKeys(t *testing.T) (keys []documentedKey) {
	t.Helper()
	section, table := "", regexp.MustCompile("^\\| `([a-z-]+)` \\| ([^|]*) \\|")
	for line := range strings.Lines(string(mustRead(t, filepath.Join(testenv.Root(t), configurationPaper)))) {
		if heading, ok := strings.CutPrefix(line, "### "); ok {
			section = strings.TrimSpace(heading)
		}
		if row := table.FindStringSubmatch(line); row != nil && section != "" {
			keys = append(keys, documentedKey{section, row[1], row[2]})
		}
	}
	return keys
}

// Each key that the page has is one of its section, and of its type.
func TestDocumentedKeys(t *testing.T) {
	keys := documentedKeys(t)
	if len(keys) < 100 {
		t.Fatalf("%d keys", len(keys))
	}
	for _, key := range append(keys, documentedKey{"[trust]", "invented", "string"}) {
		kind, ok := map[string]string{"number": "a whole number", "yes/no": "true or false", "strings": "an array of strings", "files": "an array of strings"}[key.kind]
		if !ok {
			kind = "a string"
		}
		name, parent := strings.Trim(key.section, "[]"), ""
		if of, _, nested := strings.Cut(name, "."); nested {
			parent = "[" + of + "]\n"
		}
		if name == "login.endpoints" {
			parent += "[login.phone]\n" // one of them is for that
		}
		_, found := configurationOf(t, fmt.Sprintf("%s%s\n%s = 2026-01-01\n", parent, key.section, key.name))
		where := name
		if strings.HasPrefix(key.section, "[[") {
			where += "[0]"
		}
		want := fmt.Sprintf("%s.%s: is not %s", where, key.name, kind)
		if key.name == "invented" {
			want = "trust.invented: is not known"
		}
		if !slices.Contains(found, want) {
			t.Errorf("%s %s: no fault %q among\n%s", key.section, key.name, want, strings.Join(found, "\n"))
		}
	}
}

// Each key that the program asks for is on the page.
func TestKeysAreDocumented(t *testing.T) {
	known := map[string]bool{"parameters": true} // which has any key
	for _, key := range documentedKeys(t) {
		known[key.name] = true
		for name := range strings.SplitSeq(strings.Trim(key.section, "[]"), ".") {
			known[name] = true
		}
	}
	files, err := filepath.Glob("config*.go")
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range keysIn(file) {
			if asked++; !known[key] {
				t.Errorf("%s: %s has no %q", name, configurationPaper, key)
			}
		}
	}
	if asked < 80 {
		t.Errorf("the test sees %d keys", asked)
	}
}

// keysIn are the names that a file asks sections for.
func keysIn(file *ast.File) (keys []string) {
	asks := []string{"text", "flag", "number", "span", "oneOf", "texts", "list", "section", "sections", "secureURL", "certificates", "readNamed", "readOID", "readProxy", "readLifespan"}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		var name string
		switch f := call.Fun.(type) {
		case *ast.Ident:
			name = f.Name
		case *ast.SelectorExpr:
			name = f.Sel.Name
		}
		if !slices.Contains(asks, name) {
			return true
		}
		for _, argument := range call.Args[:min(2, len(call.Args))] { // the section may be before the key
			if text, ok := argument.(*ast.BasicLit); ok && text.Kind == token.STRING {
				if key, err := strconv.Unquote(text.Value); err == nil {
					keys = append(keys, key)
				}
				break
			}
		}
		return true
	})
	return keys
}

// Each variable of OpenTelemetry that the program reads is on the page.
func TestDocumentedVariables(t *testing.T) {
	page := string(mustRead(t, filepath.Join(testenv.Root(t), configurationPaper)))
	source := string(mustRead(t, "otlpsettings.go"))
	names := regexp.MustCompile(`"(OTEL_[A-Z_]*[A-Z])"`).FindAllStringSubmatch(source, -1)
	for _, part := range regexp.MustCompile(`ofTraces\("([A-Z_]+)"\)`).FindAllStringSubmatch(source, -1) {
		names = append(names, []string{"", "OTEL_EXPORTER_OTLP_" + part[1]})
	}
	if len(names) < 10 {
		t.Fatalf("%d variables", len(names))
	}
	for _, name := range names {
		if !strings.Contains(page, "`"+name[1]+"`") {
			t.Errorf("%s has no %s", configurationPaper, name[1])
		}
	}
}
