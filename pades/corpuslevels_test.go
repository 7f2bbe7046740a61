package pades_test

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/pades"
)

// corpusLevels are those at which every foreign file is signed.
var corpusLevels = []ades.Level{ades.B, ades.LT, ades.LTA}

// TestCorpusLevels signs foreign files at each of corpusLevels. Verify has to find that every
// signature passes, with nothing behind it but validation data, and pyHanko that it is trusted,
// with no other change than LTA_UPDATES. A file is exempt where the validator finds the same in a
// control, that is level B with a revision that changes nothing, or cannot read the control. With
// INNSIGLI_FULL=1 the test signs all files and writes the table, else it signs a sample.
func TestCorpusLevels(t *testing.T) {
	testenv.Slow(t, "foreign files are signed at each level")
	testenv.Tool(t, "pyhanko/bin/python")
	p := newPerson(t, catest.New(t), p256(t))
	files := leveledFiles(t)
	for batch := range slices.Chunk(files, 20) {
		folder := t.TempDir()
		signBatch(t, batch, folder, p)
		validateByPyHanko(t, batch, p.ca.Root())
	}
	for _, f := range files {
		for _, fault := range f.faults {
			t.Errorf("%s: %s: %s", f.origin, f.name, fault)
		}
	}
	c := countLeveled(files)
	t.Logf("figure: %+v", c)
	if 5*c.signed < 4*c.files {
		t.Errorf("only %d of %d files are signed", c.signed, c.files)
	}
	testenv.WriteTable(t, "corpus-levels.md", leveledTable(files, t.Failed()))
}

// leveledFile is a foreign file and what became of it.
type leveledFile struct {
	origin, name string
	content      []byte
	refusal      error    // by Prepare
	signed       []string // paths: of the file at each of corpusLevels, and of the control
	isPDFA1      bool     // so that the document timestamp has an appearance, which pyHanko counts as filling in a form
	faults       []string
	byVerify     string // what Verify finds in the control as well
	byPyHanko    string // what pyHanko finds in the control as well
}

func (f *leveledFile) fault(format string, args ...any) {
	f.faults = append(f.faults, fmt.Sprintf(format, args...))
}

// leveledFiles returns the foreign files, or a sample of them, each content once, and documents of
// internal/test/pdf.
func leveledFiles(t *testing.T) (files []*leveledFile) {
	t.Helper()
	seen := make(map[[sha256.Size]byte]bool)
	add := func(origin, name string, content []byte) {
		if sum := sha256.Sum256(content); !seen[sum] {
			seen[sum] = true
			files = append(files, &leveledFile{origin: origin, name: name, content: content})
		}
	}
	for _, origin := range []struct{ name, folder string }{
		{"pdf.js", testenv.Corpus(t, "pdf")},
		{"EU DSS", testenv.Corpus(t, "signed/pdf")},
		{"pdfcpu", moduleFolder(t, "github.com/pdfcpu/pdfcpu")},
	} {
		err := fs.WalkDir(os.DirFS(origin.folder), ".", func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Type().IsRegular() && strings.EqualFold(filepath.Ext(path), ".pdf") {
				add(origin.name, path, testenv.ReadFile(t, filepath.Join(origin.folder, path)))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if !testenv.Full() {
		var sample []*leveledFile
		for i := 0; i < len(files); i += 40 {
			sample = append(sample, files[i])
		}
		files = sample
	}
	for _, kind := range append(pdftest.Kinds, pdftest.Hybrid) {
		add("Innsigli", string(kind), pdftest.Build(pdftest.Options{Kind: kind}))
	}
	for _, a := range conforming() {
		add("Innsigli", fmt.Sprintf("PDF/A or PDF/UA %s, %s", a.Profile, cmp.Or(a.Kind, pdftest.Table)), pdftest.Archival(a))
	}
	return files
}

// moduleFolder returns the folder with the source of a module that tests import.
func moduleFolder(t *testing.T, module string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), testenv.Program(t, "go"), "list", "-m", "-f", "{{.Dir}}", module).Output()
	folder := strings.TrimSpace(string(out))
	if err != nil || folder == "" {
		t.Fatalf("folder of %s: %q, %v", module, folder, err)
	}
	return folder
}

// signBatch signs files, two at a time.
func signBatch(t *testing.T, batch []*leveledFile, folder string, p person) {
	var group sync.WaitGroup
	slots := make(chan struct{}, 2)
	for i, f := range batch {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			f.sign(t, filepath.Join(folder, fmt.Sprintf("%02d", i)), p)
		})
	}
	group.Wait()
}

