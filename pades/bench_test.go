package pades_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/cms"
	"github.com/innsigli/innsigli/internal/pki/ocsp"
	"github.com/innsigli/innsigli/internal/pki/tsp"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/pades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
	rfc6960 "golang.org/x/crypto/ocsp"
)

// benchFiles returns files of few objects, files of many objects or pages, and one that is too long for memory.
func benchFiles() map[string]pades.Document {
	return map[string]pades.Document{
		"100KB":   document(pdftest.Build(pdftest.Options{Pages: 4, Payload: 100_000})),
		"1MB":     document(pdftest.Build(pdftest.Options{Pages: 4, Payload: 1_000_000})),
		"pages":   document(pdftest.Build(pdftest.Options{Pages: 3000, Payload: 1_000_000})),
		"22MB":    document(pdftest.Build(pdftest.Options{Pages: 4, Payload: 22_000_000})),
		"table":   document(pdftest.Build(pdftest.Options{Many: 50_000, Payload: 1_000_000})),
		"streams": document(pdftest.Build(pdftest.Options{Many: 50_000, Payload: 1_000_000, Kind: pdftest.Stream})),
		"1GB":     vast(1 << 30),
	}
}

// levelBenchFiles returns files to be extended: one as long as most documents are, a long one, and one of many objects.
func levelBenchFiles() map[string]pades.Document {
	files := benchFiles()
	return map[string]pades.Document{"100KB": files["100KB"], "22MB": files["22MB"], "streams": files["streams"]}
}

// vast returns a document of one page and a stream of n zero bytes, which are not in memory.
func vast(n int64) pades.Document {
	var head, tail, table bytes.Buffer
	head.WriteString("%PDF-1.7\n")
	for i, body := range []string{
		"<< /Type /Catalog /Pages 2 0 R >>\nendobj\n", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>\nendobj\n",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] >>\nendobj\n", fmt.Sprintf("<< /Length %d >>\nstream\n", n),
	} {
		fmt.Fprintf(&table, "%010d 00000 n \n", head.Len())
		fmt.Fprintf(&head, "%d 0 obj\n%s", i+1, body)
	}
	tail.WriteString("\nendstream\nendobj\n")
	at := int64(head.Len()+tail.Len()) + n
	fmt.Fprintf(&tail, "xref\n0 5\n0000000000 65535 f \n%strailer\n<< /Size 5 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", table.String(), at)
	return pades.Document{
		ReaderAt: vastFile{head.Bytes(), tail.Bytes(), n},
		Size:     int64(head.Len()+tail.Len()) + n,
	}
}

// vastFile is a file with zero bytes between head and tail.
type vastFile struct {
	head, tail []byte
	zeros      int64
}

func (f vastFile) ReadAt(b []byte, at int64) (done int, err error) {
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
	if at < f.zeros {
		n := min(int64(len(b)), f.zeros-at)
		clear(b[:n])
		return int(n)
	}
	return copy(b, f.tail[min(at-f.zeros, int64(len(f.tail))):])
}

// inTurns measures ours and the least that has to be done in turns, so that other load of the machine affects both. It
// reports the ratio of the medians.
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

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// hashed returns a function that computes the digest of a document and of what was appended.
func hashed(b *testing.B, doc pades.Document) func(appended []byte) []byte {
	buffer := make([]byte, 256<<10)
	return func(appended []byte) []byte {
		sum := sha256.New()
		if _, err := io.CopyBuffer(struct{ io.Writer }{sum}, io.NewSectionReader(doc, 0, doc.Size), buffer); err != nil {
			b.Fatal(err)
		}
		sum.Write(appended)
		return sum.Sum(nil)
	}
}

