package pades_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
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

// maxJudgeTime is the time that a program may take for one file. A program that takes longer for the unsigned file is
// not asked about the signed one.
const maxJudgeTime = time.Minute

// judges are the paths of other programs.
type judges struct{ qpdf, mutool, pdfinfo string }

func newJudges(t *testing.T) judges {
	t.Helper()
	for _, program := range []string{"pdfsig", "certutil"} {
		testenv.Program(t, program)
	}
	model.ConfigPath = "disable" // pdfcpu must not write into the user's folder
	return judges{testenv.Program(t, "qpdf"), testenv.Program(t, "mutool"), testenv.Program(t, "pdfinfo")}
}

// view is what a program finds in a file, so that two files can be compared.
type view struct {
	program string
	of      func(t *testing.T, path string) (found []string, err error)
	differ  func(before, after []string) (fault string)
}

// compare adds the faults of a signed file: an invalid signature, and differences from the unsigned file.
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

// errSlow is the error of a program that takes longer than maxJudgeTime.
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

// check returns the exit status of qpdf --check, then its messages.
func (j judges) check(t *testing.T, path string) ([]string, error) {
	_, stderr, status, err := output(t, j.qpdf, "--check", path)
	complaints := []string{fmt.Sprintf("exit status %d", status)}
	for line := range strings.Lines(string(stderr)) {
		complaints = append(complaints, strings.ReplaceAll(strings.TrimSpace(line), path, "file"))
	}
	return complaints, err
}

// moreComplaints finds a message that qpdf did not have for the unsigned file, or not as often, and a worse exit
// status: 3 is a warning, 2 an error.
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

// anywhere is a message without numbers: a faulty object that the update writes again has another offset.
func anywhere(line string) string { return numberOfComplaint.ReplaceAllString(line, "0") }

// Other messages are more messages, even if they are not more in number. The same message at another offset is not.
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

// draw returns a checksum of each page as mutool draws it.
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

// properties returns pdfinfo's lines, without those that an update changes: the length, the linearization, and
// whether there is a form.
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
	for i := range min(len(before), len(after)) {
		if before[i] != after[i] {
			return fmt.Sprintf("%q is %q, item %d of %d", before[i], after[i], i+1, len(before))
		}
	}
	if len(before) != len(after) {
		return fmt.Sprintf("%d items instead of %d", len(after), len(before))
	}
	return ""
}

func (f *resignedFile) fault(format string, args ...any) {
	f.faults = append(f.faults, fmt.Sprintf(format, args...))
}

// judgeByPDFSig adds the faults that pdfsig finds: a signature that is valid no more, and an invalid new one.
func judgeByPDFSig(t *testing.T, files []*resignedFile) {
	t.Helper()
	for _, f := range files {
		if f.refusal != nil {
			continue
		}
		before, err := validators.PDFSig(t, validators.PDFSigOptions{}, f.before)
		if err != nil { // such as a file that has to be repaired
			before = nil
		}
		after, err := validators.PDFSig(t, validators.PDFSigOptions{}, f.after)
		if err != nil {
			f.fault("pdfsig cannot read the result: %v", err)
			continue
		}
		name := func(s validators.PDFSigSignature) string { return s.Field }
		kept, added := paired(before, after, name)
		for i, was := range before {
			switch {
			case !was.Valid():
				continue
			case kept[i] == nil:
				f.fault("pdfsig: %q is gone", was.Field)
			case !kept[i].Valid():
				f.fault("pdfsig: %q was valid: %s", was.Field, kept[i].Signature)
			default:
				f.kept[byPDFSig]++
			}
			f.valid[byPDFSig]++
		}
		if len(added) != 1 || !added[0].Valid() || !added[0].Total {
			f.fault("pdfsig of ours: %+v", added)
		}
	}
}

// judgeByPyHanko adds the faults that pyHanko finds.
func judgeByPyHanko(t *testing.T, files []*resignedFile) {
	t.Helper()
	files = slices.DeleteFunc(slices.Clone(files), func(f *resignedFile) bool { return f.refusal != nil })
	reports := func(path func(*resignedFile) string) []validators.PyHankoReport {
		var paths []string
		for _, f := range files {
			paths = append(paths, path(f))
		}
		return validators.PyHanko(t, nil, paths...)
	}
	before := reports(func(f *resignedFile) string { return f.before })
	after := reports(func(f *resignedFile) string { return f.after })
	control := reports(func(f *resignedFile) string { return f.control })
	for i, f := range files {
		f.compare(before[i], after[i], control[i])
	}
}

// compare adds the faults of a file that pyHanko can read as it was.
func (f *resignedFile) compare(before, after, control validators.PyHankoReport) {
	if before.Error != "" {
		return
	}
	if after.Error != "" || after.Lenient != "" && strictlyRead(before) && strictlyRead(control) {
		f.fault("pyHanko: %s%s", after.Error, after.Lenient)
	}
	name := func(s validators.PyHankoSignature) string { return s.Field }
	kept, added := paired(before.Signatures, after.Signatures, name)
	blamed, _ := paired(before.Signatures, control.Signatures, name)
	for i, was := range before.Signatures {
		switch {
		case !unharmed(was):
			continue
		case kept[i] == nil:
			f.fault("pyHanko: %q is gone", was.Field)
		case unharmed(*kept[i]):
			f.kept[byPyHanko]++
		case blamed[i] != nil && sameBlame(*blamed[i], *kept[i]):
			f.exempt++
			f.notAnalysed = fmt.Sprintf("%q: %s", was.Field, cmp.Or(blamed[i].Error, blamed[i].ModificationLevel))
		default:
			f.fault("pyHanko: %q was valid: %+v", was.Field, *kept[i])
		}
		f.valid[byPyHanko]++
	}
	if len(added) != 1 || !unharmed(added[0]) || added[0].Coverage != "ENTIRE_FILE" || added[0].ModificationLevel != "NONE" {
		f.fault("pyHanko of ours: %+v", added)
	}
}