// sign signs the file at each level, and makes the control. The paths of all of them begin with
// prefix.
func (f *leveledFile) sign(t *testing.T, prefix string, p person) {
	for _, level := range corpusLevels {
		signed, err := signedAt(t, f.content, p, level)
		if level == ades.B && slices.ContainsFunc(refusals, func(e error) bool { return errors.Is(err, e) }) {
			f.refusal = err
			return
		}
		if err != nil {
			f.fault("signing at %v: %v", level, err)
			return
		}
		f.keep(t, prefix+level.String()+".pdf", signed)
	}
	first := testenv.ReadFile(t, f.signed[0])
	f.keep(t, prefix+"control.pdf", slices.Concat(first, idleUpdate(t, first)))
	for i, level := range corpusLevels {
		f.verify(t, f.signed[i], level, p)
	}
	f.content = nil
}

func (f *leveledFile) keep(t *testing.T, path string, signed []byte) {
	writeFile(t, path, signed)
	f.signed = append(f.signed, path)
}

// signedAt returns a document signed at a level as the service does it: earlier signatures stay as
// they are.
func signedAt(t *testing.T, content []byte, p person, level ades.Level) ([]byte, error) {
	sources := p.ca.Sources(nil)
	pending, err := pades.Prepare(t.Context(), document(content), p.signer, pades.Options{Level: level})
	if err != nil {
		return nil, err
	}
	revision, err := pending.Sign(t.Context(), p.key, sources.Time)
	if err != nil {
		return nil, fmt.Errorf("completing: %v", err)
	}
	signed := slices.Concat(content, revision.Bytes)
	revisions, err := pades.Extender{Sources: sources}.ExtendLast(t.Context(), document(signed), level)
	if err != nil {
		return nil, fmt.Errorf("extending: %v", err)
	}
	return appendAll(t, signed, revisions), nil
}

// verify has Verify validate our signature in a signed file.
func (f *leveledFile) verify(t *testing.T, path string, level ades.Level, p person) {
	ours, problems := f.report(t, path, p)
	if ours == nil {
		return
	}
	f.isPDFA1 = isPDFA1(t, path)
	if ours.Format != "PAdES-BASELINE-"+level.String() || ours.Indication != ades.TotalPassed && !ours.Passed() {
		f.fault("Verify at %v: %s %s %s: %q", level, ours.Format, ours.Indication, ours.SubIndication, ours.Problems)
	}
	if passes(ours) {
		return
	}
	control, _ := f.report(t, f.signed[len(corpusLevels)], p)
	if control != nil && len(problems) > 0 && (!control.Passed() || isUndecided(ours) || f.name == inheritsFromCatalog) {
		f.byVerify = problems[len(problems)-1]
		return
	}
	f.fault("Verify at %v: coverage %s, extended %v, not permitted %+v", level, ours.Coverage, ours.Extended, ours.Forbidden())
}

// isUndecided reports whether Verify finds that later revisions may have changed the document, and
// no object that they changed: the document has objects that cannot be read, so that a revision
// without changes is not told apart.
func isUndecided(s *ades.SignatureReport) bool {
	known := func(c ades.Change) bool { return c.Kind != ades.ChangeUnknown || c.Object != "" }
	return s.Indication == ades.TotalPassed && !slices.ContainsFunc(s.Forbidden(), known)
}

// inheritsFromCatalog is a file whose pages have the catalog as their Parent, so that Verify takes
// new entries of the catalog for attributes that a page may inherit.
const inheritsFromCatalog = "filled-background.pdf"

