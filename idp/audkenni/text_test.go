package audkenni

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTruncate(t *testing.T) {
	const family = "👩‍👩‍👧‍👦" // seven characters of Unicode
	for _, test := range []struct {
		name, text string
		limit      int
		want       string
	}{
		{"nothing", "", 60, ""},
		{"no room", "a", 0, ""},
		{"less than no room", "a", -1, ""},
		{"shorter", "leiga.pdf", 60, "leiga.pdf"},
		{"as long", "leiga.pdf", 9, "leiga.pdf"},
		{"longer", "leiga.pdf", 8, "leiga.pd"},
		{"Icelandic letters", "þæöðáéíóúý", 4, "þæöð"},
		{"accents of their own", "e\u0301e\u0301", 4, "e\u0301e\u0301"},
		{"before a letter whose accent has no room", "e\u0301e\u0301", 3, "e\u0301"},
		{"two accents", "ao\u0308\u0301", 3, "a"},
		{"a family", "a" + family, 8, "a" + family},
		{"before a family that has no room", "a" + family, 7, "a"},
		{"flags", "🇮🇸🇮🇸", 3, "🇮🇸"},
		{"a skin tone", "👍🏽👍🏽", 3, "👍🏽"},
		{"Hangul", "\u1112\u1161\u11ab\u1112\u1161\u11ab", 5, "\u1112\u1161\u11ab"},
		{"a first character that has no room", "e" + strings.Repeat("\u0301", 60), 60, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := truncate(test.text, test.limit); got != test.want {
				t.Errorf("want %+q, got %+q", test.want, got)
			}
		})
	}
}

func TestSingleLine(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"as it is", "Samningur um leigu á Öldugötu.pdf", "Samningur um leigu á Öldugötu.pdf"},
		{"line breaks", "a\nb\r\nc\u2028d\u2029e\u0085f", "a b  c d e f"},
		{"control characters", "a\x00b\tc\x7fd\u009be", "a b c d e"},
		{"directions", "samningur\u202efdp.exe\u202c\u2066\u200f", "samningurfdp.exe"},
		{"joiners stay", "👩\u200d👧 क्\u200dष", "👩\u200d👧 क्\u200dष"},
		{"no UTF-8", "a\xffb\xed\xa0\x80c", "a\ufffdb\ufffdc"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := singleLine(test.text); got != test.want {
				t.Errorf("want %+q, got %+q", test.want, got)
			}
		})
	}
}

func TestFill(t *testing.T) {
	for _, test := range []struct {
		name, template, document string
		limit                    int
		want                     string
	}{
		{"room for all", "{code} {document}", "leiga.pdf", 60, "0042 leiga.pdf"},
		{"the code before the name", "{code} {document}", "leiga.pdf", 10, "0042 leiga"},
		{"what is around it too", "{document}: veldu {code}.", "leiga.pdf", 15, "le: veldu 0042."},
		{"no place for the name", "Kóði {code}", "leiga.pdf", 60, "Kóði 0042"},
		{"no code", "Undirritun: {document}", "leiga.pdf", 60, "Undirritun: leiga.pdf"},
		{"a name like a template", "{code} {document}", "{code}{document}", 60, "0042 {code}{document}"},
		{"no room at all", "{code} {document}", "leiga.pdf", 5, "0042 "},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := fill(test.template, "0042", test.document, test.limit); got != test.want {
				t.Errorf("want %q, got %q", test.want, got)
			}
		})
	}
}

// FuzzFill checks that the text for the phone is one line within the limit for a document of any name.
func FuzzFill(f *testing.F) {
	for _, seed := range []string{"", "leiga.pdf", "e\u0301", "\xff{code}\n\u202e", "👩‍👩‍👧‍👦🇮🇸", strings.Repeat("ö", 100)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, document string) {
		got := fill("{code} {document}", "0042", singleLine(document), maxText)
		if n := utf8.RuneCountInString(got); n > maxText || !utf8.ValidString(got) || singleLine(got) != got || !strings.HasPrefix(got, "0042 ") {
			t.Errorf("%d characters: %q", n, got)
		}
	})
}
