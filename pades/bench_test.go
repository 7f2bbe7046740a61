package pades_test

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/sha256"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/innsigli/innsigli/internal/pdftest"
	"github.com/innsigli/innsigli/pades"
)

// BenchmarkSign signs a 22 MB file and reports the time as a multiple of the least
// that can be done: hashing the file once, one signature, and writing the appended
// bytes. Both are measured in the same run, in turns, so that whatever else the
// machine does weighs on both.
func BenchmarkSign(b *testing.B) {
	p := newPerson(b, newAuthority(b), rsaKey(b, 3072))
	content := pdftest.Build(pdftest.Options{Pages: 4, Payload: 22_000_000})
	out, err := os.Create(filepath.Join(b.TempDir(), "appended"))
	if err != nil {
		b.Fatal(err)
	}
	defer out.Close()
	write := func(appended []byte) {
		if _, err := out.WriteAt(appended, 0); err != nil {
			b.Fatal(err)
		}
	}
	var appended []byte
	sign := func() {
		r, err := pades.Sign(b.Context(), pades.Document{ReaderAt: bytes.NewReader(content), Size: int64(len(content))}, p.key, p.signer, pades.Options{})
		if err != nil {
			b.Fatal(err)
		}
		appended = r.Bytes
		write(appended)
	}
	floor := func() {
		sum := sha256.Sum256(content)
		if _, err := p.key.Sign(rand.Reader, sum[:], crypto.SHA256); err != nil {
			b.Fatal(err)
		}
		write(appended)
	}
	sign() // once for the caches
	b.SetBytes(int64(len(content)))
	b.ReportAllocs()
	var signing, least time.Duration
	for b.Loop() {
		began := time.Now()
		sign()
		signing += time.Since(began)
		b.StopTimer()
		began = time.Now()
		floor()
		least += time.Since(began)
		b.StartTimer()
	}
	b.ReportMetric(float64(signing)/float64(least), "x-floor")
	b.ReportMetric(float64(len(appended)), "appended-B")
}

// Signing a 22 MB file allocates at most 4 MB: the file is read through a window and
// never copied.
func TestSigningTakesLittleMemory(t *testing.T) {
	p := newPerson(t, newAuthority(t), rsaKey(t, 3072))
	content := pdftest.Build(pdftest.Options{Pages: 4, Payload: 22_000_000})
	doc := document(content)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := pades.Sign(t.Context(), doc, p.key, p.signer, pades.Options{}); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20 {
		t.Errorf("%d bytes allocated", n)
	}
}
