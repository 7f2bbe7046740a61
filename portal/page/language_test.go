package page

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// Keys of the catalogue in sources.
var (
	quotedKey   = regexp.MustCompile(`"([a-z]+(?:\.[a-z%]+)*\.?)"`) // or the beginning of keys
	templateKey = regexp.MustCompile(`\.T "([^"]+)"`)
	quotedEnd   = regexp.MustCompile(`"(\.[a-z]+)"`) // appended to a key
)

// sources returns the Go files and templates of the package by name.
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

// Each text exists in both languages, with the same names to replace and the same end.
func TestCatalogueHasBothLanguages(t *testing.T) {
	t.Parallel()
	hole := regexp.MustCompile(`\{[^{}]*\}`)
	holes := func(text string) []string {
		all := hole.FindAllString(text, -1)
		slices.Sort(all)
		return slices.Compact(all)
	}
	for key, texts := range words() {
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

// No key is in two files, unused, or missing.
func TestCatalogueIsUsed(t *testing.T) {
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
	if lines != len(words()) {
		t.Errorf("%d keys in %d lines: one is in two places", len(words()), lines)
	}
	used, ends := make(map[string]bool), make(map[string]bool)
	for path, source := range sources(t) {
		for _, found := range quotedKey.FindAllStringSubmatch(source, -1) {
			used[found[1]] = true
		}
		for _, found := range quotedEnd.FindAllStringSubmatch(source, -1) {
			ends[found[1]] = true
		}
		for _, found := range templateKey.FindAllStringSubmatch(source, -1) {
			if key := found[1]; words()[key] == nil {
				t.Errorf("%s: there are no words %q", path, key)
			}
		}
	}
	for key := range words() {
		if !uses(used, ends, key) {
			t.Errorf("%q is unused", key)
		}
	}
}

// uses reports whether a key is used: as it is, without an end that is appended, or by its beginning.
func uses(used, ends map[string]bool, key string) bool {
	for end := range ends {
		if whole, ok := strings.CutSuffix(key, end); ok && used[whole] {
			return true
		}
	}
	for prefix := key; ; {
		i := strings.LastIndex(prefix, ".")
		if used[key] || i < 0 {
			return used[key]
		}
		if prefix = prefix[:i]; used[prefix+"."] || used[prefix+".%d"] {
			return true
		}
	}
}

func TestPreferredLanguage(t *testing.T) {
	t.Parallel()
	for accepted, want := range map[string]string{
		"":                                   "is",
		"is":                                 "is",
		"en":                                 "en",
		"en-GB,en;q=0.9":                     "en",
		"is-IS,is;q=0.9,en;q=0.8":            "is",
		"de-DE,de;q=0.9,en;q=0.5":            "en",
		"de":                                 "is",
		"*":                                  "is",
		"is;q=0.2, EN ; q=0.7":               "en",
		"en;q=0":                             "is",
		"en;q=x, is;q=0.1":                   "is",
		"en;q=NaN":                           "is",
		";;;,,,=;q=":                         "is",
		"nn-NO, nb;q=0.9, is;q=0.3,en;q=0.2": "is",
	} {
		if got := preferredLanguage(accepted); got != want {
			t.Errorf("%q: %s, want %s", accepted, got, want)
		}
	}
}

// The language is the one that the browser prefers, until the person chooses one, which leads to the same address.
func TestChooseLanguage(t *testing.T) {
	t.Parallel()
	d := newInvitation(t)
	b := d.newBrowser()
	lang := func(want string) {
		t.Helper()
		if h := b.get(d.link(0)).header; h.Get("Content-Language") != want || h.Get("Vary") != "Accept-Language, Cookie" {
			t.Error(want, h)
		}
	}
	lang("is")
	b.header["Accept-Language"] = "en-US,en"
	lang("en")
	b.get(d.link(0)+"?lang=is").leadsTo(t, d.link(0))
	lang("is")
	b.get("/sign/x/y?lang=en&from=51&attempt=a%26b").leadsTo(t, "/sign/x/y?attempt=a%26b&from=51")
	lang("en")
	for _, path := range []string{"?lang=de", "?lang=", "?lang=is%0d%0aX:y"} {
		b.get(d.link(0)+path).says(t, 200)
		lang("en")
	}
	b.get(backPath+"?lang=is&state=x").says(t, 403) // a callback chooses no language
	lang("en")
	b.cookies["lang"] = "<script>"
	lang("en")
	if b.post("/sign/logout?lang=is").leadsTo(t, goodbyePath); b.cookies["lang"] == "is" {
		t.Error("a form chooses a language")
	}
}

// The answer to a form or a callback links to the other language of the page that it is about.
func TestOtherLanguageOfAnswers(t *testing.T) {
	t.Parallel()
	d := newInvitation(t)
	b := d.newBrowser()
	for want, a := range map[string]answer{
		d.link(0) + "?lang=en":                   b.beginApp(d.link(0), "1"),
		of(d.invited, 0) + "?lang=en":            b.post(of(d.invited, 0, "/login"), "way", "app"),
		loginPath + "?lang=en":                   b.get(backPath + "?state=x&code=y"),
		"/sign/none?a=%22%3E&amp;lang=en":        b.get("/sign/none?a=%22%3E"),
		of(d.invited, 1) + "?from=1&amp;lang=en": b.get(of(d.invited, 1) + "?from=1"),
	} {
		a.contains(t, `href="`+want+`"`)
	}
}

func TestDates(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 6, 7, 9, 5, 0, 0, time.FixedZone("", 2*3600))
	for lang, want := range map[string]string{"is": "7. júní 2026 kl. 07:05", "en": "7 June 2026 at 07:05 UTC"} {
		if got := Date(lang, at); got != want {
			t.Errorf("%s: %q, want %q", lang, got, want)
		}
	}
	for k, want := range map[string]string{"0101302989": "010130-2989", "": "", "1": "1"} {
		if got := localKennitala(k); got != want {
			t.Errorf("%q: %q, want %q", k, got, want)
		}
	}
}

// Whatever a browser prefers, it gets a supported language.
func FuzzPreferred(f *testing.F) {
	for _, seed := range []string{"", "en-GB,en;q=0.9", "*;q=1e9,is;q=-1", ",;=q", "\xff;q=Inf"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, accepted string) {
		if got := preferredLanguage(accepted); words()["login.title"][got] == "" {
			t.Errorf("%q: %q", accepted, got)
		}
	})
}