// writer returns a function that writes what was appended to a file.
func writer(b *testing.B) func(appended []byte) {
	out, err := os.Create(filepath.Join(b.TempDir(), "appended"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { out.Close() })
	return func(appended []byte) {
		if _, err := out.WriteAt(appended, 0); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSign signs files. It reports the time as a multiple of the least that has to be done: hashing the file
// once, one signature, and writing the appended bytes.
func BenchmarkSign(b *testing.B) {
	p := newPerson(b, catest.New(b), certtest.NewRSAKey(b, 3072))
	files := benchFiles()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		doc := files[name]
		b.Run(name, func(b *testing.B) {
			hash, write := hashed(b, doc), writer(b)
			var appended []byte
			sign := func() {
				r, err := pades.Sign(b.Context(), doc, p.key, p.signer, pades.Options{}, ades.Sources{})
				if err != nil {
					b.Fatal(err)
				}
				appended = r.Bytes
				write(appended)
			}
			floor := func() time.Duration {
				began := time.Now()
				if _, err := p.key.Sign(rand.Reader, hash(nil), crypto.SHA256); err != nil {
					b.Fatal(err)
				}
				write(appended)
				return time.Since(began)
			}
			sign() // fills the caches
			b.SetBytes(doc.Size)
			inTurns(b, sign, floor)
			b.ReportMetric(float64(len(appended)), "appended-B")
		})
	}
}

// BenchmarkPyHanko has pyHanko sign the same files: "s-each" is the median for one, without the start of Python.
func BenchmarkPyHanko(b *testing.B) {
	p := newPerson(b, catest.New(b), certtest.NewRSAKey(b, 3072))
	key, cert := writeKey(b, p)
	files := benchFiles()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		doc := files[name]
		b.Run(name, func(b *testing.B) {
			script := filepath.Join(testenv.Root(b), ".ci", "pyhanko", "sign.py")
			output := python(b, nil, script, "--key", key, "--cert", cert, "--runs", "3", writeDocument(b, name, doc))
			var timed struct{ Seconds float64 }
			if err := json.Unmarshal(output, &timed); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(timed.Seconds, "s-each")
			b.ReportMetric(0, "ns/op") // the time of the whole program is of no interest
		})
	}
}

// BenchmarkDSS has EU DSS sign the same files, except the one that is too long for an array of Java: "s-each" is the
// median of five, without the start of the program.
func BenchmarkDSS(b *testing.B) {
	options := foreignOptions(b, catest.New(b), certtest.NewRSAKey(b, 3072))
	options.Level, options.Runs = ades.B.String(), 5
	files := benchFiles()
	delete(files, "1GB")
	for _, name := range slices.Sorted(maps.Keys(files)) {
		doc := files[name]
		b.Run(name, func(b *testing.B) {
			b.ReportMetric(validators.DSSSign(b, options, writeDocument(b, name, doc))[0].Seconds, "s-each")
			b.ReportMetric(0, "ns/op") // the time of the whole program is of no interest
		})
	}
}

func writeDocument(t testing.TB, name string, doc pades.Document) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name+".pdf")
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
	return path
}

// TestSigningTakesLittleMemory signs files that are read through a window and never copied.
func TestSigningTakesLittleMemory(t *testing.T) {
	p := newPerson(t, catest.New(t), certtest.NewRSAKey(t, 3072))
	files := benchFiles()
	for name, most := range map[string]uint64{"22MB": 4 << 20, "1GB": 4 << 20, "table": 12 << 20, "streams": 12 << 20} {
		n := testenv.Allocated(func() {
			if _, err := pades.Sign(t.Context(), files[name], p.key, p.signer, pades.Options{}, ades.Sources{}); err != nil {
				t.Fatal(err)
			}
		})
		t.Logf("figure: %s: %d bytes allocated", name, n)
		if n > most {
			t.Errorf("%s: %d bytes allocated, more than %d", name, n, most)
		}
	}
}

// BenchmarkLevels signs files and extends them. It reports the time as a multiple of the least that has to be done:
// hashing all bytes once, one signature, the same requests to the same authority, one verification of each signature
// in its responses and in the certificates that they are about, and writing the appended bytes. The authority answers
// within the process. Each round has a new signer, and the chains of the authorities are cached, as in a server.
func BenchmarkLevels(b *testing.B) {
	p := newPerson(b, catest.New(b), certtest.NewRSAKey(b, 3072))
	for _, level := range []ades.Level{ades.LT, ades.LTA} {
		for name, doc := range levelBenchFiles() {
			b.Run(level.String()+"/"+name, func(b *testing.B) { benchmarkLevel(b, p, doc, level) })
		}
	}
}

