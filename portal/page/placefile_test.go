package page

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
)

// What people are told of the length of a file.
func TestSizeOfFile(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int64]string{
		1: "(PDF, 1 kB)", 999: "(PDF, 1 kB)", 1001: "(PDF, 2 kB)", 999_999: "(PDF, 1000 kB)",
		1_000_000: "(PDF, 1,0 MB)", 1_999_999: "(PDF, 1,9 MB)", 22_460_000: "(PDF, 22,4 MB)",
	} {
		size := sizeOf(bytes)
		if got := words.text("is", size.Key, "n", size.Whole, "tenth", size.Tenth); got != want {
			t.Errorf("%d: %s, want %s", bytes, got, want)
		}
	}
}

// The fingerprint that is shown is that of the file that is downloaded, with each signature.
func TestPlaceTellsHash(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.users()
	v := s.process()
	for i, who := range []string{annas, jons, valas} {
		b := s.browser(who)
		file := b.get(of(v, i, "/document"))
		sum := sha256.Sum256([]byte(file.body))
		if shown := b.get(of(v, i)); file.status != http.StatusOK || !strings.Contains(shown.body, hex.EncodeToString(sum[:])) {
			t.Error(file.status, shown.text())
		}
		if i < 2 {
			s.signs(v, i, who)
		}
	}
}
