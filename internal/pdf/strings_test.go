package pdf

import (
	"testing"
	"time"
	"unicode/utf8"
)

// TestTextString checks in which encoding a text string is written (7.9.2.2).
func TestTextString(t *testing.T) {
	for text, want := range map[string]string{
		"":              "()",
		"Reason 7":      "(Reason 7)",
		"a(b)\\\r\n\t":  `(a\(b\)\\\r\n\t)`,
		"Þór":           "<feff00de00f30072>", // UTF-16BE
		"😀":             "<feffd83dde00>",     // surrogates
		"\x18":          "<feff0018>",         // a control character
		"invalid \xff!": "<feff0069006e00760061006c006900640020fffd0021>",
	} {
		if got := string(TextString(text)); got != want {
			t.Errorf("TextString(%q) = %s, want %s", text, got, want)
		}
	}
}

// TestText checks the decoding of text strings in each encoding.
func TestText(t *testing.T) {
	for name, test := range map[string]struct {
		text String
		want string
	}{
		"empty":                        {"", ""},
		"7.9.2.2 PDFDocEncoding":       {"A\x80\x92\x93\xa0\xfe\x18\t", "A•™ﬁ€þ˘\t"},
		"D.3 undefined characters":     {"\x7f\x9f\xad", "\ufffd\ufffd\ufffd"},
		"7.9.2.2 UTF-16BE":             {"\xfe\xff\x00\xde\xd8\x3d\xde\x00", "Þ😀"},
		"UTF-16LE":                     {"\xff\xfe\xde\x00", "Þ"},
		"odd number of bytes":          {"\xfe\xff\x00A\x00", "A"},
		"lone surrogate":               {"\xfe\xff\xd8\x3d", "\ufffd"},
		"7.9.2.2 UTF-8":                {"\xef\xbb\xbfÞ\xff", "Þ\ufffd"},
		"7.9.2.2.2 language code":      {"\xef\xbb\xbfa\x1bis-IS\x1bb", "ab"},
		"language code without an end": {"\xef\xbb\xbfa\x1bis", "ais"},
	} {
		if got := Text(test.text); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

// FuzzText checks that a text and a name are the same after they are written and read.
func FuzzText(f *testing.F) {
	for _, seed := range []string{"Þór (1)\\", "a\r\nb", "\x1b\x18", "\xff\xfe", "A#20(/)%"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got := Text(String(text)); !utf8.ValidString(got) {
			t.Errorf("Text(%q) = %q, which is not UTF-8", text, got)
		}
		o := must(Parse(TextString(text)))
		expect(t, text, withoutLanguage(string([]rune(text))))(Text(o.(String)), nil) // the runes replace invalid UTF-8
		expect(t, "name", Name(text))(Parse(NameToken(Name(text))))
	})
}

// TestNameToken checks which characters of a name are written as number signs (7.3.5).
func TestNameToken(t *testing.T) {
	for name, want := range map[Name]string{
		"Sig": "/Sig", "": "/", "A B": "/A#20B", "A#20": "/A#2320", "a(/)%": "/a#28#2F#29#25", "\xff\x00": "/#FF#00",
	} {
		if got := string(NameToken(name)); got != want {
			t.Errorf("NameToken(%q) = %s, want %s", name, got, want)
		}
	}
}

// TestDateString checks that a date is written in UTC with seconds (7.9.4).
func TestDateString(t *testing.T) {
	at := time.Date(2026, 11, 21, 1, 2, 3, 999, time.FixedZone("", 2*60*60))
	if got, want := string(DateString(at)), "(D:20261120230203+00'00')"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestParseDate checks the forms of a date string (7.9.4) and of the relation to UTC.
func TestParseDate(t *testing.T) {
	date := func(year int, month time.Month, fields ...int) time.Time {
		f := append(fields, make([]int, 5)...) // day, hour, minute, second, offset in minutes
		return time.Date(year, month, f[0], f[1], f[2], f[3], 0, time.FixedZone("", 60*f[4]))
	}
	for text, want := range map[String]time.Time{
		"D:199812231952-08'00'":        date(1998, 12, 23, 19, 52, 0, -8*60),
		"D:20260102030405+05'30":       date(2026, 1, 2, 3, 4, 5, 5*60+30),
		"D:20260102030405+01":          date(2026, 1, 2, 3, 4, 5, 60),
		"D:20260102030405Z00'00'":      date(2026, 1, 2, 3, 4, 5),
		"D:20261120230203+00'00'":      date(2026, 11, 20, 23, 2, 3),
		"D:2026":                       date(2026, 1, 1),
		"D:202602031122":               date(2026, 2, 3, 11, 22),
		"20260203":                     date(2026, 2, 3),
		"\xfe\xff\x002\x000\x002\x006": date(2026, 1, 1),
	} {
		if got, err := ParseDate(text); err != nil || !got.Equal(want) {
			t.Errorf("ParseDate(%q) = %v, error %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []String{
		"", "D:202", "D:20261", "D:20261301", "D:20260230", "D:2026010124", "D:202601010060", "D:20260101000060",
		"D:202601020304050", "D:20260102030405+1", "D:20260102030405*01'00'", "D:20260102030405+24'00'",
		"D:20260102030405+01'60'", "D:20260102030405+ab'cd'",
	} {
		if got, err := ParseDate(text); err == nil {
			t.Errorf("ParseDate(%q) = %v, want an error", text, got)
		}
	}
}

// FuzzParseDate checks that a date is the same after it is written and read.
func FuzzParseDate(f *testing.F) {
	for _, seed := range []string{"D:20261120230203+00'00'", "2026", "D:199812231952-08'00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at, err := ParseDate(String(text))
		if year := at.UTC().Year(); err != nil || year < 0 || year > 9999 { // the offset can change the year
			return
		}
		o := must(Parse(DateString(at)))
		if again, err := ParseDate(o.(String)); err != nil || !again.Equal(at) {
			t.Errorf("%q is %v, and after writing %v, error %v", text, at, again, err)
		}
	})
}
