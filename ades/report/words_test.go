package report

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// TestEveryValueHasWords checks that all values of the types of package ades have words.
func TestEveryValueHasWords(t *testing.T) {
	for typeName, have := range map[string][]string{
		"Indication": keys(indications), "RevocationStatus": keys(revocations), "SubIndication": keys(subIndications),
		"Coverage": keys(coverages), "TimestampType": keys(timestampTypes), "ChangeKind": keys(changeKinds),
	} {
		if missing := without(adesConstants(t, typeName), have); len(missing) > 0 {
			t.Errorf("no words for %s: %s", typeName, missing)
		}
	}
	for l := ades.B; !strings.HasPrefix(l.String(), "Level("); l++ {
		if levels[l] == (words{}) {
			t.Errorf("no words for level %v", l)
		}
	}
}

func keys[K ~string, W any](all map[K]W) (texts []string) {
	for k := range maps.Keys(all) {
		texts = append(texts, string(k))
	}
	return texts
}

// adesConstants returns the values of the constants of a type in package ades.
func adesConstants(t *testing.T, typeName string) []string {
	t.Helper()
	t.Chdir(filepath.Join(testenv.Root(t), "ades"))
	return testenv.Constants(t, typeName, "")
}

// TestLanguages checks that each composite literal of two texts in this package, which are words, has
// different texts in both languages with the same names in braces.
func TestLanguages(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	braces := regexp.MustCompile(`\{\w+\}`)
	found := 0
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			texts := textsOf(n)
			if strings.HasSuffix(path, "_test.go") || len(texts) != 2 {
				return true
			}
			found++
			en, is := braces.FindAllString(texts[0], -1), braces.FindAllString(texts[1], -1)
			slices.Sort(en)
			slices.Sort(is)
			if !slices.Equal(en, is) || texts[0] == "" || texts[1] == "" || texts[0] == texts[1] {
				t.Errorf("%s: %q", path, texts)
			}
			return true
		})
	}
	if found < 130 {
		t.Errorf("%d words, want at least 130", found)
	}
}

// textsOf returns the elements of a composite literal that consists of texts.
func textsOf(n ast.Node) (texts []string) {
	literal, ok := n.(*ast.CompositeLit)
	if !ok {
		return nil
	}
	for _, element := range literal.Elts {
		basic, ok := element.(*ast.BasicLit)
		if !ok || basic.Kind != token.STRING {
			return nil
		}
		text, _ := strconv.Unquote(basic.Value)
		texts = append(texts, text)
	}
	return texts
}