// passes reports whether a signature has passed, and nothing but validation data follows it.
func passes(s *ades.SignatureReport) bool {
	return s.Passed() && (s.Extended || s.Coverage == ades.WholeDocument)
}

// report returns the result of Verify for the last signature of a file, which is ours, and the
// problems of the file.
func (f *leveledFile) report(t *testing.T, path string, p person) (*ades.SignatureReport, []string) {
	report, err := pades.Verify(t.Context(), document(testenv.ReadFile(t, path)), ades.VerifyOptions{Roots: p.ca.Roots()})
	if err != nil || len(report.Signatures) == 0 {
		f.fault("Verify: %d signatures, %v", len(report.Signatures), err)
		return nil, nil
	}
	problems := report.Problems()
	if report.Passed() != (len(problems) == 0) {
		f.fault("Verify: passed %v, because of %q", report.Passed(), problems)
	}
	ours := &report.Signatures[len(report.Signatures)-1]
	if len(report.Signatures) == 1 && passes(ours) != report.Passed() {
		f.fault("Verify: the only signature passes %v, the document %v: %q", passes(ours), report.Passed(), problems)
	}
	return ours, problems
}

// isPDFA1 reports whether a document claims to be PDF/A of a version that is PDF/A-1.
func isPDFA1(t *testing.T, path string) bool {
	b := testenv.ReadFile(t, path)
	file, err := pdf.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return false
	}
	archival, err := file.ClaimsPDFA()
	major, minor := file.Version()
	return err == nil && archival && major == 1 && minor <= 4
}

// neverCompared is a file that pyHanko does not finish comparing with its next revision, whatever
// that is.
const neverCompared = "bug1669099.pdf"

// validateByPyHanko has pyHanko validate the signed files.
func validateByPyHanko(t *testing.T, batch []*leveledFile, root *x509.Certificate) {
	t.Helper()
	var validated []*leveledFile
	var paths []string
	for _, f := range batch {
		switch {
		case len(f.signed) <= len(corpusLevels): // it was not signed at each level
		case f.name == neverCompared:
			f.byPyHanko = "It does not end."
		default:
			validated, paths = append(validated, f), append(paths, f.signed...)
		}
	}
	if len(paths) == 0 {
		return
	}
	reports := validators.PyHanko(t, []*x509.Certificate{root}, paths...)
	for i, f := range validated {
		each := reports[i*(len(corpusLevels)+1):]
		for j, level := range corpusLevels {
			f.judge(each[j], each[len(corpusLevels)], level)
		}
	}
}

// judge compares what pyHanko finds in our signature with what it has to find, or what it finds in
// the control.
func (f *leveledFile) judge(report, control validators.PyHankoReport, level ades.Level) {
	permitted := []string{"LTA_UPDATES"}
	if level == ades.B {
		permitted = []string{"NONE"}
	} else if level == ades.LTA && f.isPDFA1 {
		permitted = []string{"LTA_UPDATES", "FORM_FILLING"}
	}
	s := lastSignature(report)
	if s.Error == "" && s.Intact && s.Valid && s.Trusted && s.BottomLine && slices.Contains(permitted, s.ModificationLevel) {
		return
	}
	found := cmp.Or(s.Error, s.Suspicion, s.ModificationLevel)
	was := lastSignature(control)
	isLimit := func(prefix string) bool { return strings.HasPrefix(found, prefix) }
	if found == cmp.Or(was.Error, was.Suspicion, was.ModificationLevel) || slices.ContainsFunc(pyHankoLimits, isLimit) {
		f.byPyHanko = found
		return
	}
	f.fault("pyHanko at %v: %s: %+v", level, found, s)
}

// pyHankoLimits are the beginnings of findings about what the control does not have: annotations
// that are direct objects, beside which the field of a document timestamp is added; and an
// exception of pyHanko in a hybrid file.
var pyHankoLimits = []string{"Array contains direct objects", "KeyError: "}

// lastSignature returns pyHanko's verdict on the last signature of a file, or why it has none as
// Error.
func lastSignature(report validators.PyHankoReport) (last validators.PyHankoSignature) {
	last.Error = cmp.Or(report.Error, "no signature")
	for _, s := range report.Signatures {
		if s.Type == "/Sig" {
			last = s
		}
	}
	return last
}

