package agreement

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// equal is what the share of equal indications and sub-indications is of.
func (r Run) equal() func(result) bool {
	if r.Classes == nil {
		return result.sameVerdicts
	}
	return result.sameFacts
}

// classOf is the first class that a difference belongs to; -1: there is none.
func (r Run) classOf(one result) int {
	theirs, ours := one.named().difference()
	return slices.IndexFunc(r.Classes, func(c Class) bool {
		matches, err := path.Match(c.Files, one.file)
		return err == nil && matches && c.EUDSS == theirs && c.Here == ours
	})
}

// difference is what is said of the first signature about which the two differ; nothing where only the formats do.
func (r result) difference() (theirs, ours string) {
	at := func(all []verdict, i int) string {
		if i >= len(all) {
			return "nothing to report on"
		}
		return strings.TrimSpace(all[i].judged().String())
	}
	for i := range max(len(r.theirs), len(r.ours)) {
		if theirs, ours := at(r.theirs, i), at(r.ours, i); theirs != ours {
			return theirs, ours
		}
	}
	return "", ""
}

// checkClasses wants a class for every difference, and, where all files are compared, a difference for every class.
func (r Run) checkClasses(t *testing.T, results []result) {
	t.Helper()
	found := make([]bool, len(r.Classes))
	for _, one := range results {
		if one.named().same() {
			continue
		}
		if i := r.classOf(one); i >= 0 {
			found[i] = true
		} else {
			t.Errorf("%s: %s: it is of no class.\n\tEU DSS %v\n\there   %v", r.Title, one.file, one.theirs, one.ours)
		}
	}
	for i, c := range r.Classes {
		if testenv.Full() && !found[i] {
			t.Errorf("%s: no difference is of the class %q, %s, %s", r.Title, c.Files, c.EUDSS, c.Here)
		}
	}
}

// addClasses adds the table of the classes: a row and how many files it is of.
func (t *table) addClasses(r Run, results []result) {
	fmt.Fprintf(&t.page, "\n| Files | EU DSS | Here | Right | Why | |\n|---|---|---|---|---|---|\n")
	count := make([]int, len(r.Classes))
	for _, one := range results {
		if i := r.classOf(one); i >= 0 && !one.named().same() {
			count[i]++
		}
	}
	for i, c := range r.Classes {
		if count[i] == 0 {
			continue
		}
		theirs, ours := c.EUDSS, c.Here
		if theirs == "" {
			theirs, ours = "a format or level", "another"
		}
		row := fmt.Sprintf("| %s | %s | %s | %s | %s |", strings.ReplaceAll(c.Files, "*", `\*`), theirs, ours, c.Right, c.Why)
		t.rows = append(t.rows, r.Title+"\n"+row)
		fmt.Fprintf(&t.page, "%s %d |\n", row, count[i])
	}
}
