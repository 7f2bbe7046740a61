// Package agreement compares the verdicts of this project with those of EU DSS, file by file, and keeps the
// table of where they differ, with who is right and why. Only tests import it.
//
//	agreement.Comparison{
//		Table: "agreement-pdf.md", Title: "Agreement with EU DSS on PDF", Files: paths, Every: 12,
//		Runs: []agreement.Run{{Title: "No anchors", Verify: verify, Reasons: reasons, Verdicts: 0.9, Formats: 0.95}},
//	}.Check(t)
//
// Files that are generated, of which there are too many to list, have reasons by classes of differences ([Class]).
//
// A sample of the files is compared, or all of them under INNSIGLI_FULL=1, which also demands the shares
// and writes the table to docs. Whatever is compared, nothing may pass here that EU DSS does not pass, every
// difference has its reason, no reason stands for a file without one, and what the table in docs says is so.
package agreement

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
)

// Comparison is of the same files in one run or several.
type Comparison struct {
	Table    string // its name below docs
	Title    string
	Preamble string // in Markdown, what the files are and who validated them
	Files    []string
	Every    int // n: the sample is every n-th file
	Runs     []Run
}

// Run is one way in which both are asked about every file.
type Run struct {
	Title string
	About string // in Markdown: the anchors, the time and the policy
	DSS   validators.DSSOptions
	// Verify is what this project says of a file. An error stands for a file that has nothing to
	// report on, as for EU DSS.
	Verify func(t testing.TB, path string) (*ades.Report, error)
	// Reasons are the files about which the two differ, by their names without folders.
	Reasons map[string]Reason
	// Classes are the kinds of differences instead, of files of which there are too many to list.
	Classes []Class
	// Verdicts and Formats are the least shares of files with equal indications and sub-indications,
	// and with equal formats and levels.
	Verdicts, Formats float64
}

// Reason says why the two differ about a file.
type Reason struct {
	Right Side
	Why   string
}

// Side is who is right.
type Side string

const (
	Here     Side = "here"
	EUDSS    Side = "EU DSS"
	Arguable Side = "arguable" // the standard lets both say what they say
)

// Class is a kind of difference: what is done to a file, and what is said of the first signature about which the two
// differ. That EU DSS has another name for missing revocation data is no difference.
type Class struct {
	Files       string // a pattern of path.Match for their names
	EUDSS, Here string // "INDETERMINATE/TRY_LATER"; both empty: nothing but the format or its level
	Reason
}

// Check compares. It fails the test for whatever is not as the package comment says.
func (c Comparison) Check(t *testing.T) {
	t.Helper()
	files := c.Files
	if !testenv.Full() {
		files = sample(files, c.Every)
	}
	table := c.newTable()
	for _, r := range c.Runs {
		results := r.compare(t, files)
		if r.Classes == nil {
			r.checkReasons(t, results, c.Files)
		} else {
			r.checkClasses(t, results)
		}
		r.checkPasses(t, results)
		if testenv.Full() {
			r.checkShares(t, results)
		}
		table.add(r, results)
	}
	table.settle(t, c.Table)
}

// sample is every n-th of all.
func sample(all []string, n int) []string {
	var some []string
	for i := 0; i < len(all); i += max(n, 1) {
		some = append(some, all[i])
	}
	return some
}

// atOnce are the files that EU DSS is asked about in one question, for whose answer there is a limit.
const atOnce = 8

func (r Run) compare(t *testing.T, files []string) []result {
	t.Helper()
	var results []result
	for some := range slices.Chunk(files, atOnce) {
		for i, theirs := range validators.DSS(t, r.DSS, some...) {
			ours, err := r.Verify(t, some[i])
			if err != nil || ours == nil {
				ours = new(ades.Report)
			}
			checkProblems(t, some[i], ours)
			results = append(results, result{
				file:   filepath.Base(some[i]),
				theirs: ofDSS(theirs), lacking: lackingOf(theirs), ours: ofReport(ours), passed: ours.Passed(),
			})
		}
	}
	return results
}

// checkProblems wants a report to state why it has not passed, and each of its signatures too.
func checkProblems(t *testing.T, file string, r *ades.Report) {
	t.Helper()
	if r.Passed() != (len(r.Problems()) == 0) {
		t.Errorf("%s: passed %t, problems %q", file, r.Passed(), r.Problems())
	}
	for i := range r.Signatures {
		if s := &r.Signatures[i]; !s.Passed() && len(s.Problems)+len(s.Forbidden()) == 0 {
			t.Errorf("%s: signature %q has not passed, without a reason", file, s.Name)
		}
	}
}

// checkReasons wants a reason for every file about which the two differ and for no other.
func (r Run) checkReasons(t *testing.T, results []result, all []string) {
	t.Helper()
	for _, one := range results {
		_, listed := r.Reasons[one.file]
		if differ := !one.same(); differ && !listed {
			t.Errorf("%s: %s: no reason is listed.\n\tEU DSS %v\n\there   %v", r.Title, one.file, one.theirs, one.ours)
		} else if !differ && listed {
			t.Errorf("%s: %s: the two agree, and a reason is listed", r.Title, one.file)
		}
	}
	for file := range r.Reasons {
		if !slices.ContainsFunc(all, func(path string) bool { return filepath.Base(path) == file }) {
			t.Errorf("%s: a reason is listed for %s, which is not compared", r.Title, file)
		}
	}
}

// checkPasses wants nothing to pass here that EU DSS does not pass.
func (r Run) checkPasses(t *testing.T, results []result) {
	t.Helper()
	for _, one := range results {
		if one.passesTooMuch() {
			t.Errorf("%s: %s passes here, and not with EU DSS.\n\tEU DSS %v\n\there   %v", r.Title, one.file, one.theirs, one.ours)
		}
	}
}

func (r Run) checkShares(t *testing.T, results []result) {
	t.Helper()
	if share := shareOf(results, r.equal()); share < r.Verdicts {
		t.Errorf("%s: equal indications and sub-indications on %.1f %%, want %.0f %%", r.Title, 100*share, 100*r.Verdicts)
	}
	if share := shareOf(results, result.sameFormats); share < r.Formats {
		t.Errorf("%s: equal formats and levels on %.1f %%, want %.0f %%", r.Title, 100*share, 100*r.Formats)
	}
}
