package pades_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/pdflint"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/pades"
	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
)

// --- files that are not signed ---------------------------------------------------------

const (
	wantSigned = 0.98            // part of the readable files that has to be signed without a fault
	maxTime    = 2 * time.Second // for signing one of the files
)

// unlikeMost are files that the sample contains besides every sixteenth, with the reason for
// which they are refused; nil: they are signed.
var unlikeMost = map[string]error{
	"annotation-border-styles.pdf":    nil, // hybrid
	"bug1937438_from_word.pdf":        nil,
	"prefilled_f1040.pdf":             nil,
	"issue9418.pdf":                   nil, // hybrid, and has to be rebuilt
	"issue9105_reduced.pdf":           nil, // has to be rebuilt
	"issue6069.pdf":                   nil, // bytes before the header, startxref without an offset
	"scan-bad.pdf":                    nil, // 11 KB behind the end
	"doc_actions.pdf":                 nil, // generations above 0
	"freetexts.pdf":                   nil,
	"160F-2019.pdf":                   nil, // signed
	"bug854315.pdf":                   nil,
	"issue7665.pdf":                   nil, // encrypted
	"issue9972-2.pdf":                 nil,
	"bug900822.pdf":                   ades.ErrForbidden,  // encrypted, by an author who permits nothing
	"issue3371.pdf":                   pades.ErrEncrypted, // with a password
	"signed_verified.pdf":             ades.ErrBroken,
	"bug1606566.pdf":                  ades.ErrUnreadable, // no header
	"GHOSTSCRIPT-698804-1-fuzzed.pdf": ades.ErrUnreadable,
}

// TestCorpus signs foreign files, with an invisible signature and with a visible one on the last page. Files that mutool
// and pdfinfo read without a password are readable; signed, they differ in nothing but the signature for any program.
// Other files may be refused, for the reasons in unlikeMost. INNSIGLI_FULL=1 tries all files and writes the table;
// otherwise a sample is tried.
func TestCorpus(t *testing.T) {
	judges := newJudges(t)
	p := newPerson(t, catest.New(t), p256(t))
	tried := corpusFiles(t)
	t.Run("files", func(t *testing.T) {
		for _, f := range tried {
			t.Run(f.name, func(t *testing.T) {
				t.Parallel()
				content := testenv.ReadFile(t, f.path)
				f.sign(t, content, judges, p)
				f.signVisible(t, content, p)
			})
		}
	})
	for _, f := range tried {
		for _, fault := range f.faults { // of all files, some may have a fault
			if t.Logf("%s: %s", f.name, fault); f.special || !testenv.Full() {
				t.Errorf("%s is signed with a fault", f.name)
			}
		}
		if f.special && !errors.Is(f.refused, f.want) {
			t.Errorf("%s: got %v, want %v", f.name, f.refused, f.want)
		}
	}
	counted := slices.DeleteFunc(slices.Clone(tried), func(f *corpusFile) bool { return !f.counted })
	all := count(counted)
	t.Logf("figure: %v; the longest took %v", all, longest(counted))
	if float64(all.clean) < wantSigned*float64(all.readable) {
		t.Errorf("signed %d of %d readable files", all.clean, all.readable)
	}
	testenv.WriteTable(t, "corpus.md", corpusTable(counted, t.Failed()))
}

// corpusFiles returns all files, or the sample.
func corpusFiles(t *testing.T) (tried []*corpusFile) {
	t.Helper()
	unlike := 0
	for i, f := range testenv.Expected(t, "pdf") {
		want, special := unlikeMost[f.Name]
		if special {
			unlike++
		}
		counted := testenv.Full() || i%16 == 0
		if counted || special {
			readable := f.Says["mutool_info"] == "0" && f.Says["pdfinfo"] == "0"
			tried = append(tried, &corpusFile{name: f.Name, path: f.Path, readable: readable, counted: counted, special: special, want: want})
		}
	}
	if unlike != len(unlikeMost) {
		t.Errorf("the corpus has %d of the %d files of unlikeMost", unlike, len(unlikeMost))
	}
	return tried
}

// corpusFile is a file of the corpus with the result of signing it.
type corpusFile struct {
	name, path string
	readable   bool
	counted    bool  // as one of those of which wantSigned have to be signed
	special    bool  // it is in unlikeMost, and
	want       error // this is the reason there
	took       time.Duration
	refused    error    // by Prepare
	faults     []string // that a judge found in the signed file
	unjudged   []string // judges that could not read the file before it was signed
}

