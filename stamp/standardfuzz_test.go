package stamp

import (
	"strings"
	"testing"
	"time"
)

// Any text can be read, and makes a file of one page, with every character inside the stamp.
func FuzzStandard(f *testing.F) {
	for _, name := range names {
		f.Add(name, "0101302989", "Undirritun", signedAt.Unix())
	}
	f.Add("\u0301\u0301i\u0302 א\u0301ב \u202e-\xff\x00", "٠-", strings.Repeat("g\u0323", 600), int64(-1<<62))
	f.Add("O\u0308 \u202e\xff", "", "", int64(0))
	f.Fuzz(func(t *testing.T, name, kennitala, reason string, at int64) {
		for _, s := range []string{name, kennitala, reason} {
			checkReadable(t, s)
		}
		text := Text{name, kennitala, time.Unix(at, 0), reason}
		checkPage(t, standard(t, text))
		checkInside(t, layOut(t, text))
	})
}

func BenchmarkStandard(b *testing.B) {
	for b.Loop() {
		if _, err := Standard(named("Þórður Ægir Öðinsson")); err != nil {
			b.Fatal(err)
		}
	}
}
