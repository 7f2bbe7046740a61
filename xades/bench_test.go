package xades_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/xades"
)

// BenchmarkDocuments signs documents of 10 and 30 MB at levels B and LT, verifies them, signs them a second time, and
// raises them to LTA, from file to file. The medians are multiples of one pass of SHA-256 over the same bytes, and of
// the time that xmlsec1 takes for the same file in the same run, as often in one process, where it has a comparable
// operation. CPU is the time of all processors as a multiple of that of the pass, which the load of the machine changes
// less. heap is the largest heap, garbage included, as a multiple of the file that is read.
//
// With INNSIGLI_FULL=1 it fails if it is slower than xmlsec1, if signing takes the time of more than 8 passes at B or 12
// at LT, or if the heap is more than 1.6 times the document.
func BenchmarkDocuments(b *testing.B) {
	p := newPerson(b, catest.New(b), certtest.NewRSAKey(b, 3072))
	for _, k := range packings {
		for _, size := range []int{10_000_000, 30_000_000} {
			b.Run(fmt.Sprintf("%s/%dMB", k.name, size/1_000_000), func(b *testing.B) {
				f := newBenchFolder(b, p, k, size)
				b.Run("sign", func(b *testing.B) {
					f.measure(b, "in.xml", 8, func() { f.sign(b, "in.xml", "signed.xml") },
						"--sign", "--privkey-pem", f.path("key.pem"), "--output", f.path("foreign.xml"), f.path("template.xml"))
				})
				b.Run("sign LT", func(b *testing.B) {
					f.measure(b, "in.xml", 12, func() { f.signAt(b, ades.LT, "in.xml", "signed-lt.xml") })
				})
				b.Run("verify", func(b *testing.B) {
					f.measure(b, "signed.xml", 0, func() { f.verify(b) },
						"--verify", "--enabled-key-data", "x509", "--trusted-pem", f.path("root.pem"), f.path("signed.xml"))
				})
				b.Run("sign again", func(b *testing.B) { f.measure(b, "signed.xml", 0, func() { f.sign(b, "signed.xml", "again.xml") }) })
				b.Run("LTA", func(b *testing.B) { f.measure(b, "signed.xml", 0, func() { f.archive(b) }) })
			})
		}
	}
}

// benchFolder has a document and its signed forms as files.
type benchFolder struct {
	person  person
	packing packing
	folder  string
}

