package agreement

import "testing"

// What passes here has to pass with EU DSS, signature by signature and as a whole.
func TestPassesTooMuch(t *testing.T) {
	passed, later := verdict{"", "TOTAL_PASSED", ""}, verdict{"", "INDETERMINATE", "TRY_LATER"}
	failed := verdict{"", "TOTAL_FAILED", "HASH_FAILURE"}
	for name, test := range map[string]struct {
		r    result
		want bool
	}{
		"both pass":                         {result{theirs: []verdict{passed}, ours: []verdict{passed}, passed: true}, false},
		"both want more":                    {result{theirs: []verdict{later}, ours: []verdict{later}, passed: true}, false},
		"EU DSS wants more":                 {result{theirs: []verdict{later}, ours: []verdict{passed}}, true},
		"EU DSS fails":                      {result{theirs: []verdict{failed}, ours: []verdict{passed}}, true},
		"EU DSS fails what may pass later":  {result{theirs: []verdict{failed}, ours: []verdict{later}, passed: true}, true},
		"EU DSS passes more":                {result{theirs: []verdict{passed, passed}, ours: []verdict{passed, failed}}, false},
		"another one fails":                 {result{theirs: []verdict{passed, failed}, ours: []verdict{failed, passed}}, true},
		"EU DSS sees none":                  {result{ours: []verdict{passed}}, true},
		"EU DSS sees one more, that passes": {result{theirs: []verdict{passed, passed}, ours: []verdict{passed}}, false},
		"EU DSS sees one more, that fails":  {result{theirs: []verdict{passed, failed}, ours: []verdict{passed}}, true},
	} {
		if got := test.r.passesTooMuch(); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The table shows each difference once, below the title of its run.
func TestTable(t *testing.T) {
	a := result{file: "a.pdf", theirs: []verdict{{"F", "TOTAL_PASSED", ""}}, ours: []verdict{{"F", "TOTAL_PASSED", ""}}}
	b := result{file: "b.pdf", theirs: []verdict{{"F", "TOTAL_PASSED", ""}}}
	run := Run{Title: "One", Reasons: map[string]Reason{"b.pdf": {Here, "Because."}}, Verdicts: 0.5, Formats: 0.5}
	table := Comparison{Title: "T"}.newTable()
	table.add(run, []result{a, b})
	const want = "| b.pdf | F TOTAL_PASSED | nothing to report on | here | Because. |\n"
	if len(table.rows) != 1 || table.rows[0] != "One\n"+want {
		t.Errorf("%q", table.rows)
	}
	page := table.page.String()
	if sectionOf(page, "One") == "" || sectionOf(page, "Two") != "" {
		t.Errorf("%q", page)
	}
	if share := shareOf([]result{a, b}, result.sameVerdicts); share != 0.5 {
		t.Error(share)
	}
}