// leveledFigures are counts of files.
type leveledFigures struct{ files, signed, clean, byVerify, byPyHanko, faulty int }

func countLeveled(files []*leveledFile) leveledFigures {
	number := func(is func(*leveledFile) bool) (n int) {
		for _, f := range files {
			if is(f) {
				n++
			}
		}
		return n
	}
	signed := func(f *leveledFile) bool { return f.refusal == nil }
	return leveledFigures{
		files:     len(files),
		signed:    number(signed),
		clean:     number(func(f *leveledFile) bool { return signed(f) && len(f.faults) == 0 && f.byVerify+f.byPyHanko == "" }),
		byVerify:  number(func(f *leveledFile) bool { return signed(f) && f.byVerify != "" }),
		byPyHanko: number(func(f *leveledFile) bool { return signed(f) && f.byPyHanko != "" }),
		faulty:    number(func(f *leveledFile) bool { return signed(f) && len(f.faults) > 0 }),
	}
}

// leveledTable is docs/corpus-levels.md. Its figures are those of the run, even if that failed.
func leveledTable(files []*leveledFile, failed bool) []byte {
	var b bytes.Buffer
	c := countLeveled(files)
	fmt.Fprintf(&b, `# Foreign files, signed at each level

Written by %[1]s.ci/full%[1]s. The files are those that the tests of pdf.js, EU DSS and pdfcpu have, many of them broken
on purpose, and documents of our own tests. Each is signed at the levels B, LT and LTA, and judged by %[1]spades.Verify%[1]s and by pyHanko,
which compares the revisions by rules of its own. A signature

- has passed to Verify when it has the level, and nothing follows it but validation data and document timestamps;
- has passed to pyHanko when it is intact and trusted, and what follows is no more than %[1]sLTA_UPDATES%[1]s; in PDF/A-1, whose
  fields have to have an appearance (ISO 19005-1 6.9), %[1]sFORM_FILLING%[1]s.

**%[2]d of %[3]d files are signed at all three levels. %[4]d of them pass both judges at each level**, and %[5]d have a fault. Of
the others, Verify cannot tell for %[6]d what a later revision changes, and pyHanko for %[7]d; why is below.

`, "`", c.signed, c.files, c.clean, c.faulty, c.byVerify, c.byPyHanko)
	noteFailure(&b, failed)
	b.WriteString("| files of | tried | signed | passed both |\n|---|---|---|---|\n")
	for _, origin := range []string{"pdf.js", "EU DSS", "pdfcpu", "Innsigli"} {
		its := countLeveled(slices.DeleteFunc(slices.Clone(files), func(f *leveledFile) bool { return f.origin != origin }))
		fmt.Fprintf(&b, "| %s | %d | %d | %d |\n", origin, its.files, its.signed, its.clean)
	}
	b.WriteString("\n")
	list := func(title, about string, say func(*leveledFile) string) {
		fmt.Fprintf(&b, "## %s\n\n%s\n\n| file | what |\n|---|---|\n", title, about)
		for _, f := range files {
			if text := say(f); text != "" {
				fmt.Fprintf(&b, "| %s: %s | %s |\n", f.origin, f.name, cell(text))
			}
		}
		b.WriteString("\n")
	}
	list("Faults", "What is wrong with a file that was signed.", func(f *leveledFile) string { return strings.Join(f.faults, "; ") })
	list("Not compared by Verify", "The document has objects that cannot be read, or that readers understand in different ways: what they lead to is not known, so that any later revision may change what is seen.",
		func(f *leveledFile) string { return f.byVerify })
	list("Not compared by pyHanko", "What it says of a revision that changes nothing as well; that annotations are direct objects; or that an array belongs to the document security store and to a signature in it.",
		func(f *leveledFile) string { return f.byPyHanko })
	list("Refused", "Prepare does not sign them.", func(f *leveledFile) string {
		if f.refusal == nil {
			return ""
		}
		return strings.TrimPrefix(f.refusal.Error(), "pades: ")
	})
	return b.Bytes()
}
