package pdf

import (
	"testing"
	"time"
	"unicode/utf8"
)

func TestTextString(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"ASCII is a literal string": {"Reason 7", "(Reason 7)"},
		"empty":                     {"", "()"},
		"escapes":                   {"a(b)\\\r\n\t", `(a\(b\)\\\r\n\t)`},
		"others are UTF-16BE":       {"Þór", "<feff00de00f30072>"},
		"surrogates":                {"😀", "<feffd83dde00>"},
		"controls are UTF-16BE":     {"\x18", "<feff0018>"},
		"invalid UTF-8":             {"a\xff", "<feff0061fffd>"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := string(TextString(test.text)); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

func TestText(t *testing.T) {
	tests := map[string]struct {
		bytes String
		want  string
	}{
		"7.9.2.2 PDFDocEncoding":        {"A\x80\x92\x93\xa0\xfe\x18\t", "A•™ﬁ€þ˘\t"},
		"D.3 undefined characters":      {"\x7f\x9f\xad", "\ufffd\ufffd\ufffd"},
		"7.9.2.2 UTF-16BE":              {"\xfe\xff\x00\xde\xd8\x3d\xde\x00", "Þ😀"},
		"UTF-16LE":                      {"\xff\xfe\xde\x00", "Þ"},
		"odd number of bytes":           {"\xfe\xff\x00A\x00", "A"},
		"lone surrogate":                {"\xfe\xff\xd8\x3d", "\ufffd"},
		"7.9.2.2 UTF-8":                 {"\xef\xbb\xbfÞ\xff", "Þ\ufffd"},
		"7.9.2.2.2 language codes":      {"\xef\xbb\xbfa\x1bis-IS\x1bb", "ab"},
		"language code without its end": {"\xef\xbb\xbfa\x1bis", "ais"},
		"empty":                         {"", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Text(test.bytes); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func FuzzText(f *testing.F) {
	for _, seed := range []string{"Þór (1)\\", "a\r\nb", "\x1b\x18", "\xff\xfe"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(Text(String(text))) {
			t.Fatalf("%q is no valid text", Text(String(text)))
		}
		o, err := Parse(TextString(text))
		if err != nil {
			t.Fatal(err)
		}
		want := string([]rune(text)) // invalid UTF-8 is replaced
		if got := Text(o.(String)); got != withoutLanguage(want) {
			t.Fatalf("%q came back as %q", want, got)
		}
	})
}

func TestNameToken(t *testing.T) {
	for name, want := range map[Name]string{
		"Sig": "/Sig", "": "/", "A B": "/A#20B", "A#20": "/A#2320", "a(/)%": "/a#28#2F#29#25", "\xff\x00": "/#FF#00",
	} {
		if got := string(NameToken(name)); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}

func TestDateString(t *testing.T) {
	at := time.Date(2026, 11, 21, 1, 2, 3, 999, time.FixedZone("", 2*60*60))
	if got, want := string(DateString(at)), "(D:20261120230203+00'00')"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestParseDate(t *testing.T) {
	zone := func(seconds int) *time.Location { return time.FixedZone("", seconds) }
	tests := map[string]struct {
		text String
		want time.Time
	}{
		"7.9.4 complete":           {"D:199812231952-08'00'", time.Date(1998, 12, 23, 19, 52, 0, 0, zone(-8*3600))},
		"7.9.4 without last mark":  {"D:20260102030405+05'30", time.Date(2026, 1, 2, 3, 4, 5, 0, zone(5*3600+30*60))},
		"7.9.4 hours only":         {"D:20260102030405+01", time.Date(2026, 1, 2, 3, 4, 5, 0, zone(3600))},
		"7.9.4 UTC":                {"D:20260102030405Z", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
		"UTC with an offset":       {"D:20260102030405Z00'00'", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
		"7.9.4 year only":          {"D:2026", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)},
		"7.9.4 no seconds":         {"D:202602031122", time.Date(2026, 2, 3, 11, 22, 0, 0, time.UTC)},
		"without prefix":           {"20260203", time.Date(2026, 2, 3, 0, 0, 0, 0, time.UTC)},
		"as a UTF-16 text string":  {"\xfe\xff\x002\x000\x002\x006", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)},
		"what DateString has made": {"D:20261120230203+00'00'", time.Date(2026, 11, 20, 23, 2, 3, 0, time.UTC)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseDate(test.text)
			if err != nil || !got.Equal(test.want) {
				t.Errorf("%v, error %v; want %v", got, err, test.want)
			}
		})
	}
	for _, text := range []String{
		"", "D:", "D:202", "D:20261", "D:20261301", "D:20260230", "D:2026010124", "D:202601010060", "D:20260101000060",
		"D:20260102030405+1", "D:20260102030405*01'00'", "D:20260102030405+24'00'", "D:20260102030405+01'60'",
		"D:20260102030405+ab'cd'", "D:202601020304050", "Monday",
	} {
		if got, err := ParseDate(text); err == nil {
			t.Errorf("%q is %v, want an error", text, got)
		}
	}
}

func FuzzParseDate(f *testing.F) {
	f.Add("D:20261120230203+00'00'")
	f.Add("2026")
	f.Add("D:199812231952-08'00")
	f.Fuzz(func(t *testing.T, text string) {
		at, err := ParseDate(String(text))
		if err != nil {
			return
		}
		o, err := Parse(DateString(at))
		if err != nil {
			t.Fatal(err)
		}
		if y := at.UTC().Year(); y < 0 || y > 9999 {
			return // an offset moved it out of what four digits can say
		}
		again, err := ParseDate(o.(String))
		if err != nil || !again.Equal(at) {
			t.Fatalf("%q is %v, and then %v, error %v", text, at, again, err)
		}
	})
}
