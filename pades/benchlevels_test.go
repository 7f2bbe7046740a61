package pades_test

import (
	"crypto"
	"crypto/rand"
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
)

// levelBenchFiles are what is signed and extended against the clock: what most documents
// are like, much in few objects, and many objects.
func levelBenchFiles() map[string]pades.Document {
	files := benchFiles()
	return map[string]pades.Document{
		"100KB":   document(pdftest.Build(pdftest.Options{Pages: 4, Payload: 100_000})),
		"22MB":    files["22MB"],
		"streams": files["streams"],
	}
}

// BenchmarkLevels signs files, extends them and reports the time as a multiple of the least
// that can be done: hashing all bytes once, one signature, the same questions to the same
// authority, each signature verified once that is under its answers and the certificates
// they are about, and writing the appended bytes. The authority answers within the process,
// so that no network hides what is added. Each round has a signer who was never seen before.
func BenchmarkLevels(b *testing.B) {
	p := newPerson(b, newAuthority(b), rsaKey(b, 3072))
	files := levelBenchFiles()
	for _, level := range []ades.Level{ades.LT, ades.LTA} {
		for name, doc := range files {
			b.Run(level.String()+"/"+name, func(b *testing.B) { benchmarkLevel(b, p, doc, level) })
		}
	}
}

func benchmarkLevel(b *testing.B, p person, doc pades.Document, level ades.Level) {
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
	heard := &questions{tb: b, ca: p.ca, Sources: p.ca.Sources(nil)}
	appended := signAndExtend(b, p, doc, level, heard.sources()) // and once for the caches
	sources, next := p.ca.Sources(nil), p
	ours := func() { write(signAndExtend(b, next, doc, level, sources)) }
	buffer := make([]byte, 256<<10)
	floor := func() time.Duration {
		began := time.Now()
		sum := sha256.New()
		if _, err := io.CopyBuffer(struct{ io.Writer }{sum}, io.NewSectionReader(doc, 0, doc.Size), buffer); err != nil {
			b.Fatal(err)
		}
		sum.Write(appended)
		if _, err := p.key.Sign(rand.Reader, sum.Sum(nil), crypto.SHA256); err != nil {
			b.Fatal(err)
		}
		for _, ask := range heard.again {
			if err := ask(); err != nil {
				b.Fatal(err)
			}
		}
		write(appended)
		took := time.Since(began)
		next = newPerson(b, p.ca, p.key)
		return took
	}
	b.SetBytes(doc.Size)
	inTurns(b, ours, floor)
	b.ReportMetric(float64(len(appended)), "appended-B")
	b.ReportMetric(float64(len(heard.again)), "requests")
}

// inTurns measures two things in turns and reports by how much one is slower.
func inTurns(b *testing.B, ours func(), floor func() time.Duration) {
	b.ReportAllocs()
	var all, least []time.Duration
	for b.Loop() {
		began := time.Now()
		ours()
		all = append(all, time.Since(began))
		b.StopTimer()
		least = append(least, floor())
		b.StartTimer()
	}
	b.ReportMetric(float64(median(all))/float64(median(least)), "x-floor")
	b.ReportMetric(float64(median(least)), "floor-ns")
}

// signAndExtend returns all that a document grows by on its way to a level.
func signAndExtend(t testing.TB, p person, doc pades.Document, level ades.Level, s ades.Sources) []byte {
	t.Helper()
	pending, err := pades.Prepare(t.Context(), doc, p.signer, pades.Options{Level: level})
	if err != nil {
		t.Fatal(err)
	}
	signed, err := pending.Sign(t.Context(), p.key, s.Time)
	if err != nil {
		t.Fatal(err)
	}
	revisions, err := pades.Extender{Sources: s}.ExtendLast(t.Context(), doc.With(signed), level)
	if err != nil {
		t.Fatal(err)
	}
	appended := signed.Bytes
	for _, r := range revisions {
		appended = append(appended, r.Bytes...)
	}
	return appended
}

// The document is not copied on its way to LTA: a longer one takes a buffer more to read, and
// nothing in proportion to its length.
func TestExtendingTakesLittleMemory(t *testing.T) {
	p := newPerson(t, newAuthority(t), rsaKey(t, 3072))
	files := levelBenchFiles()
	allocated := func(name string) int64 {
		n := testenv.Allocated(func() { signAndExtend(t, p, files[name], ades.LTA, p.ca.Sources(nil)) })
		t.Logf("figure: %s to LTA: %d bytes allocated", name, n)
		return int64(n)
	}
	allocated("100KB") // what is allocated once
	if more := allocated("22MB") - allocated("100KB"); more > 1<<20 {
		t.Errorf("22 MB take %d bytes more than 100 KB", more)
	}
}