func benchmarkLevel(b *testing.B, p person, doc pades.Document, level ades.Level) {
	hash, write := hashed(b, doc), writer(b)
	recorded := &recorder{tb: b, ca: p.ca, Sources: p.ca.Sources(nil)}
	appended := signAndExtend(b, p, doc, level, recorded.sources())
	sources, next := p.ca.Sources(nil), p
	sources.Chains = new(ades.Chains) // as a server has it
	signAndExtend(b, p, doc, level, sources)
	ours := func() { write(signAndExtend(b, next, doc, level, sources)) }
	floor := func() time.Duration {
		began := time.Now()
		if _, err := p.key.Sign(rand.Reader, hash(appended), crypto.SHA256); err != nil {
			b.Fatal(err)
		}
		for _, repeat := range recorded.requests {
			if err := repeat(); err != nil {
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
	b.ReportMetric(float64(len(recorded.requests)), "requests")
}

// signAndExtend returns all bytes that a document grows by on its way to a level.
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

// recorder asks an authority. It keeps each request as a function that repeats it, and that verifies the signatures of
// the response and of the certificate that it is about.
type recorder struct {
	ades.Sources
	tb       testing.TB
	ca       *sandboxca.Authority
	requests []func() error
}

func (r *recorder) sources() ades.Sources {
	return ades.Sources{Time: r, Revocation: r, Issuers: r.Issuers, Roots: r.Roots}
}

// Timestamp implements [ades.Timestamper].
func (r *recorder) Timestamp(ctx context.Context, h crypto.Hash, sum []byte) ([]byte, error) {
	token, err := r.Time.Timestamp(ctx, h, sum)
	if err != nil {
		return nil, err
	}
	request := r.encoded(tsp.Request{Hash: h, Sum: sum, Nonce: big.NewInt(1 << 62), Certificates: true}.Marshal())
	signed, err := cms.ParseEncapsulated(token, asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 1, 4}) // id-ct-TSTInfo
	if err != nil {
		r.tb.Fatal(err)
	}
	by, err := signed.Signer()
	if err != nil {
		r.tb.Fatal(err)
	}
	r.requests = append(r.requests, func() error {
		r.ca.Timestamp(request, time.Now())
		return by.CheckSignature(x509.ECDSAWithSHA256, signed.SignedAttributes, signed.Value)
	})
	return token, nil
}

// Revocation implements [ades.Revocation].
func (r *recorder) Revocation(ctx context.Context, cert, issuer *x509.Certificate, notBefore time.Time) (ades.RevocationData, error) {
	proof, err := r.Sources.Revocation.Revocation(ctx, cert, issuer, notBefore)
	r.requests = append(r.requests, func() error { return cert.CheckSignatureFrom(issuer) })
	switch {
	case err != nil:
		return proof, err
	case proof.CRL != nil:
		r.requests = append(r.requests, r.list(proof.CRL, issuer))
	default:
		r.requests = append(r.requests, r.response(proof.OCSP, cert, issuer))
	}
	return proof, nil
}

func (r *recorder) list(der []byte, issuer *x509.Certificate) func() error {
	list, err := x509.ParseRevocationList(der)
	if err != nil {
		r.tb.Fatal(err)
	}
	return func() error {
		if _, err := r.ca.RootCRL(time.Now()); err != nil {
			return err
		}
		return list.CheckSignatureFrom(issuer)
	}
}

func (r *recorder) response(der []byte, cert, issuer *x509.Certificate) func() error {
	response, err := rfc6960.ParseResponseForCert(der, cert, issuer)
	if err != nil {
		r.tb.Fatal(err)
	}
	request := r.encoded(ocsp.NewRequest(cert, issuer, crypto.SHA256, make([]byte, 32)).Marshal())
	return func() error {
		r.ca.OCSP(request, time.Now())
		if err := response.CheckSignatureFrom(response.Certificate); err != nil {
			return err
		}
		return response.Certificate.CheckSignatureFrom(issuer)
	}
}

func (r *recorder) encoded(der []byte, err error) []byte {
	if err != nil {
		r.tb.Fatal(err)
	}
	return der
}

// BenchmarkDSSLevels and BenchmarkPyHankoLevels have EU DSS and pyHanko sign the files of BenchmarkLevels with the same
// kind of key at the same kind of authority, over HTTP. "s-each" is the median of five, without the start of the program.
func BenchmarkDSSLevels(b *testing.B) { benchmarkForeign(b, validators.DSSSign) }

func BenchmarkPyHankoLevels(b *testing.B) { benchmarkForeign(b, validators.PyHankoSign) }

func benchmarkForeign(b *testing.B, sign foreignSigner) {
	options := foreignOptions(b, catest.New(b), certtest.NewRSAKey(b, 3072))
	options.Runs = 5
	for _, level := range []ades.Level{ades.LT, ades.LTA} {
		options.Level = level.String()
		for name, doc := range levelBenchFiles() {
			b.Run(level.String()+"/"+name, func(b *testing.B) {
				b.ReportMetric(sign(b, options, writeDocument(b, name, doc))[0].Seconds, "s-each")
				b.ReportMetric(0, "ns/op") // the time of the whole program is of no interest
			})
		}
	}
}

// TestExtendingTakesLittleMemory extends documents of 100 KB and 22 MB to LTA. The longer one takes one buffer more,
// and nothing in proportion to its length.
func TestExtendingTakesLittleMemory(t *testing.T) {
	p := newPerson(t, catest.New(t), certtest.NewRSAKey(t, 3072))
	files := levelBenchFiles()
	allocated := func(name string) int64 {
		n := testenv.Allocated(func() { signAndExtend(t, p, files[name], ades.LTA, p.ca.Sources(nil)) })
		t.Logf("figure: %s to LTA: %d bytes allocated", name, n)
		return int64(n)
	}
	allocated("100KB") // some memory is allocated once
	if more := allocated("22MB") - allocated("100KB"); more > 1<<20 {
		t.Errorf("22 MB take %d bytes more than 100 KB", more)
	}
}

// The document that worked returns.
const (
	workedSignatures = 20
	workedRevisions  = 50
)

// worked returns a document of 22 MB with twenty signatures of level T and five extensions to LTA. Between them, and
// until there are 50 revisions, a field is filled in.
func worked(t testing.TB, p person, kind pdftest.Kind, payload int) []byte {
	t.Helper()
	b := pdftest.Build(pdftest.Options{
		Kind: kind, Pages: 4, Payload: payload, Many: 2000,
		Catalog: "/AcroForm 100 0 R", Page: "/Annots [101 0 R]",
		Objects: []string{
			"<< /Fields [101 0 R] /DA (/Helv 0 Tf) >>",
			"<< /FT /Tx /T (Notes) /V () /Type /Annot /Subtype /Widget /Rect [10 10 20 20] /P 10 0 R >>",
		},
	})
	for i := range workedSignatures {
		if i > 0 {
			b = filled(t, b, 101, fmt.Sprintf("(%d)", i))
		}
		b = signFor(t, b, p, ades.T)
		if i%4 == 3 {
			b = extend(t, b, ades.LTA, p.ca.Sources(nil))
		}
	}
	revisions, err := open(t, b).Revisions()
	if err != nil {
		t.Fatal(err)
	}
	for n := len(revisions); n < workedRevisions; n++ {
		b = filled(t, b, 101, fmt.Sprintf("(at last %d)", n))
	}
	return b
}

// TestVerifyingReadsLittle verifies a document with 20 signatures and 50 revisions. It is read three times at most, and
// 20 MB are allocated at most.
func TestVerifyingReadsLittle(t *testing.T) {
	p := newPerson(t, catest.New(t), p256(t))
	for _, kind := range pdftest.Kinds {
		b := worked(t, p, kind, 22_000_000)
		source := &counted{ReaderAt: bytes.NewReader(b)}
		var report *ades.Report
		allocated := testenv.Allocated(func() {
			var err error
			report, err = pades.Verify(t.Context(), pades.Document{ReaderAt: source, Size: int64(len(b))}, ades.VerifyOptions{Roots: p.ca.Roots()})
			if err != nil {
				t.Fatal(err)
			}
		})
		for _, s := range report.Signatures {
			if s.Indication != ades.TotalPassed && s.SubIndication != ades.TryLater {
				t.Errorf("%s: %v", s.Name, s.Problems)
			}
		}
		read := source.bytes.Load()
		t.Logf("figure: %s: %d signatures, %d bytes read of %d, in %d reads, %d MB allocated", kind, len(report.Signatures), read, len(b), source.reads.Load(), allocated>>20)
		if len(report.Signatures) != workedSignatures || read > 3*int64(len(b)) || allocated > 20<<20 {
			t.Errorf("%s: %d signatures, %d bytes read of %d, %d MB allocated", kind, len(report.Signatures), read, len(b), allocated>>20)
		}
	}
}

// BenchmarkVerify verifies the same document. It reports the time as a multiple of that of hashing the document once.
func BenchmarkVerify(b *testing.B) {
	p := newPerson(b, catest.New(b), p256(b))
	for _, kind := range pdftest.Kinds {
		b.Run(string(kind), func(b *testing.B) {
			doc := document(worked(b, p, kind, 22_000_000))
			hash := hashed(b, doc)
			ours := func() {
				if _, err := pades.Verify(b.Context(), doc, ades.VerifyOptions{Roots: p.ca.Roots()}); err != nil {
					b.Fatal(err)
				}
			}
			floor := func() time.Duration {
				began := time.Now()
				hash(nil)
				return time.Since(began)
			}
			ours()
			b.SetBytes(doc.Size)
			inTurns(b, ours, floor)
		})
	}
}

// TestBombs verifies documents that are made to take much memory or time. None passes, and what is read and allocated
// is bounded. BenchmarkBombs measures time and memory.
func TestBombs(t *testing.T) {
	p := newPerson(t, catest.New(t), p256(t))
	for _, b := range bombs(t, p, 5) {
		source := &counted{ReaderAt: bytes.NewReader(b.bytes)}
		allocated := testenv.Allocated(func() {
			report, err := pades.Verify(t.Context(), pades.Document{ReaderAt: source, Size: int64(len(b.bytes))}, ades.VerifyOptions{Roots: p.ca.Roots()})
			if err == nil && report.Passed() {
				t.Errorf("%s passes", b.name)
			}
		})
		read := source.bytes.Load()
		t.Logf("%s: %d KB read of %d KB, %d MB allocated", b.name, read>>10, len(b.bytes)>>10, allocated>>20)
		if read > 60*int64(len(b.bytes)) || allocated > 350<<20 {
			t.Errorf("%s: %d KB are read of %d KB, and %d MB allocated", b.name, read>>10, len(b.bytes)>>10, allocated>>20)
		}
	}
}

// BenchmarkBombs verifies whole bombs. A document of 1 MB takes at most five seconds to verify, and 200 MB.
func BenchmarkBombs(b *testing.B) {
	p := newPerson(b, catest.New(b), p256(b))
	for _, bomb := range bombs(b, p, 1) {
		b.Run(bomb.name, func(b *testing.B) {
			if len(bomb.bytes) > mostOfABomb {
				b.Errorf("it has %d bytes, more than %d", len(bomb.bytes), mostOfABomb)
			}
			testenv.Bounded(b, 5*time.Second, 200<<20, func() {
				_, _ = pades.Verify(b.Context(), document(bomb.bytes), ades.VerifyOptions{Roots: p.ca.Roots()})
			})
		})
	}
}
