package pades_test

import (
	"path/filepath"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/test/validators"
)

// BenchmarkDSSLevels and BenchmarkPyHankoLevels have others sign the files of
// BenchmarkLevels with the same key at the same authority, which they can ask over HTTP
// alone. "s-each" is the median of five for one, without the start of the program.
func BenchmarkDSSLevels(b *testing.B) { benchmarkForeign(b, validators.DSSSign) }

func BenchmarkPyHankoLevels(b *testing.B) { benchmarkForeign(b, validators.PyHankoSign) }

func benchmarkForeign(b *testing.B, sign foreignSigner) {
	options := foreignOptions(b, newAuthority(b), rsaKey(b, 3072))
	options.Runs = 5
	for _, level := range []ades.Level{ades.LT, ades.LTA} {
		options.Level = level.String()
		for name, doc := range levelBenchFiles() {
			b.Run(level.String()+"/"+name, func(b *testing.B) {
				path := filepath.Join(b.TempDir(), name+".pdf")
				writeDocument(b, path, doc)
				b.ReportMetric(sign(b, options, path)[0].Seconds, "s-each")
				b.ReportMetric(0, "ns/op") // how long all of it took says nothing
			})
		}
	}
}
