// Command texts lists the texts that people read: log messages, errors, help, pages, mail and the rest, one a line with
// its place, its kind and the text, separated by tabs. It shows what a reader of the program sees, without the program.
//
//	go run ./tools/texts                           all texts
//	go run ./tools/texts -kind log                 those of one kind
//	go run ./tools/texts | shuf -n 20              some of them, to judge each by itself
//	go run ./tools/texts | cut -f2 | sort | uniq -c
//
// It reads the files of the folder in which it runs, which is the root of the module.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

func main() {
	kind := flag.String("kind", "", "list the texts of this `kind`: "+strings.Join(kinds, ", "))
	flag.Parse()
	if *kind != "" && !slices.Contains(kinds, *kind) {
		fmt.Fprintf(os.Stderr, "texts: -kind %s: must be one of %s\n", *kind, strings.Join(kinds, ", "))
		os.Exit(2)
	}
	texts, err := list(os.DirFS("."))
	if err != nil {
		fmt.Fprintln(os.Stderr, "texts:", err)
		os.Exit(1)
	}
	for _, t := range texts {
		if *kind == "" || t.kind == *kind {
			fmt.Printf("%s:%d\t%s\t%s\n", t.file, t.line, t.kind, t.text)
		}
	}
}

// text is a text that people read, on one line. An ellipsis stands for a part that is not a literal.
type text struct {
	file string
	line int
	kind string
	text string
}

// kinds are the kinds of texts.
var kinds = []string{"log", "error", "fault", "problem", "help", "output", "page", "mail", "report", "metric", "api", "other"}

// kindOf maps a folder to the kind of its texts that are neither errors nor help nor log messages. Folders that are not
// named here have the kind "other".
var kindOf = map[string]string{
	"ades/report":                      "report",
	"cmd/innsigli":                     "output",
	"httpapi":                          "problem",
	"httpapi/internal/jsonbody":        "problem",
	"portal/page":                      "page",
	"portal/page/html":                 "page",
	"portal/page/words":                "page",
	"server/config":                    "fault",
	"server/doctor":                    "fault",
	"server/internal/notify":           "mail",
	"server/internal/reference":        "page",
	"server/internal/reference/assets": "page",
	"server/internal/telemetry":        "metric",
}

// skipped are the folders whose texts only engineers of the project read.
var skipped = []string{".ci", ".git", ".github", "deploy", "docs", "idp/idptest", "internal/archtest", "internal/test", "storage/storagetest", "tools"}

// list returns the texts of a module, in the order of its files.
func list(module fs.FS) (texts []text, err error) {
	err = fs.WalkDir(module, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if slices.Contains(skipped, name) || entry.Name() == "testdata" {
				return fs.SkipDir
			}
			return nil
		case strings.HasSuffix(name, "_test.go"):
			return nil
		}
		read := readers[path.Ext(name)]
		if read == nil {
			return nil
		}
		content, err := fs.ReadFile(module, name)
		if err != nil {
			return err
		}
		l := lister{file: name, kind: cmp.Or(kindOf[path.Dir(name)], "other")}
		if err := read(&l, content); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		slices.SortStableFunc(l.found, func(a, b text) int { return cmp.Compare(a.line, b.line) })
		texts = append(texts, l.found...)
		return nil
	})
	return texts, err
}

// readers find the texts of a file, by the end of its name.
var readers = map[string]func(*lister, []byte) error{
	".go": (*lister).readGo, ".json": (*lister).readWords, ".html": (*lister).readHTML, ".yaml": (*lister).readOpenAPI,
}

// lister collects the texts of one file.
type lister struct {
	file      string
	kind      string // of texts that the syntax does not classify
	positions token.FileSet
	found     []text
}

func (l *lister) add(line int, kind, s string) {
	l.found = append(l.found, text{l.file, line, kind, strings.Join(strings.Fields(s), " ")})
}

func (l *lister) readGo(content []byte) error {
	file, err := parser.ParseFile(&l.positions, l.file, content, parser.SkipObjectResolution)
	if err == nil {
		l.look(file, "")
	}
	return err
}

// look adds the texts within a node. kind is "" if only the folder tells it.
func (l *lister) look(n ast.Node, kind string) {
	ast.Inspect(n, func(m ast.Node) bool {
		switch m := m.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			l.tag(m.Tag)
			l.look(m.Type, kind)
			return false
		case *ast.FuncDecl:
			if m.Recv != nil && m.Name.Name == "Help" {
				l.look(m.Body, "help")
				return false
			}
		case *ast.CallExpr:
			if k, i := call(m); k != "" {
				for j, argument := range m.Args {
					if j == i {
						l.look(argument, k)
					} else {
						l.look(argument, kind)
					}
				}
				return false
			}
		case *ast.BasicLit:
			l.literal(m.Pos(), m, kind)
		case *ast.BinaryExpr:
			if m.Op == token.ADD {
				l.literal(m.Pos(), m, kind)
				return false
			}
		}
		return true
	})
}

// tag adds the help text of a flag or of a command.
func (l *lister) tag(tag *ast.BasicLit) {
	if tag == nil {
		return
	}
	s, _ := strconv.Unquote(tag.Value)
	if help := reflect.StructTag(s).Get("help"); help != "" {
		l.add(l.positions.Position(tag.Pos()).Line, "help", help)
	}
}

