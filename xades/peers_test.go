package xades_test

import (
	"crypto"
	"crypto/rand"
	"crypto/sha256"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/test/adestest"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	"github.com/innsigli/innsigli/internal/test/validators"
)

// signSizes are the documents of BenchmarkSign.
var signSizes = []struct {
	name  string
	bytes int
}{{"100KB", 100_000}, {"1MB", 1_000_000}, {"22MB", 22_000_000}}

// BenchmarkSign signs documents at level B, enveloped, from file to file. It reports the time as a multiple of the least
// that has to be done: hashing the document once, and one signature.
func BenchmarkSign(b *testing.B) {
	p := newPerson(b, catest.New(b), certtest.NewRSAKey(b, 3072))
	for _, size := range signSizes {
		b.Run(size.name, func(b *testing.B) {
			f := newBenchFolder(b, p, packings[0], size.bytes)
			content := readFile(b, f.path("in.xml"))
			var took, least []time.Duration
			for b.Loop() {
				took = append(took, since(func() { f.sign(b, "in.xml", "signed.xml") }))
				b.StopTimer()
				least = append(least, since(func() {
					sum := sha256.Sum256(content)
					if _, err := p.key.Sign(rand.Reader, sum[:], crypto.SHA256); err != nil {
						b.Fatal(err)
					}
				}))
				b.StartTimer()
			}
			b.ReportMetric(float64(median(took))/float64(median(least)), "x-floor")
			b.ReportMetric(float64(median(least)), "floor-ns")
		})
	}
}

// BenchmarkDSS and BenchmarkSignXML have EU DSS and signxml sign the same documents. "s-each" is the median of five,
// without the start of the program.
func BenchmarkDSS(b *testing.B) { benchmarkForeign(b, validators.DSSSign) }

func BenchmarkSignXML(b *testing.B) { benchmarkForeign(b, validators.SignXML) }

func benchmarkForeign(b *testing.B, sign func(testing.TB, validators.SignOptions, ...string) []validators.SignedFile) {
	p := newPerson(b, catest.New(b), certtest.NewRSAKey(b, 3072))
	options := adestest.SignOptions(b, p.ca, p.key)
	options.Level, options.Packaging, options.Runs = ades.B.String(), "ENVELOPED", 5
	for _, size := range signSizes {
		b.Run(size.name, func(b *testing.B) {
			f := newBenchFolder(b, p, packings[0], size.bytes)
			b.ReportMetric(sign(b, options, f.path("in.xml"))[0].Seconds, "s-each")
			b.ReportMetric(0, "ns/op") // the time of the whole program is of no interest
		})
	}
}

// BenchmarkXMLSec has xmlsec1 sign the same documents. "s-each" is the mean of five in one process, whose start counts.
func BenchmarkXMLSec(b *testing.B) {
	p := newPerson(b, catest.New(b), certtest.NewRSAKey(b, 3072))
	for _, size := range signSizes {
		b.Run(size.name, func(b *testing.B) {
			f := newBenchFolder(b, p, packings[0], size.bytes)
			b.ReportMetric(f.xmlsec1(b, 5, "--sign", "--privkey-pem", f.path("key.pem"), "--output", f.path("foreign.xml"), f.path("template.xml")).Seconds(), "s-each")
			b.ReportMetric(0, "ns/op")
		})
	}
}