// sign signs the file and has the judges compare the result.
func (f *corpusFile) sign(t *testing.T, content []byte, judges judges, p person) {
	before := bytes.Clone(content)
	began := time.Now()
	revision, err := pades.Sign(t.Context(), document(content), p.key, p.signer, pades.Options{Reason: "Undirritun"}, ades.Sources{})
	f.took = time.Since(began) // time: judged by .ci/full alone
	if testenv.Full() && f.took > maxTime {
		t.Errorf("took %v", f.took)
	}
	if !bytes.Equal(before, content) {
		t.Error("bytes of the document were changed")
	}
	if f.refused = err; err != nil {
		if !refused(err) {
			t.Errorf("unexpected kind of error: %v", err)
		}
		return
	}
	if revision.Base != int64(len(content)) {
		t.Errorf("revision at %d", revision.Base)
	}
	signed := slices.Concat(content, revision.Bytes)
	for _, fault := range pdflint.Check(content, signed) {
		f.faults = append(f.faults, "lint: "+fault.String())
	}
	judges.compare(t, f, tempFile(t, "signed.pdf", signed))
}

// signVisible signs the file on its last page, which has to succeed if an invisible signature does.
func (f *corpusFile) signVisible(t *testing.T, content []byte, p person) {
	page := 1
	_ = pdf.WithRepaired(bytes.NewReader(content), int64(len(content)), func(file *pdf.File) error {
		if n, err := file.PageCount(); err == nil {
			page = n
		}
		return nil
	})
	o := pades.Options{Visible: at(page, 10, 10)}
	if _, err := prepare(t, content, p.signer, o); (err == nil) != (f.refused == nil) {
		t.Errorf("visible: %v; invisible: %v", err, f.refused)
	} else if err == nil {
		sign(t, content, p, o)
	}
}

// reason returns why the file was refused.
func (f *corpusFile) reason() string {
	return strings.TrimPrefix(f.refused.Error(), "pades: ")
}

// longest returns the longest time that a file took, in tenths of a second, rounded up.
func longest(files []*corpusFile) time.Duration {
	const tenth = 100 * time.Millisecond
	most := time.Duration(0)
	for _, f := range files {
		most = max(most, f.took)
	}
	return (most + tenth - 1).Truncate(tenth)
}

// figures are counts of files.
type figures struct{ tried, readable, clean, faulty, refused, othersSigned int }

func (c figures) String() string {
	return fmt.Sprintf("%d files, of them %d readable; of these %d signed without a fault (%.1f %%), %d signed with a fault, %d refused; of the others %d signed",
		c.tried, c.readable, c.clean, 100*float64(c.clean)/float64(c.readable), c.faulty, c.refused, c.othersSigned)
}

func count(files []*corpusFile) (c figures) {
	for _, f := range files {
		c.tried++
		switch {
		case !f.readable:
			if f.refused == nil {
				c.othersSigned++
			}
			continue
		case f.refused != nil:
			c.refused++
		case len(f.faults) > 0:
			c.faulty++
		default:
			c.clean++
		}
		c.readable++
	}
	return c
}

// TestJudgesFindHarm has each judge find a fault that no other judge looks for, and none find one in a file that was
// signed without a fault.
func TestJudgesFindHarm(t *testing.T) {
	judges := newJudges(t)
	original := pdftest.Build(pdftest.Options{
		Catalog: "/AcroForm << /Fields [100 0 R] >> /Outlines 101 0 R",
		Objects: []string{
			"<< /FT /Tx /T (Name) /V (kept) >>",
			"<< /Type /Outlines /First 102 0 R /Last 102 0 R /Count 1 >>",
			"<< /Title (Chapter) /Parent 101 0 R /Dest [10 0 R /Fit] >>",
		},
	})
	signed := sign(t, original, newPerson(t, catest.New(t), p256(t)), pades.Options{})
	last := bytes.LastIndex(signed, []byte("startxref\n"))
	for _, test := range []struct {
		name, judge string
		after       []byte
	}{
		{"not harmed", "", signed},
		{"not signed", "pdfsig", original},
		{"signed byte", "pdfsig", bytes.Replace(signed, []byte("/Page "), []byte("/page "), 1)},
		{"startxref", "qpdf", append(bytes.Clone(signed[:last]), "startxref\n7\n%%EOF\n"...)},
		{"line on the page", "mutool", bytes.Replace(signed, []byte("10 10 l"), []byte("90 90 l"), 1)},
		{"page size", "pdfinfo", bytes.Replace(signed, []byte("595 842"), []byte("842 595"), 1)},
		{"value of a field", "pdfcpu", bytes.Replace(signed, []byte("(kept)"), []byte("(lost)"), 1)},
		{"field removed", "pdfcpu", bytes.ReplaceAll(signed, []byte("/Fields [100 0 R"), []byte("/Fields [       "))},
		{"bookmark", "pdfcpu", bytes.Replace(signed, []byte("(Chapter)"), []byte("(Chaptre)"), 1)},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := &corpusFile{path: tempFile(t, "original.pdf", original)}
			judges.compare(t, f, tempFile(t, "after.pdf", test.after))
			found := strings.Join(f.faults, "\n")
			if test.judge == "" && found != "" || !strings.Contains(found, test.judge) || len(f.unjudged) > 0 {
				t.Errorf("got %q, want a fault found by %q; not judged by %v", found, test.judge, f.unjudged)
			}
		})
	}
}

