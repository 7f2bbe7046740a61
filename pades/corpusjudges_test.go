package pades_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
)

// maxJudgeTime is what a foreign program may take over one file. If it takes longer over
// the file as it was, it does not judge.
const maxJudgeTime = time.Minute

// judges are foreign programs, by path.
type judges struct{ qpdf, mutool, pdfinfo string }

func newJudges(t *testing.T) judges {
	t.Helper()
	for _, program := range []string{"pdfsig", "certutil"} {
		testenv.Program(t, program)
	}
	model.ConfigPath = "disable" // keeps pdfcpu from writing into the user's folder
	return judges{testenv.Program(t, "qpdf"), testenv.Program(t, "mutool"), testenv.Program(t, "pdfinfo")}
}

// A view is what a program sees in a file, so that two files can be compared.
type view struct {
	program string
	of      func(t *testing.T, path string) (seen []string, err error)
	differ  func(before, after []string) string // what is wrong
}

// compare notes what differs between the file as it was and as it is signed.
func (j judges) compare(t *testing.T, f *corpusFile, signed string) {
	if text := pdfsigFault(t, signed); text != "" {
		f.faults = append(f.faults, "pdfsig: "+text)
	}
	for _, v := range []view{
		{"qpdf", j.check, moreComplaints},
		{"mutool", j.draw, anyDifference},
		{"pdfinfo", j.properties, anyDifference},
		{"pdfcpu", structure, structureFault},
	} {
		before, err := v.of(t, f.path)
		if err != nil {
			f.unjudged = append(f.unjudged, v.program)
			continue
		}
		after, err := v.of(t, signed)
		if err != nil {
			f.faults = append(f.faults, fmt.Sprintf("%s: %v", v.program, err))
		} else if text := v.differ(before, after); text != "" {
			f.faults = append(f.faults, v.program+": "+text)
		}
	}
}

func pdfsigFault(t *testing.T, signed string) string {
	signatures, err := validators.PDFSig(t, validators.PDFSigOptions{}, signed)
	if err != nil {
		return err.Error()
	}
	if !slices.ContainsFunc(signatures, func(s validators.PDFSigSignature) bool { return s.Total && s.Valid() }) {
		return fmt.Sprintf("no valid signature of the whole file among %+v", signatures)
	}
	return ""
}

// errSlow: the program took longer than maxJudgeTime.
var errSlow = errors.New("takes too long")

// output runs a program and returns its streams and exit status.
func output(t *testing.T, program string, args ...string) (stdout, stderr []byte, status int, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), maxJudgeTime) // time: no file of the sample takes nearly as long
	defer cancel()
	var out, errors bytes.Buffer
	command := exec.CommandContext(ctx, program, args...)
	command.Stdout, command.Stderr, command.WaitDelay = &out, &errors, time.Minute
	runErr := command.Run()
	if ctx.Err() != nil {
		return nil, nil, 0, errSlow
	}
	if command.ProcessState == nil {
		t.Errorf("%s: %v", program, runErr)
		return nil, nil, 0, runErr
	}
	return out.Bytes(), errors.Bytes(), command.ProcessState.ExitCode(), nil
}

// check is qpdf's complaints: its exit status, then a line for each.
func (j judges) check(t *testing.T, path string) ([]string, error) {
	_, stderr, status, err := output(t, j.qpdf, "--check", path)
	complaints := []string{fmt.Sprintf("exit status %d", status)}
	for line := range strings.Lines(string(stderr)) {
		complaints = append(complaints, strings.ReplaceAll(strings.TrimSpace(line), path, "file"))
	}
	return complaints, err
}

// moreComplaints: exit status 3 is a warning, 2 an error. Every complaint has to have been
// there before, as often.
func moreComplaints(before, after []string) string {
	severity := map[string]int{"exit status 0": 0, "exit status 3": 1}
	rank := func(complaints []string) int {
		if n, ok := severity[complaints[0]]; ok {
			return n
		}
		return 2
	}
	if rank(after) > rank(before) {
		return fmt.Sprintf("%s, and it was %s: %s", after[0], before[0], after[len(after)-1])
	}
	known := make(map[string]int)
	for _, line := range before[1:] {
		known[anywhere(line)]++
	}
	for _, line := range after[1:] {
		complaint := anywhere(line)
		if known[complaint]--; known[complaint] < 0 {
			return fmt.Sprintf("a new complaint: %s", line)
		}
	}
	return ""
}

var numberOfComplaint = regexp.MustCompile(`\d+`)

// anywhere is a complaint without the place: an increment moves objects, and what is wrong
// with them along.
func anywhere(line string) string { return numberOfComplaint.ReplaceAllString(line, "0") }

// No more complaints in number, but other ones, are more; the same at other places are not.
func TestMoreComplaints(t *testing.T) {
	const status, damaged, moved = "exit status 3", "WARNING: (object 4 0, offset 327): expected endstream", "WARNING: (object 14 0, offset 9): expected endstream"
	before := []string{status, damaged, "WARNING: file is damaged"}
	for _, test := range []struct {
		name  string
		after []string
		more  bool
	}{
		{"none", []string{"exit status 0"}, false},
		{"the same", before, false},
		{"one less", []string{status, damaged}, false},
		{"another place and order", []string{status, "WARNING: file is damaged", moved}, false},
		{"another one instead", []string{status, damaged, "WARNING: xref not found"}, true},
		{"twice", []string{status, damaged, moved}, true},
		{"an error", []string{"exit status 2", damaged}, true},
	} {
		if got := moreComplaints(before, test.after); (got != "") != test.more {
			t.Errorf("%s: %q", test.name, got)
		}
	}
}

var drawnPage = regexp.MustCompile(`\b[0-9a-f]{32}\b`)

// draw is a checksum of every page that mutool draws.
func (j judges) draw(t *testing.T, path string) ([]string, error) {
	stdout, stderr, _, err := output(t, j.mutool, "draw", "-s5", "-r", "50", path)
	if err != nil {
		return nil, err
	}
	pages := drawnPage.FindAllString(string(stdout)+string(stderr), -1)
	if len(pages) == 0 {
		return nil, errors.New("no page was drawn")
	}
	return pages, nil
}

// properties are pdfinfo's lines but those on what an increment changes: the length, the
// linearization, and that there is a form where there was none.
func (j judges) properties(t *testing.T, path string) ([]string, error) {
	stdout, stderr, status, err := output(t, j.pdfinfo, path)
	if err == nil && status != 0 {
		err = fmt.Errorf("exit status %d: %.100s", status, stderr)
	}
	var lines []string
	for line := range strings.Lines(string(stdout)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		changes := name == "File size" || name == "Optimized" || name == "Form" && !strings.Contains(value, "XFA")
		if !changes {
			lines = append(lines, name+":"+value)
		}
	}
	return lines, err
}

func anyDifference(before, after []string) string {
	for i := range max(len(before), len(after)) {
		was, is := "nothing", "nothing"
		if i < len(before) {
			was = before[i]
		}
		if i < len(after) {
			is = after[i]
		}
		if was != is {
			return fmt.Sprintf("%q is %q, item %d of %d", was, is, i+1, len(before))
		}
	}
	return ""
}
