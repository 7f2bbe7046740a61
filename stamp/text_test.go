package stamp

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestReadable(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"as it is":          {"Þórður Ægir Öðinsson", "Þórður Ægir Öðinsson"},
		"NFD":               {"O\u0308ðinsson, Z\u0307o\u0301ł\u0107", "Öðinsson, Żółć"},
		"no composed form":  {"X\u0301", "X\u0301"},
		"white space":       {" \tJón\n\u00a0\u2003Jónsson\u2028", "Jón Jónsson"},
		"controls":          {"J\x00ó\x1bn\u0085\u007f", "Jón"},
		"bidi controls":     {"\u202eJón\u202c \u200fJónsson\u2069", "Jón Jónsson"},
		"joined emoji":      {"👩\u200d🚀\ufe0f", "👩🚀"},
		"fillers":           {"J\u3164ó\u115fn\u034f\u180e", "Jón"},
		"parted by nothing": {"o\u200d\u0301", "ó"},
		"invalid UTF-8":     {"J\xf3n\xff\xfe Jónsson", "J�n� Jónsson"},
		"private use":       {"J\ue000n", "J�n"},
		"no character":      {"J\uffffn\ufdd0", "J�n�"},
		"a mark alone":      {" \u0301a", "\u00a0\u0301a"},
		"nothing":           {"\u200b\n", ""},
		"many marks":        {"o" + strings.Repeat("\u0323", 40), "ọ" + strings.Repeat("\u0323", 39)},
		"long":              {strings.Repeat("x", maxText+1), strings.Repeat("x", maxText) + "…"},
		"long, divided":     {strings.Repeat("x", maxText-1) + "þ", strings.Repeat("x", maxText-1) + "…"},
		"long, not UTF-8":   {strings.Repeat("\x80", maxText+1), "�…"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := displayText(test.text); got != test.want {
				t.Errorf("got %+q, want %+q", got, test.want)
			}
		})
	}
}

func TestKennitala(t *testing.T) {
	for in, want := range map[string]string{
		"0101302989":   "Kt. 010130-2989",
		"010130-2989":  "Kt. 010130-2989",
		"123456":       "Kt. 123456",
		"01013029890":  "Kt. 01013029890",
		"010130298X":   "Kt. 010130298X",
		"٠١٠١٣٠٢٩٨٩":   "Kt. ٠١٠١٣٠٢٩٨٩",
		"AB-123":       "Kt. AB-123",
		"":             "",
		" 0101302989 ": "Kt. 010130-2989",
	} {
		if got := formatKennitala(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestClock(t *testing.T) {
	winter := time.Date(2026, 2, 3, 4, 5, 6, 999_999_999, time.UTC)
	for _, test := range []struct {
		at   time.Time
		want string
	}{
		{winter, "3.2.2026 kl. 04:05:06"},
		{winter.In(time.FixedZone("", -5*3600)), "3.2.2026 kl. 04:05:06"},
		{time.Date(2026, 11, 22, 14, 32, 7, 0, time.UTC), "22.11.2026 kl. 14:32:07"},
		{time.Time{}, ""},
	} {
		if got := formatTime(test.at); got != test.want {
			t.Errorf("%v: got %q, want %q", test.at, got, test.want)
		}
	}
}

func TestVisual(t *testing.T) {
	for line, want := range map[string]string{
		"Jón Jónsson": "Jón Jónsson",
		"אבג":         "גבא",
		"אב גד":       "דג בא",
		"Jón (אב) 12": "Jón (בא) 12",
		"אב Jón גד":   "בא Jón דג",
		"א1ב":         "א1ב",
		"":            "",
	} {
		if got := visualOrder(line); got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

// checkReadable looks at what a text is shown as: it is UTF-8, and is shown as it is.
func checkReadable(t *testing.T, text string) {
	t.Helper()
	once := displayText(text)
	if !utf8.ValidString(once) {
		t.Errorf("%+q became %+q, which is no UTF-8", text, once)
	}
	if twice := displayText(once); twice != once && len(once) <= maxText {
		t.Errorf("%+q became %+q and then %+q", text, once, twice)
	}
}
