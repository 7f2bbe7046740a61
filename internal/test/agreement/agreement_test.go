package agreement

import (
	"slices"
	"testing"

	"github.com/innsigli/innsigli/internal/test/validators"
)

// What passes here has to pass with EU DSS, signature by signature and as a whole.
func TestPassesTooMuch(t *testing.T) {
	passed, later := verdict{"", "TOTAL_PASSED", ""}, verdict{"", "INDETERMINATE", "TRY_LATER"}
	general := verdict{"", "INDETERMINATE", "CERTIFICATE_CHAIN_GENERAL_FAILURE"}
	failed := verdict{"", "TOTAL_FAILED", "HASH_FAILURE"}
	for name, test := range map[string]struct {
		r    result
		want bool
	}{
		"both pass":                            {result{theirs: []verdict{passed}, ours: []verdict{passed}, passed: true}, false},
		"both want more":                       {result{theirs: []verdict{later}, ours: []verdict{later}, passed: true}, false},
		"EU DSS has another name for that":     {result{theirs: []verdict{general}, ours: []verdict{later}, passed: true, lacking: []bool{true}}, false},
		"EU DSS wants something else too":      {result{theirs: []verdict{general}, ours: []verdict{later}, passed: true, lacking: []bool{false}}, true},
		"what lacks data with EU DSS, passing": {result{theirs: []verdict{general}, ours: []verdict{passed}, lacking: []bool{true}}, true},
		"EU DSS wants more":                    {result{theirs: []verdict{later}, ours: []verdict{passed}}, true},
		"EU DSS fails":                         {result{theirs: []verdict{failed}, ours: []verdict{passed}}, true},
		"EU DSS fails what may pass later":     {result{theirs: []verdict{failed}, ours: []verdict{later}, passed: true}, true},
		"EU DSS passes more":                   {result{theirs: []verdict{passed, passed}, ours: []verdict{passed, failed}}, false},
		"another one fails":                    {result{theirs: []verdict{passed, failed}, ours: []verdict{failed, passed}}, true},
		"EU DSS sees none":                     {result{ours: []verdict{passed}}, true},
		"EU DSS sees one more, that passes":    {result{theirs: []verdict{passed, passed}, ours: []verdict{passed}}, false},
		"EU DSS sees one more, that fails":     {result{theirs: []verdict{passed, failed}, ours: []verdict{passed}}, true},
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

// What one finds nothing in is equal only to what the other finds nothing in.
func TestSame(t *testing.T) {
	failed := verdict{"PDF-NOT-ETSI", "TOTAL_FAILED", "FORMAT_FAILURE"}
	for name, test := range map[string]struct {
		r                 result
		verdicts, formats bool
	}{
		"nothing":           {result{}, true, true},
		"nothing here":      {result{theirs: []verdict{failed}}, false, false},
		"nothing there":     {result{ours: []verdict{failed}}, false, false},
		"another format":    {result{theirs: []verdict{{"F", "TOTAL_FAILED", "FORMAT_FAILURE"}}, ours: []verdict{failed}}, true, false},
		"another verdict":   {result{theirs: []verdict{{"PDF-NOT-ETSI", "TOTAL_PASSED", ""}}, ours: []verdict{failed}}, false, true},
		"one more of these": {result{theirs: []verdict{failed}, ours: []verdict{failed, failed}}, false, false},
	} {
		if test.r.sameVerdicts() != test.verdicts || test.r.sameFormats() != test.formats {
			t.Errorf("%s: verdicts %v, formats %v", name, test.r.sameVerdicts(), test.r.sameFormats())
		}
	}
}

// EU DSS lacks revocation data alone where it says so and nothing else.
func TestLacking(t *testing.T) {
	finding := func(keys ...string) (s validators.DSSSignature) {
		for _, key := range keys {
			s.Errors = append(s.Errors, validators.Finding{Key: key})
		}
		return s
	}
	got := lackingOf(validators.DSSReport{Signatures: []validators.DSSSignature{
		finding("BBB_XCV_SUB_ANS", "BBB_XCV_IRDPFC_ANS"), finding("BBB_XCV_IARDPFC_ANS", "BBB_XCV_REVOC_ISSUER_KNOWN_ANS"), finding("BBB_XCV_SUB_ANS"), finding("BBB_XCV_IRDPFC_ANS", "BBB_CV_ISI_ANS"), finding(),
	}})
	if want := []bool{true, true, false, false, false}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A difference is of the first class that has its file and what is said of the first signature about which the two differ.
func TestClasses(t *testing.T) {
	passed, failed := verdict{"F", "TOTAL_PASSED", ""}, verdict{"F", "TOTAL_FAILED", "HASH_FAILURE"}
	later, general := verdict{"F", "INDETERMINATE", "TRY_LATER"}, verdict{"F", "INDETERMINATE", "CERTIFICATE_CHAIN_GENERAL_FAILURE"}
	run := Run{Classes: []Class{
		{Files: "* ~ value.pdf", EUDSS: "TOTAL_PASSED", Here: "TOTAL_FAILED/HASH_FAILURE"},
		{Files: "* ~ level.pdf"},
		{Files: "* ~ *", EUDSS: "nothing to report on", Here: "TOTAL_PASSED"},
	}}
	for name, test := range map[string]struct {
		r    result
		want int
	}{
		"the second differs":       {result{file: "a ~ value.pdf", theirs: []verdict{passed, passed}, ours: []verdict{passed, failed}}, 0},
		"another file":             {result{file: "a ~ key.pdf", theirs: []verdict{passed}, ours: []verdict{failed}}, -1},
		"other verdicts":           {result{file: "a ~ value.pdf", theirs: []verdict{failed}, ours: []verdict{passed}}, -1},
		"the format alone":         {result{file: "a ~ level.pdf", theirs: []verdict{{"G", "TOTAL_PASSED", ""}}, ours: []verdict{passed}}, 1},
		"the name of missing data": {result{file: "a ~ level.pdf", theirs: []verdict{general}, ours: []verdict{later}, lacking: []bool{true}}, 1},
		"not missing":              {result{file: "a ~ level.pdf", theirs: []verdict{general}, ours: []verdict{later}, lacking: []bool{false}}, -1},
		"none with EU DSS":         {result{file: "a ~ key.pdf", ours: []verdict{passed}}, 2},
	} {
		if got := run.classOf(test.r); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
	if r := (result{theirs: []verdict{general}, ours: []verdict{later}, lacking: []bool{true}}); r.sameVerdicts() || !r.sameFacts() {
		t.Error("missing data by another name")
	}
}
