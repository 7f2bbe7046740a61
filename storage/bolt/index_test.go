package bolt

import (
	"bytes"
	"testing"
	"time"
)

func TestUnder(t *testing.T) {
	for name, test := range map[string]struct {
		prefix, key []byte
		holds       bool
	}{
		"the prefix":            {[]byte{1, 2}, []byte{1, 2}, true},
		"what begins with it":   {[]byte{1, 2}, []byte{1, 2, 0xff, 0xff}, true},
		"the next":              {[]byte{1, 2}, []byte{1, 3}, false},
		"a carry":               {[]byte{1, 0xff}, []byte{1, 0xff, 0xff}, true},
		"after a carry":         {[]byte{1, 0xff}, []byte{2}, false},
		"no end":                {[]byte{0xff, 0xff}, []byte{0xff, 0xff, 0xff}, true},
		"everything":            {nil, []byte{0xff, 0xff}, true},
		"a carry through zeros": {[]byte{0, 0xff, 0xff}, []byte{1, 0}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := under(test.prefix).holds(test.key); got != test.holds {
				t.Errorf("under(%x) holds %x: %v", test.prefix, test.key, got)
			}
		})
	}
}

func TestInstantsSortAsTimes(t *testing.T) {
	times := []time.Time{
		{},
		time.Unix(-1, 0),
		time.Unix(-1, 1000),
		time.Unix(0, 0),
		time.Unix(0, 1000),
		time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
		time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC),
	}
	for i, earlier := range times[:len(times)-1] {
		later := times[i+1]
		if bytes.Compare(instant(earlier), instant(later)) >= 0 {
			t.Errorf("%v is not before %v", earlier, later)
		}
		if before(later).holds(instant(later)) || !before(later).holds(instant(earlier)) {
			t.Errorf("before(%v)", later)
		}
		if !upTo(earlier).holds(instant(earlier)) || upTo(earlier).holds(instant(later)) {
			t.Errorf("upTo(%v)", earlier)
		}
	}
}

// No string's key is the beginning of another's, whatever the strings are: a
// client sees what is its account's and nothing of an account with a longer ID.
func FuzzText(f *testing.F) {
	f.Add("a", "ab")
	f.Add("", "\x00")
	f.Add("\x00\x00\x00\x01", "\x00")
	f.Add("\xff", "\xff\xff")
	f.Fuzz(func(t *testing.T, a, b string) {
		if held := under(text(a)).holds(append(text(b), 0)) && bytes.Compare(text(b), text(a)) >= 0; held != (a == b) {
			t.Errorf("%q is under %q: %v", b, a, held)
		}
	})
}
