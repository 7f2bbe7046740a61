package page

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A key in quotes: of the words, or what their keys begin with.
var (
	quoted = regexp.MustCompile(`"([a-z]+(?:\.[a-z%]+)*\.?)"`)
	inPage = regexp.MustCompile(`\.T "([^"]+)"`)
	part   = regexp.MustCompile(`"(\.[a-z]+)"`) // what is put behind a key that names a whole
)

// sources are the program's files and the pages' templates, by name.
func sources(t *testing.T) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		ext := filepath.Ext(path)
		if err != nil || entry.IsDir() || ext != ".go" && ext != ".html" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := os.ReadFile(path)
		all[path] = string(content)
		return err
	})
	if err != nil || len(all) < 10 {
		t.Fatal(len(all), err)
	}
	return all
}

// Each text is there in both languages, says what it says with the same things put in, and ends as the
// other does.
func TestWordsAreInBothLanguages(t *testing.T) {
	t.Parallel()
	hole := regexp.MustCompile(`\{[^{}]*\}`)
	holes := func(text string) []string {
		all := hole.FindAllString(text, -1)
		slices.Sort(all)
		return slices.Compact(all)
	}
	for key, texts := range words {
		if len(texts) != len(languages) {
			t.Errorf("%s is in %d languages", key, len(texts))
		}
		for _, lang := range languages {
			text := texts[lang]
			if text == "" || text != strings.TrimSpace(text) || strings.ContainsAny(text, "<>\"") {
				t.Errorf("%s in %q: %q", key, lang, text)
			}
			if !slices.Equal(holes(text), holes(texts[languages[0]])) {
				t.Errorf("%s: %v in %q, %v in %q", key, holes(text), lang, holes(texts[languages[0]]), languages[0])
			}
		}
		if is, en := texts["is"], texts["en"]; strings.HasSuffix(is, ".") != strings.HasSuffix(en, ".") {
			t.Errorf("%s ends in another way: %q, %q", key, is, en)
		}
	}
}

// No two files have a key, no key is left over, and none is missing.
func TestWordsAreUsed(t *testing.T) {
	t.Parallel()
	files, err := wordFiles.ReadDir("words")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, file := range files {
		text, err := wordFiles.ReadFile("words/" + file.Name())
		if err != nil {
			t.Fatal(err)
		}
		lines += len(regexp.MustCompile(`(?m)^\t"[^"]+": \{`).FindAllString(string(text), -1))
	}
	if lines != len(words) {
		t.Errorf("%d keys in %d lines: one is in two places", len(words), lines)
	}
	said, parts := make(map[string]bool), make(map[string]bool)
	for path, source := range sources(t) {
		for _, found := range quoted.FindAllStringSubmatch(source, -1) {
			said[found[1]] = true
		}
		for _, found := range part.FindAllStringSubmatch(source, -1) {
			parts[found[1]] = true
		}
		for _, found := range inPage.FindAllStringSubmatch(source, -1) {
			if key := found[1]; words[key] == nil {
				t.Errorf("%s: there are no words %q", path, key)
			}
		}
	}
	for key := range words {
		if !uses(said, parts, key) {
			t.Errorf("nobody says %q", key)
		}
	}
}

// uses says whether a key is among those that are said: as a whole, without its part, or up to a part
// that is put together.
func uses(said, parts map[string]bool, key string) bool {
	for part := range parts {
		if whole, ok := strings.CutSuffix(key, part); ok && said[whole] {
			return true
		}
	}
	for prefix := key; ; {
		i := strings.LastIndex(prefix, ".")
		if said[key] || i < 0 {
			return said[key]
		}
		if prefix = prefix[:i]; said[prefix+"."] || said[prefix+".%d"] {
			return true
		}
	}
}

// What is put in is taken for text, not for more to be replaced.
func TestWordsArePutIn(t *testing.T) {
	t.Parallel()
	got := words.text("en", "landing.continue.text", "name", "{kennitala} {name}", "kennitala", "1")
	if want := "Your login is good for this document too: {kennitala} {name}, kennitala 1."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