func newBenchFolder(b *testing.B, p person, packing packing, size int) benchFolder {
	b.Helper()
	f := benchFolder{p, packing, b.TempDir()}
	document := invoice(size)
	writeFile(b, f.path("in.xml"), document)
	writeFile(b, f.path("template.xml"), f.template(document))
	key, err := x509.MarshalPKCS8PrivateKey(p.key)
	if err != nil {
		b.Fatal(err)
	}
	writeFile(b, f.path("key.pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))
	writeFile(b, f.path("root.pem"), p.ca.RootPEM())
	f.sign(b, "in.xml", "signed.xml")
	return f
}

func (f benchFolder) path(name string) string { return filepath.Join(f.folder, name) }

// invoice returns a document of about that many bytes, with elements in two namespaces, attributes and text.
func invoice(size int) []byte {
	var out bytes.Buffer
	out.WriteString(declaration + "\n" + `<inv:Invoice xmlns:inv="urn:example:invoice" xmlns="urn:example:common">` + "\n")
	for i := 0; out.Len() < size; i++ {
		fmt.Fprintf(&out, "  <inv:Line number=\"%d\" unit=\"klst.\">\n    <Name language=\"is\">Þjónusta &amp; ráðgjöf %d</Name>\n"+
			"    <Amount currency=\"ISK\">%d</Amount>\n    <Note>Unnið samkvæmt samningi, sjá fylgiskjal %d.</Note>\n  </inv:Line>\n", i, i, i*100, i)
	}
	out.WriteString("</inv:Invoice>\n")
	return out.Bytes()
}

// template returns what xmlsec1 signs: the document with a signature without values. Its reference is that of this
// package, without the one to properties.
func (f benchFolder) template(document []byte) []byte {
	signature := func(uri, filter string) string {
		return `<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:SignedInfo>` +
			`<ds:CanonicalizationMethod Algorithm="` + exclusiveMethod + `"/><ds:SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"/>` +
			`<ds:Reference URI="` + uri + `"><ds:Transforms>` + filter + exclusiveTransform + `</ds:Transforms>` + sha256Method + `<ds:DigestValue/></ds:Reference>` +
			`</ds:SignedInfo><ds:SignatureValue/>` + signatureEnd
	}
	if f.packing.packing == xades.Enveloped {
		end := bytes.LastIndex(document, []byte("</"))
		return slices.Concat(document[:end], []byte(signature("", filterTransform)), document[end:])
	}
	_, root, _ := bytes.Cut(document, []byte("\n"))
	return []byte(`<internally-detached><signed-document Id="signed">` + string(root) + `</signed-document>` + signature("#signed", "") + `</internally-detached>`)
}

// open returns a document that is read from its file.
func (f benchFolder) open(b *testing.B, name string) (doc xades.Document, file *os.File) {
	b.Helper()
	file, err := os.Open(f.path(name))
	if err != nil {
		b.Fatal(err)
	}
	stat, err := file.Stat()
	if err != nil {
		b.Fatal(err)
	}
	return xades.Document{ReaderAt: file, Size: stat.Size()}, file
}

func (f benchFolder) sign(b *testing.B, from, to string) { f.signAt(b, ades.B, from, to) }

func (f benchFolder) signAt(b *testing.B, level ades.Level, from, to string) {
	b.Helper()
	doc, file := f.open(b, from)
	defer file.Close()
	options, sources := f.packing.options(), ades.Sources{}
	if options.Level = level; level > ades.B {
		sources = f.person.ca.Sources(nil)
	}
	revision, err := xades.Sign(b.Context(), doc, f.person.key, f.person.signer, options, sources)
	if err != nil {
		b.Fatal(err)
	}
	f.save(b, to, doc.With(revision))
}

func (f benchFolder) archive(b *testing.B) {
	b.Helper()
	doc, file := f.open(b, "signed.xml")
	defer file.Close()
	revisions, err := xades.Extender{Sources: f.person.ca.Sources(nil)}.ExtendLast(b.Context(), doc, ades.LTA)
	if err != nil {
		b.Fatal(err)
	}
	for _, r := range revisions {
		doc = doc.With(r)
	}
	f.save(b, "archived.xml", doc)
}

func (f benchFolder) verify(b *testing.B) {
	b.Helper()
	doc, file := f.open(b, "signed.xml")
	defer file.Close()
	report, err := xades.Verify(b.Context(), doc, ades.VerifyOptions{Roots: f.person.ca.Roots()})
	if err != nil || !report.Passed() {
		b.Fatalf("%v, %+v", err, report)
	}
}

func (f benchFolder) save(b *testing.B, name string, doc xades.Document) {
	b.Helper()
	out, err := os.Create(f.path(name))
	if err != nil {
		b.Fatal(err)
	}
	buffered := bufio.NewWriterSize(out, 1<<20)
	if _, err := io.Copy(buffered, io.NewSectionReader(doc, 0, doc.Size)); err != nil {
		b.Fatal(err)
	}
	if err := buffered.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := out.Close(); err != nil {
		b.Fatal(err)
	}
}

// measure reports the time and heap of an operation that reads a file. Signing may take the time of most passes; 0: there
// is no limit. xmlsec1, if its arguments are given, does the same as often in one process, so that its start counts once.
func (f benchFolder) measure(b *testing.B, name string, most float64, operation func(), xmlsec1 ...string) {
	heap := testenv.PeakHeap(operation)
	content := readFile(b, f.path(name))
	var took, pass []time.Duration
	var used, usedByPass time.Duration
	processor := func(total *time.Duration, f func()) func() {
		return func() {
			before := testenv.ProcessorTime(b)
			f()
			*total += testenv.ProcessorTime(b) - before
		}
	}
	operation = processor(&used, operation)
	sha256Pass := processor(&usedByPass, func() { sha256.Sum256(content) })
	b.ResetTimer()
	for b.Loop() {
		took = append(took, since(operation))
		b.StopTimer()
		pass = append(pass, since(sha256Pass))
		b.StartTimer()
	}
	b.StopTimer()
	passes := float64(median(took)) / float64(median(pass))
	b.ReportMetric(passes, "SHA-256")
	b.ReportMetric(float64(used)/float64(usedByPass), "CPU")
	b.ReportMetric(float64(heap)/float64(len(content)), "heap")
	if testenv.Full() && heap > 16*uint64(len(content))/10 {
		b.Errorf("a heap of %d bytes for %d", heap, len(content))
	}
	if testenv.Full() && most > 0 && passes > most {
		b.Errorf("the time of %.1f passes of SHA-256, and at most %.0f are allowed", passes, most)
	}
	if len(xmlsec1) == 0 || f.packing.packing == xades.Enveloping { // xmlsec1 takes as long for it as in a container
		return
	}
	foreign := f.xmlsec1(b, len(took), xmlsec1...)
	b.ReportMetric(float64(median(took))/float64(foreign), "xmlsec1")
	if testenv.Full() && median(took) > foreign {
		b.Errorf("got %v, xmlsec1 takes %v", median(took), foreign)
	}
}

// xmlsec1 returns how long xmlsec1 takes for an operation that it does several times in one process.
func (f benchFolder) xmlsec1(b *testing.B, times int, arguments ...string) time.Duration {
	arguments = slices.Concat(arguments[:1], []string{"--repeat", strconv.Itoa(times), "--id-attr:Id", "signed-document"}, arguments[1:])
	return since(func() {
		if out, err := exec.Command(testenv.Program(b, "xmlsec1"), arguments...).CombinedOutput(); err != nil {
			b.Fatalf("xmlsec1 %s: %v\n%s", arguments[0], err, out)
		}
	}) / time.Duration(times)
}

func since(f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began)
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