// structure returns the number of pages, the bookmarks and the fields that pdfcpu finds. It panics on some files, which
// is an error like any other here.
func structure(_ *testing.T, path string) (seen []string, err error) {
	defer func() {
		if v := recover(); v != nil {
			seen, err = nil, fmt.Errorf("panic: %v", v)
		}
	}()
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	ctx, err := api.ReadContext(bytes.NewReader(content), model.NewDefaultConfiguration())
	if err != nil {
		return nil, err
	}
	if err := ctx.EnsurePageCount(); err != nil {
		return nil, err
	}
	root, err := ctx.Catalog()
	if err != nil {
		return nil, err
	}
	seen = append([]string{fmt.Sprintf("pages %d", ctx.PageCount)}, bookmarks(ctx, root)...)
	form, err := ctx.DereferenceDict(root["AcroForm"])
	if err != nil || form == nil {
		return seen, err
	}
	w := fieldView{ctx: ctx, visited: make(map[int]bool)}
	err = w.walk(form["Fields"], "", "")
	slices.Sort(w.seen)
	return append(seen, w.seen...), err
}

// bookmarks returns those of the outline, which pdfcpu reads only when it validates.
func bookmarks(ctx *model.Context, root types.Dict) (seen []string) {
	var list []pdfcpu.Bookmark
	var err error
	if ctx.Outlines, err = ctx.DereferenceDict(root["Outlines"]); err == nil {
		list, err = pdfcpu.Bookmarks(ctx)
	}
	if err != nil {
		return []string{"bookmarks: " + err.Error()}
	}
	var walk func(list []pdfcpu.Bookmark, depth int)
	walk = func(list []pdfcpu.Bookmark, depth int) {
		for _, b := range list {
			seen = append(seen, fmt.Sprintf("bookmark %d %q to page %d", depth, b.Title, b.PageFrom))
			walk(b.Kids, depth+1)
		}
	}
	walk(list, 0)
	return seen
}

// fieldView collects the names, types and values of the fields of a form.
type fieldView struct {
	ctx     *model.Context
	visited map[int]bool
	seen    []string
}

