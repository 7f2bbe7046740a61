package inspect_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/pades/inspect"
)

// inspected is a foreign file with its warnings.
type inspected struct {
	name     string
	size     int
	took     time.Duration
	warnings []inspect.Warning
}

// TestCorpus inspects the foreign PDFs, and writes how many are warned of what.
func TestCorpus(t *testing.T) {
	files := testenv.Expected(t, "pdf")
	if !testenv.Full() {
		files = files[:min(len(files), 200)]
	}
	var all []inspected
	for _, f := range files {
		content, err := os.ReadFile(f.Path)
		testenv.NoError(t, err)
		began := time.Now()
		warnings, err := inspect.PDF(t.Context(), bytes.NewReader(content), int64(len(content)))
		if err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
		all = append(all, inspected{f.Name, len(content), time.Since(began), warnings}) // time: written to the table alone
	}
	if len(all) < 200 {
		t.Errorf("%d files", len(all))
	}
	testenv.WriteTable(t, "warnings.md", warningsTable(all))
}

// warningsTable is docs/warnings.md.
func warningsTable(files []inspected) []byte {
	var warned int
	slowest := slices.MaxFunc(files, func(a, b inspected) int { return int(a.took - b.took) })
	rows := map[inspect.Code][]string{}
	for _, f := range files {
		if len(f.warnings) > 0 {
			warned++
		}
		for _, code := range inspect.Codes() {
			if i := slices.IndexFunc(f.warnings, func(w inspect.Warning) bool { return w.Code == code }); i >= 0 {
				w := f.warnings[i]
				where := "document"
				if w.Page > 0 {
					where = fmt.Sprintf("page %d", w.Page)
				}
				rows[code] = append(rows[code], fmt.Sprintf("| %s | %s | %s |\n", f.name, where, w.Detail))
			}
		}
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, `# Foreign files and their warnings

Written by `+"`.ci/full`"+`. The files are the PDFs that pdf.js tests itself with, many of them broken on purpose or made to show a
rare feature. What each kind of warning means is in [Warnings about a document](explanation/warnings.md).

**%d of %d files have a warning.** None took longer than %v.

| kind | files |
|---|---|
`, warned, len(files), roundUp(slowest.took))
	for _, code := range inspect.Codes() {
		if code != inspect.PageNotShown {
			fmt.Fprintf(&out, "| %s | %d |\n", code, len(rows[code]))
		}
	}
	for _, code := range inspect.Codes() {
		if len(rows[code]) > 0 {
			fmt.Fprintf(&out, "\n## %s\n\n| file | first place | warning |\n|---|---|---|\n%s", code, strings.Join(rows[code], ""))
		}
	}
	return out.Bytes()
}

// roundUp returns the next of a few durations, so that the table does not change with each run.
func roundUp(d time.Duration) time.Duration {
	for _, limit := range []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second} {
		if d <= limit {
			return limit
		}
	}
	return d.Round(time.Second)
}
