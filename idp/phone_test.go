package idp

import "testing"

// A number in Iceland has seven digits, however it is written; what is none is told apart.
func TestLocalPhone(t *testing.T) {
	for phone, want := range map[string]string{
		"6990001":            "6990001",
		"699 0001":           "6990001",
		"699-0001":           "6990001",
		"699\u00a00001":      "6990001",
		"+354 699 0001":      "6990001",
		"00354-699-0001":     "6990001",
		"3546990":            "3546990",
		"354 699 0001":       "", // nobody writes it so, and seven digits may begin so
		"+354 00354 6990001": "",
		"+45 20 12 34 56":    "",
		"+354 69":            "",
		"699000x":            "",
		"٦٩٩٠٠٠١":            "",
		"":                   "",
	} {
		if got, ok := LocalPhone(phone); ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q, %v, want %q", phone, got, ok, want)
		}
	}
}