// sameBlame reports whether pyHanko has the same verdict on a revision that changes nothing.
func sameBlame(control, after validators.PyHankoSignature) bool {
	return !unharmed(control) && control.Intact == after.Intact && control.Valid == after.Valid &&
		control.Error == after.Error && control.ModificationLevel == after.ModificationLevel
}

func strictlyRead(r validators.PyHankoReport) bool {
	failed := func(s validators.PyHankoSignature) bool { return s.Error != "" }
	return r.Lenient == "" && !slices.ContainsFunc(r.Signatures, failed)
}

// unharmed reports whether a signature is valid, and permits the later revisions. Of document timestamps pyHanko does
// not check the latter.
func unharmed(s validators.PyHankoSignature) bool {
	allowed := s.DocMDPOK || s.Type == "/DocTimeStamp"
	return s.Error == "" && s.Intact && s.Valid && s.ModificationLevel != "OTHER" && allowed
}

// paired finds each signature of before in after by its field, or nil, and returns the signatures that were added.
func paired[S any](before, after []S, name func(S) string) (kept []*S, added []S) {
	added = slices.Clone(after)
	for _, was := range before {
		i := slices.IndexFunc(added, func(s S) bool { return name(s) == name(was) })
		if i < 0 {
			kept = append(kept, nil)
			continue
		}
		is := added[i]
		kept = append(kept, &is)
		added = slices.Delete(added, i, i+1)
	}
	return kept, added
}

// corpusTable is docs/corpus.md, with the figures of this run, even if it failed.
func corpusTable(files []*corpusFile, failed bool) []byte {
	all := count(files)
	var b bytes.Buffer
	fmt.Fprintf(&b, `# Foreign files, signed

Written by %[1]s.ci/full%[1]s. The files are the PDFs that pdf.js tests itself with, many of them
broken on purpose. Readable are those that mutool and pdfinfo read without a password. A
signed file has nothing wrong when

- every byte before the signature is as it was, and the lint of our increments finds nothing;
- %[1]sqpdf --check%[1]s complains no more than about the file as it was;
- pdfsig calls the signature valid and the whole document signed;
- mutool draws every page as it was, dot for dot at 50 dpi;
- page count, page sizes and properties are unchanged for pdfinfo; page count, bookmarks and
  form fields, but for the signature's, for pdfcpu.

**%[2]d of %[3]d readable files (%.1[4]f %%) are signed with nothing wrong**; at least %.0[5]f %% are
asked for. %[6]d are signed with a fault, %[7]d refused. Of the %[8]d others, %[9]d are signed.
None took longer than %[10]v; %[11]v are permitted.

`, "`", all.clean, all.readable, 100*float64(all.clean)/float64(all.readable), 100*wantSigned,
		all.faulty, all.refused, all.tried-all.readable, all.othersSigned, longest(files), maxTime)
	noteFailure(&b, failed)
	section(&b, "Signed with a fault", files, func(f *corpusFile) string { return strings.Join(f.faults, "; ") })
	refused := func(readable bool) func(*corpusFile) string {
		return func(f *corpusFile) string {
			if f.refused == nil || f.readable != readable {
				return ""
			}
			return f.reason()
		}
	}
	section(&b, "Readable and refused", files, refused(true))
	section(&b, "Refused, and not readable for others", files, refused(false))
	unjudged(&b, files)
	return b.Bytes()
}

// noteFailure notes in a table that the test failed.
func noteFailure(b *bytes.Buffer, failed bool) {
	if failed {
		b.WriteString("**The run that wrote this failed.**\n\n")
	}
}

// section lists the files for which say returns a text.
func section(b *bytes.Buffer, title string, files []*corpusFile, say func(*corpusFile) string) {
	fmt.Fprintf(b, "## %s\n\n| file | why |\n|---|---|\n", title)
	for _, f := range files {
		if text := say(f); text != "" {
			fmt.Fprintf(b, "| %s | %s |\n", f.name, cell(text))
		}
	}
	b.WriteString("\n")
}

// cell is a text in a cell of a table.
func cell(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	text = strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(text)
	if len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "") + "…"
	}
	return text
}

// unjudged lists how many unsigned files each program could not read.
func unjudged(b *bytes.Buffer, files []*corpusFile) {
	counts := make(map[string]int)
	for _, f := range files {
		for _, program := range f.unjudged {
			counts[program]++
		}
	}
	b.WriteString("## Not compared\n\nSigned files that a program could not read, or took over a minute for, as they were:\n\n")
	programs := slices.SortedFunc(maps.Keys(counts), func(x, y string) int { return cmp.Or(counts[y]-counts[x], strings.Compare(x, y)) })
	for _, program := range programs {
		fmt.Fprintf(b, "- %s: %d\n", program, counts[program])
	}
}