// call returns the kind of the text that a call takes and the index of that argument. The kind is "" if the function does
// not tell it, and "none" if the text is not for people.
func call(c *ast.CallExpr) (kind string, argument int) {
	f, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", 0
	}
	var of string // the last name before the function's
	switch x := f.X.(type) {
	case *ast.Ident:
		of = x.Name
	case *ast.SelectorExpr:
		of = x.Sel.Name
	}
	switch of + "." + f.Sel.Name {
	case "errors.New", "fmt.Errorf":
		return "error", 0
	case "kong.Description":
		return "help", 0
	case "regexp.MustCompile":
		return "none", 0
	}
	if !strings.EqualFold(of, "log") {
		return "", 0
	}
	switch f.Sel.Name {
	case "Debug", "Info", "Warn", "Error":
		return "log", 0
	case "DebugContext", "InfoContext", "WarnContext", "ErrorContext":
		return "log", 1
	case "Log", "LogAttrs":
		return "log", 2
	}
	return "", 0
}

// literal adds a literal, or a sum with literals in it, if people read it.
func (l *lister) literal(at token.Pos, e ast.Expr, kind string) {
	s := l.sum(e, kind)
	line := l.positions.Position(at).Line
	switch {
	case kind == "none" || !letters.MatchString(verb.ReplaceAllString(s, "")) || code.MatchString(s):
	case element.MatchString(s):
		l.markup(line, s)
	case kind != "":
		l.add(line, kind, s)
	case phrase.MatchString(s), name.MatchString(s) && (l.kind == "mail" || l.kind == "report"):
		l.add(line, l.kind, s)
	}
}

var (
	verb    = regexp.MustCompile(`%[-+# 0-9.*]*\[?\d?\]?[a-zA-Z]`)
	letters = regexp.MustCompile(`\p{L}{2}`)
	phrase  = regexp.MustCompile(`(\p{L}{2}|%[a-z])[^\s\p{L}=]* +[^\s\p{L}=]*(\p{L}|%[a-z])`)
	name    = regexp.MustCompile(`^\p{Lu}\p{Ll}+[.:]?$`)
	code    = regexp.MustCompile(`^\s*((ALTER|BEGIN|CREATE|DELETE|DROP|INSERT|LOCK|SELECT|SET|UPDATE|WITH|WHERE) |<<|/[A-Z])|charset=|\$\d`) // SQL, PDF, headers
	element = regexp.MustCompile(`</\w+>`)
)

// sum returns a literal, or the literals of a sum with an ellipsis for each part between them, which may itself have texts.
func (l *lister) sum(e ast.Expr, kind string) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, _ := strconv.Unquote(e.Value)
		return s
	case *ast.BinaryExpr:
		return l.sum(e.X, kind) + l.sum(e.Y, kind)
	}
	l.look(e, kind)
	return "…"
}

// readWords adds the texts of the signing page in both languages.
func (l *lister) readWords(content []byte) error {
	if path.Base(path.Dir(l.file)) != "words" {
		return nil
	}
	for i, line := range strings.Split(string(content), "\n") {
		for _, m := range translation.FindAllStringSubmatch(line, -1) {
			s, err := strconv.Unquote(m[2])
			if err != nil {
				return fmt.Errorf("line %d: %w", i+1, err)
			}
			l.add(i+1, l.kind, m[1]+": "+s)
		}
	}
	return nil
}

var translation = regexp.MustCompile(`"(is|en)": ("(?:[^"\\]|\\.)*")`)

func (l *lister) readHTML(content []byte) error {
	l.markup(1, string(content))
	return nil
}

// markup adds the texts of HTML, without styles, scripts and the actions of templates. line is that of its first line.
func (l *lister) markup(line int, s string) {
	blank := func(s string) string { return regexp.MustCompile(`[^\n]`).ReplaceAllString(s, "~") }
	s = invisible.ReplaceAllStringFunc(s, blank)
	for _, m := range visible.FindAllStringSubmatchIndex(s, -1) {
		i := slices.Index([]bool{m[2] >= 0, m[4] >= 0}, true)
		found := strings.Trim(strings.ReplaceAll(s[m[2+2*i]:m[3+2*i]], "~", ""), " \n")
		if letters.MatchString(found) {
			l.add(line+strings.Count(s[:m[0]], "\n"), l.kind, found)
		}
	}
}

var (
	invisible = regexp.MustCompile(`(?s)<style.*?</style>|<script.*?</script>|<svg.*?</svg>|<!--.*?-->|\{\{.*?\}\}`)
	visible   = regexp.MustCompile(`>([^<>]+)|(?:alt|aria-label|title|placeholder)="([^"]+)"`)
)

// readOpenAPI adds the summaries and descriptions of the API.
func (l *lister) readOpenAPI(content []byte) error {
	var document yaml.Node
	err := yaml.Unmarshal(content, &document)
	if err == nil {
		l.describe(&document)
	}
	return err
}

func (l *lister) describe(n *yaml.Node) {
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 && child.Kind == yaml.ScalarNode {
			if key := n.Content[i-1].Value; key == "summary" || key == "description" {
				l.add(child.Line, "api", child.Value)
			}
		}
		l.describe(child)
	}
}
