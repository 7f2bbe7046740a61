package report_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades/report"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// The samples in docs/verifying.md are what the program writes. INNSIGLI_GOLDEN=1 writes them.
func TestPaper(t *testing.T) {
	path := filepath.Join(testenv.Root(t), "docs", "verifying.md")
	paper, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := report.Of("contract.pdf", contract(newScene(t, "Jóna Jónsdóttir")))
	samples := [][]byte{}
	for _, l := range []report.Language{report.English, report.Icelandic} {
		var text bytes.Buffer
		if err := d.Text(&text, l); err != nil {
			t.Fatal(err)
		}
		samples = append(samples, text.Bytes())
	}
	n := 0
	written := regexp.MustCompile("(?ms)^```text\n.*?^```$").ReplaceAllFunc(paper, func(block []byte) []byte {
		if n++; n > len(samples) {
			return block
		}
		return []byte("```text\n" + string(samples[n-1]) + "```")
	})
	if n != len(samples) {
		t.Errorf("%d samples, want %d", n, len(samples))
	}
	if os.Getenv("INNSIGLI_GOLDEN") == "1" {
		if err := os.WriteFile(path, written, 0o666); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(string(paper), string(written)); diff != "" {
		t.Errorf("-paper +program:\n%s", diff)
	}
}