func (w *fieldView) walk(o types.Object, parent, kind string) error {
	fields, err := w.ctx.DereferenceArray(o)
	if err != nil {
		return err
	}
	for _, item := range fields {
		if ref, ok := item.(types.IndirectRef); ok {
			if w.visited[ref.ObjectNumber.Value()] {
				continue
			}
			w.visited[ref.ObjectNumber.Value()] = true
		}
		field, err := w.ctx.DereferenceDict(item)
		if err == nil {
			err = w.field(field, parent, kind)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *fieldView) field(field types.Dict, parent, kind string) error {
	name, value := parent, "none"
	if t, err := w.ctx.Dereference(field["T"]); err == nil && t != nil {
		name += "." + t.String()
	}
	if t, err := w.ctx.Dereference(field["FT"]); err == nil && t != nil {
		kind = t.String()
	}
	if v, err := w.ctx.Dereference(field["V"]); err == nil && v != nil {
		value = fmt.Sprintf("%T %.200s", v, v)
	}
	w.seen = append(w.seen, fmt.Sprintf("field %s %s %s", name, kind, value))
	return w.walk(field["Kids"], name, kind)
}

// structureFault describes a difference between two results of structure, unless it is one more signature field.
func structureFault(before, after []string) string {
	added := slices.Clone(after)
	for _, was := range before {
		i := slices.Index(added, was)
		if i < 0 {
			return fmt.Sprintf("gone: %.100s", was)
		}
		added = slices.Delete(added, i, i+1)
	}
	if len(added) != 1 || !strings.HasPrefix(added[0], "field ") || !strings.Contains(added[0], " Sig ") {
		return fmt.Sprintf("%d items were added: %.200q", len(added), added)
	}
	return ""
}

// --- files that are signed already -----------------------------------------------------

// resignSample are signed files with each kind of cross-reference, each way to write a form, with approvals,
// certifications and timestamps. They are refused for the reason given; nil: they are signed.
var resignSample = map[string]error{
	"signed/pdf/DSS-1983.pdf":                      nil, // a document timestamp behind the signature
	"signed/pdf/DSS-3226.pdf":                      nil, // two signatures
	"signed/pdf/DSS1376-rev_n.pdf":                 nil, // the earlier one is not valid any more
	"signed/pdf/PAdES-LT.pdf":                      nil, // hybrid
	"signed/pdf/Signature-P-BG_BOR-1.pdf":          nil, // hybrid
	"signed/pdf/Signature-P-DE_SCI-4.pdf":          nil,
	"signed/pdf/certified-no-change-permitted.pdf": ades.ErrForbidden,
	"signed/pdf/encrypted.pdf":                     ades.ErrForbidden, // its author permits no new fields
	"signed/pdf/pades-bes.pdf":                     nil,
	"signed/pdf/pdf-removed-pages.pdf":             nil,
	"pdf/bug854315.pdf":                            nil,
	"pdf/signed_verified.pdf":                      ades.ErrBroken,
}

// TestSignedCorpusStaysValid signs foreign files that are signed already. Each signature that pdfsig or pyHanko accepted
// before is accepted after, and so is ours; to pyHanko's analysis of differences our revision fills in a form. Some
// files pyHanko cannot analyse when any revision follows: these it refuses also with the control, an update that
// changes nothing. INNSIGLI_FULL=1 tries all files and writes a table.
func TestSignedCorpusStaysValid(t *testing.T) {
	p := newPerson(t, catest.New(t), p256(t))
	var files []*resignedFile
	for _, name := range resignNames(t) {
		files = append(files, resign(t, name, p))
	}
	judgeByPDFSig(t, files)
	judgeByPyHanko(t, files)
	for _, f := range files {
		for _, fault := range f.faults {
			t.Errorf("%s: %s", f.name, fault)
		}
		if want, known := resignSample[f.name]; known && !errors.Is(f.refusal, want) {
			t.Errorf("%s: got %v, want %v", f.name, f.refusal, want)
		}
	}
	c := countResigned(files)
	t.Logf("figure: %v", c)
	if 2*c.signed < c.files {
		t.Errorf("only %d of %d files were signed", c.signed, c.files)
	}
	testenv.WriteTable(t, "resigned.md", resignedTable(files, t.Failed()))
}

// resignedFile is a signed file with the result of signing it once more.
type resignedFile struct {
	name                   string // below the folder of foreign files
	before, after, control string // paths
	refusal                error  // why it was not signed
	valid, kept            [2]int // signatures that each judge accepted before, and of these after
	exempt                 int    // signatures that pyHanko refuses with the control as well
	notAnalysed            string // the last of those
	faults                 []string
}

// The judges of signatures.
const (
	byPDFSig = iota
	byPyHanko
)

// resignNames returns the files to sign: the sample, or all in which pdfsig finds a signature.
func resignNames(t *testing.T) []string {
	t.Helper()
	corpus := testenv.Corpus(t, "")
	if !testenv.Full() {
		return slices.Sorted(maps.Keys(resignSample))
	}
	var names []string
	for _, folder := range []string{"signed/pdf", "pdf"} {
		paths, err := filepath.Glob(filepath.Join(corpus, filepath.FromSlash(folder), "*.pdf"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			signatures, err := validators.PDFSig(t, validators.PDFSigOptions{}, path)
			if folder == "signed/pdf" || err == nil && len(signatures) > 0 {
				names = append(names, folder+"/"+filepath.Base(path))
			}
		}
	}
	return names
}

func resign(t *testing.T, name string, p person) *resignedFile {
	t.Helper()
	f := &resignedFile{name: name, before: filepath.Join(testenv.Corpus(t, ""), filepath.FromSlash(name))}
	content := testenv.ReadFile(t, f.before)
	revision, err := pades.Sign(t.Context(), document(content), p.key, p.signer, pades.Options{}, ades.Sources{})
	if err != nil {
		f.refusal = err
		return f
	}
	signed := slices.Concat(content, revision.Bytes)
	for _, fault := range pdflint.Check(content, signed) {
		f.fault("lint: %v", fault)
	}
	f.after = tempFile(t, "after.pdf", signed)
	f.control = tempFile(t, "control.pdf", slices.Concat(content, idleUpdate(t, content)))
	return f
}

// idleUpdate returns an update that writes the catalog again as it is, and adds a null.
func idleUpdate(t *testing.T, content []byte) []byte {
	t.Helper()
	catalog, _, err := open(t, content).Catalog()
	if err != nil {
		t.Fatal(err)
	}
	return updated(t, content, func(update *pdf.Update) {
		update.Set(catalog, sourceOf(t, update, catalog))
		update.Add([]byte("null"))
	})[len(content):]
}

// resignedFigures are sums over files.
type resignedFigures struct {
	files, signed, exempt int
	valid, kept           [2]int
}

func (c resignedFigures) String() string {
	return fmt.Sprintf("%d of %d files signed once more; pdfsig accepted %d of their signatures before and %d of these after; pyHanko %d and %d, and %d more but for what it reports of a revision that changes nothing",
		c.signed, c.files, c.valid[byPDFSig], c.kept[byPDFSig], c.valid[byPyHanko], c.kept[byPyHanko], c.exempt)
}

func countResigned(files []*resignedFile) (c resignedFigures) {
	for _, f := range files {
		c.files++
		if f.refusal == nil {
			c.signed++
		}
		c.exempt += f.exempt
		for judge := range c.valid {
			c.valid[judge] += f.valid[judge]
			c.kept[judge] += f.kept[judge]
		}
	}
	return c
}

// resignedTable returns docs/resigned.md, with the figures of the run even if it failed.
func resignedTable(files []*resignedFile, failed bool) []byte {
	var b bytes.Buffer
	c := countResigned(files)
	fmt.Fprintf(&b, "# Signed files, signed once more\n\nWritten by `.ci/full`. The files are test files of EU DSS (`signed/pdf`) and of pdf.js (`pdf`) that have signatures; many are broken on purpose.\n\n")
	fmt.Fprintf(&b, "**%d of %d files were signed once more.** Signatures of theirs that were valid before, and are after:\n\n", c.signed, c.files)
	fmt.Fprintf(&b, "| judge | before | after | not analysed |\n|---|---|---|---|\n| pdfsig | %d | %d | |\n| pyHanko, with no forbidden change after them | %d | %d | %d |\n\n",
		c.valid[byPDFSig], c.kept[byPDFSig], c.valid[byPyHanko], c.kept[byPyHanko], c.exempt)
	noteFailure(&b, failed)
	writeRefusals(&b, files)
	writeFiles(&b, "Faults", "What is wrong with a file that was signed: an earlier signature that is not valid any more, ours, or what the lint finds.", files,
		func(f *resignedFile) string { return strings.Join(f.faults, "; ") })
	writeFiles(&b, "Not analysed by pyHanko", "It says the same of a revision that changes nothing.", files,
		func(f *resignedFile) string { return f.notAnalysed })
	return b.Bytes()
}

// writeRefusals lists the reasons, the most frequent first.
func writeRefusals(b *bytes.Buffer, files []*resignedFile) {
	refused := map[string][]string{}
	for _, f := range files {
		if f.refusal != nil {
			refused[f.refusal.Error()] = append(refused[f.refusal.Error()], f.name)
		}
	}
	reasons := slices.SortedFunc(maps.Keys(refused), func(x, y string) int {
		return cmp.Or(len(refused[y])-len(refused[x]), strings.Compare(x, y))
	})
	b.WriteString("## Refused\n\n| reason | files |\n|---|---|\n")
	for _, reason := range reasons {
		fmt.Fprintf(b, "| %s | %s |\n", strings.TrimPrefix(reason, "pades: "), strings.Join(refused[reason], ", "))
	}
	b.WriteString("\n")
}

// writeFiles lists the files for which text returns something.
func writeFiles(b *bytes.Buffer, title, about string, files []*resignedFile, text func(*resignedFile) string) {
	fmt.Fprintf(b, "## %s\n\n%s\n\n| file | what |\n|---|---|\n", title, about)
	for _, f := range files {
		if text := text(f); text != "" {
			fmt.Fprintf(b, "| %s | %s |\n", f.name, cell(text))
		}
	}
	b.WriteString("\n")
}
