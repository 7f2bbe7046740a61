package pades_test

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
)

// benchFiles are what is signed against the clock: much in few objects, many objects, and
// more than anybody would want to hold in memory.
func benchFiles() map[string]pades.Document {
	return map[string]pades.Document{
		"22MB":    document(pdftest.Build(pdftest.Options{Pages: 4, Payload: 22_000_000})),
		"table":   document(pdftest.Build(pdftest.Options{Many: 50_000, Payload: 1_000_000})),
		"streams": document(pdftest.Build(pdftest.Options{Many: 50_000, Payload: 1_000_000, Kind: pdftest.Stream})),
		"1GB":     vast(1 << 30),
	}
}

// vastFile is a file with one long stream that is nowhere but in what ReadAt returns.
type vastFile struct {
	head, tail []byte
	payload    int64
}

// vast returns a document of a page and a stream of n bytes.
func vast(n int64) pades.Document {
	var head, tail bytes.Buffer
	var table bytes.Buffer
	head.WriteString("%PDF-1.7\n")
	for i, body := range []string{
		"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] >>", fmt.Sprintf("<< /Length %d >>\nstream\n", n),
	} {
		fmt.Fprintf(&table, "%010d 00000 n \n", head.Len())
		fmt.Fprintf(&head, "%d 0 obj\n%s", i+1, body)
		if i < 3 {
			head.WriteString("\nendobj\n")
		}
	}
	tail.WriteString("\nendstream\nendobj\n")
	at := int64(head.Len()+tail.Len()) + n
	fmt.Fprintf(&tail, "xref\n0 5\n0000000000 65535 f \n%strailer\n<< /Size 5 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", table.String(), at)
	return pades.Document{
		ReaderAt: vastFile{head.Bytes(), tail.Bytes(), n},
		Size:     int64(head.Len()+tail.Len()) + n,
	}
}

func (f vastFile) ReadAt(b []byte, at int64) (int, error) {
	done := 0
	for done < len(b) {
		n := f.part(b[done:], at+int64(done))
		if n == 0 {
			return done, io.EOF
		}
		done += n
	}
	return done, nil
}

func (f vastFile) part(b []byte, at int64) int {
	if at < int64(len(f.head)) {
		return copy(b, f.head[at:])
	}
	at -= int64(len(f.head))
	if at < f.payload {
		n := min(int64(len(b)), f.payload-at)
		clear(b[:n])
		return int(n)
	}
	if at -= f.payload; at >= int64(len(f.tail)) {
		return 0
	}
	return copy(b, f.tail[at:])
}

// BenchmarkSign signs files and reports the time as a multiple of the least that can be
// done: hashing the file once, one signature, and writing the appended bytes. Both are
// measured in the same run, in turns, so that whatever else the machine does weighs on both.
func BenchmarkSign(b *testing.B) {
	p := newPerson(b, newAuthority(b), rsaKey(b, 3072))
	for name, doc := range benchFiles() {
		b.Run(name, func(b *testing.B) { benchmarkSign(b, p, doc) })
	}
}

func benchmarkSign(b *testing.B, p person, doc pades.Document) {
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
		r, err := pades.Sign(b.Context(), doc, p.key, p.signer, pades.Options{}, ades.Sources{})
		if err != nil {
			b.Fatal(err)
		}
		appended = r.Bytes
		write(appended)
	}
	buffer := make([]byte, 256<<10)
	floor := func() time.Duration {
		began := time.Now()
		sum := sha256.New()
		if _, err := io.CopyBuffer(struct{ io.Writer }{sum}, io.NewSectionReader(doc, 0, doc.Size), buffer); err != nil {
			b.Fatal(err)
		}
		if _, err := p.key.Sign(rand.Reader, sum.Sum(nil), crypto.SHA256); err != nil {
			b.Fatal(err)
		}
		write(appended)
		return time.Since(began)
	}
	sign() // once for the caches
	b.SetBytes(doc.Size)
	inTurns(b, sign, floor)
	b.ReportMetric(float64(len(appended)), "appended-B")
}

// median is the time that half of the rounds take: what else the machine did meanwhile
// does not count.
func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// BenchmarkPyHanko lets pyHanko sign the same files, for comparison: "s-each" is its median
// for one, without the start of Python.
func BenchmarkPyHanko(b *testing.B) {
	python := testenv.Tool(b, "pyhanko/bin/python")
	p := newPerson(b, newAuthority(b), rsaKey(b, 3072))
	key, cert := writeKey(b, p)
	for name, doc := range benchFiles() {
		b.Run(name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), name+".pdf")
			writeDocument(b, path, doc)
			script := filepath.Join(testenv.Root(b), ".ci", "pyhanko", "sign.py")
			output, err := exec.Command(python, script, "--key", key, "--cert", cert, "--runs", "3", path).Output()
			if err != nil {
				b.Fatalf("pyHanko: %v", err)
			}
			var timed struct{ Seconds float64 }
			if err := json.Unmarshal(output, &timed); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(timed.Seconds, "s-each")
			b.ReportMetric(0, "ns/op") // how long all of it took says nothing
		})
	}
}

func writeKey(t testing.TB, p person) (key, cert string) {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(p.key)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("key.pem", "PRIVATE KEY", der), write("cert.pem", "CERTIFICATE", p.signer.Certificate.Raw)
}

func writeDocument(t testing.TB, path string, doc pades.Document) {
	t.Helper()
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, io.NewSectionReader(doc, 0, doc.Size)); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// Files are read through a window and never copied: 22 MB with at most 4 MB allocated, and
// 1 GB with less than 64 MB.
func TestSigningTakesLittleMemory(t *testing.T) {
	p := newPerson(t, newAuthority(t), rsaKey(t, 3072))
	for name, most := range map[string]uint64{"22MB": 4 << 20, "1GB": 4 << 20, "table": 12 << 20, "streams": 12 << 20} {
		doc := benchFiles()[name]
		n := testenv.Allocated(func() {
			if _, err := pades.Sign(t.Context(), doc, p.key, p.signer, pades.Options{}, ades.Sources{}); err != nil {
				t.Fatal(err)
			}
		})
		t.Logf("figure: %s: %d bytes allocated", name, n)
		if n > most {
			t.Errorf("%s: %d bytes allocated, more than %d", name, n, most)
		}
	}
}
