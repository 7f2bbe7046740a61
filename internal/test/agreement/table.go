package agreement

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// table is the page in docs, and the rows that have to be in it.
type table struct {
	page strings.Builder
	rows []string
}

func (c Comparison) newTable() *table {
	t := new(table)
	fmt.Fprintf(&t.page, "# %s\n\n%s\n", c.Title, strings.TrimSpace(c.Preamble))
	return t
}

func (t *table) add(r Run, results []result) {
	fmt.Fprintf(&t.page, "\n## %s\n\n", r.Title)
	if about := strings.TrimSpace(r.About); about != "" {
		fmt.Fprintf(&t.page, "%s\n\n", about)
	}
	fmt.Fprintf(&t.page, "| | files | of | | at least |\n|---|---|---|---|---|\n")
	figure := func(name string, such func(result) bool, least float64) {
		promise := ""
		if least > 0 {
			promise = fmt.Sprintf("%.0f %%", 100*least)
		}
		fmt.Fprintf(&t.page, "| %s | %d | %d | %.1f %% | %s |\n", name, countOf(results, such), len(results), 100*shareOf(results, such), promise)
	}
	if r.Classes != nil {
		figure("equal indication and sub-indication, word for word", result.sameVerdicts, 0)
	}
	figure("equal indication and sub-indication", r.equal(), r.Verdicts)
	figure("equal format and level", result.sameFormats, r.Formats)
	fmt.Fprintf(&t.page, "| passed here, and not by EU DSS | %d | %d | | none |\n", countOf(results, result.passesTooMuch), len(results))
	if r.Classes != nil {
		t.addClasses(r, results)
		return
	}
	fmt.Fprintf(&t.page, "\n| File | EU DSS | Here | Right | Why |\n|---|---|---|---|---|\n")
	for _, one := range results {
		if one.same() {
			continue
		}
		row := one.row(r.Reasons[one.file])
		t.rows = append(t.rows, r.Title+"\n"+row)
		t.page.WriteString(row)
	}
}

// row is one difference.
func (r result) row(why Reason) string {
	return fmt.Sprintf("| %s | %s | %s | %s | %s |\n", strings.ReplaceAll(r.file, "|", `\|`), cell(r.theirs), cell(r.ours), why.Right, why.Why)
}

func cell(verdicts []verdict) string {
	if len(verdicts) == 0 {
		return "nothing to report on"
	}
	var lines []string
	for len(verdicts) > 0 {
		n := 1
		for n < len(verdicts) && verdicts[n] == verdicts[0] {
			n++
		}
		line := verdicts[0].String()
		if n > 1 {
			line = fmt.Sprintf("%d × %s", n, line)
		}
		lines, verdicts = append(lines, line), verdicts[n:]
	}
	return strings.Join(lines, "<br>")
}

// settle writes the page, or makes sure that what was found is in the one that is there.
func (t *table) settle(tb testing.TB, name string) {
	tb.Helper()
	if testenv.Full() {
		testenv.WriteTable(tb, name, []byte(t.page.String()))
		return
	}
	written, err := os.ReadFile(filepath.Join(testenv.Root(tb), "docs", name))
	if err != nil {
		tb.Fatal(err)
	}
	for _, titled := range t.rows {
		title, row, _ := strings.Cut(titled, "\n")
		if !strings.Contains(sectionOf(string(written), title), row) {
			tb.Errorf("docs/%s does not say so (INNSIGLI_FULL=1 writes it):\n%s: %s", name, title, row)
		}
	}
}

// sectionOf is what stands below a heading.
func sectionOf(page, title string) string {
	_, below, _ := strings.Cut(page, "\n## "+title+"\n")
	section, _, _ := strings.Cut(below, "\n## ")
	return section
}
