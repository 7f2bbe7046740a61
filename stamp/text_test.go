package stamp

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// TestDisplayText checks which characters of a text are shown, in form NFC, and how many.
func TestDisplayText(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"in form NFD":               {"O\u0308ðinsson, Z\u0307o\u0301ł\u0107", "Öðinsson, Żółć"},
		"no composed form":          {"X\u0301", "X\u0301"},
		"white space":               {" \tJón\n\u00a0\u2003Jónsson\u2028", "Jón Jónsson"},
		"control characters":        {"J\x00ó\x1bn\u0085\u007f", "Jón"},
		"bidi controls":             {"\u202eJón\u202c \u200fJónsson\u2069", "Jón Jónsson"},
		"joined emoji":              {"👩\u200d🚀\ufe0f", "👩🚀"},
		"fillers":                   {"J\u3164ó\u115fn\u034f\u180e", "Jón"},
		"mark after a joiner":       {"o\u200d\u0301", "ó"},
		"invalid UTF-8":             {"J\xf3n\xff\xfe Jónsson", "J�n� Jónsson"},
		"private use":               {"J\ue000n", "J�n"},
		"noncharacters":             {"J\uffffn\ufdd0", "J�n�"},
		"isolated mark":             {" \u0301a", "\u00a0\u0301a"},
		"no visible character":      {"\u200b\n", ""},
		"many marks":                {"o" + strings.Repeat("\u0323", 40), "ọ" + strings.Repeat("\u0323", 39)},
		"too long":                  {strings.Repeat("x", maxText+1), strings.Repeat("x", maxText) + "…"},
		"cut within a character":    {strings.Repeat("x", maxText-1) + "þ", strings.Repeat("x", maxText-1) + "…"},
		"too long and not in UTF-8": {strings.Repeat("\x80", maxText+1), "�…"},
	} {
		if got := displayText(test.text); got != test.want {
			t.Errorf("%s: got %+q, want %+q", name, got, test.want)
		}
	}
}

// checkDisplayText checks that the displayed text is UTF-8 and is displayed as it is.
func checkDisplayText(t *testing.T, text string) {
	t.Helper()
	once := displayText(text)
	if twice := displayText(once); !utf8.ValidString(once) || twice != once && len(once) <= maxText {
		t.Errorf("%+q is displayed as %+q, and that as %+q", text, once, twice)
	}
}

func TestFormatKennitala(t *testing.T) {
	for in, want := range map[string]string{
		"0101302989":   "Kt. 010130-2989",
		"010130-2989":  "Kt. 010130-2989",
		"01013029890":  "Kt. 01013029890",
		"010130298X":   "Kt. 010130298X",
		"٠١٠١٣٠٢٩٨٩":   "Kt. ٠١٠١٣٠٢٩٨٩",
		"":             "",
		" 0101302989 ": "Kt. 010130-2989",
	} {
		if got := formatKennitala(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestFormatTime(t *testing.T) {
	at := time.Date(2026, 2, 3, 4, 5, 6, 999_999_999, time.UTC)
	for at, want := range map[time.Time]string{
		at:                                 "3.2.2026 kl. 04:05:06",
		at.In(time.FixedZone("", -5*3600)): "3.2.2026 kl. 04:05:06",
		signedAt:                           "22.11.2026 kl. 14:32:07",
		{}:                                 "",
	} {
		if got := formatTime(at); got != want {
			t.Errorf("%v: got %q, want %q", at, got, want)
		}
	}
}

func TestVisualOrder(t *testing.T) {
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
