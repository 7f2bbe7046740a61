package config

import (
	"bytes"
	"crypto/elliptic"
	"crypto/x509"
	"net/netip"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/ades/online"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// BenchmarkSources signs a small PDF at level LT and verifies it, with the sources of a configuration file. The authority
// answers over HTTP, from this process. cpu-ns/op is the processor time of both, with that of the authority. Each round has
// a signer that was never seen before (new), or always the same one (same). With kept, the chains of the authorities are
// kept, as in a server; with anew, each document verifies them anew.
func BenchmarkSources(b *testing.B) {
	ca := catest.New(b)
	url := catest.Serve(b, ca)
	live := new(liveSources)
	file := File{Roots: []*x509.Certificate{ca.Root()}, Intermediates: ca.Chain(), PrivateAddresses: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	file.authorities = []authority{{tsa: &online.TSA{URL: url + sandboxca.PathTimestamp, Intermediates: ca.Chain()}}}
	live.take(file)
	content := pdftest.Build(pdftest.Options{Payload: 10_000})
	key := certtest.NewKey(b, elliptic.P256())
	for _, row := range []struct {
		name       string
		kept, same bool
	}{{"same/kept", true, true}, {"same/anew", false, true}, {"new/kept", true, false}, {"new/anew", false, false}} {
		b.Run(row.name, func(b *testing.B) {
			signer := catest.IssueSigner(b, ca, key, time.Now())
			var took time.Duration
			for b.Loop() {
				if !row.same {
					signer = catest.IssueSigner(b, ca, key, time.Now())
				}
				sources := live.Sources()
				if !row.kept {
					sources.Chains = nil
				}
				began := testenv.ProcessorTime(b)
				document := pades.Document{ReaderAt: bytes.NewReader(content), Size: int64(len(content))}
				revision, err := pades.Sign(b.Context(), document, key, signer, pades.Options{Level: ades.LT}, sources)
				if err != nil {
					b.Fatal(err)
				}
				report, err := pades.Verify(b.Context(), document.With(revision), ades.VerifyOptions{Roots: sources.Roots, Chains: sources.Chains})
				took += testenv.ProcessorTime(b) - began
				if err != nil || !report.Passed() {
					b.Fatal(err, report)
				}
			}
			b.ReportMetric(float64(took)/float64(b.N), "cpu-ns/op")
		})
	}
}
