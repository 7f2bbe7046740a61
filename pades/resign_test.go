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

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/pdflint"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/pades"
)

// resignSample are files for a run that is not over whole corpora: one of each kind of
// section and of each way to hold a form, with approvals, certifications and timestamps.
// They are refused for the reason given; nil: they are signed.
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

// TestSignedCorpusStaysValid signs foreign files that are signed already once more. Every
// signature that pdfsig or pyHanko held valid before is valid after, and so is ours; in
// pyHanko's analysis of differences too, what we added is no more than filling in a form.
// Some files it cannot analyse once anything follows their signatures: the control, an
// update that changes nothing, tells which. With INNSIGLI_FULL=1 it is all files, and a
// table.
func TestSignedCorpusStaysValid(t *testing.T) {
	p := newPerson(t, newAuthority(t), p256(t))
	var files []*resignedFile
	for _, name := range resignNames(t) {
		files = append(files, resign(t, name, p))
	}
	judgeByPDFSig(t, files)
	judgeByPyHanko(t, files)
	signed := 0
	for _, f := range files {
		for _, fault := range f.faults {
			t.Errorf("%s: %s", f.name, fault)
		}
		if want, known := resignSample[f.name]; known && !errors.Is(f.refusal, want) {
			t.Errorf("%s: %v, want %v", f.name, f.refusal, want)
		}
		if f.refusal == nil {
			signed++
		}
	}
	t.Logf("figure: %v", countResigned(files))
	if 2*signed < len(files) {
		t.Errorf("only %d of %d files were signed", signed, len(files))
	}
	testenv.WriteTable(t, "resigned.md", resignedTable(files, t.Failed()))
}

// resignedFile is a signed file and what became of it.
type resignedFile struct {
	name                   string // below the folder of foreign files
	before, after, control string // paths
	refusal                error  // why it was not signed
	valid, kept            [2]int // signatures that were valid, and those that still are, to each judge
	exempt                 int    // that pyHanko blames the control for as well
	notAnalysed            string // the last of those
	faults                 []string
}

// The judges of signatures.
const (
	byPDFSig = iota
	byPyHanko
)

// resignNames returns the files to sign: the sample, or all in which pdfsig sees a signature.
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
	content, err := os.ReadFile(f.before)
	if err != nil {
		t.Fatal(err)
	}
	revision, err := pades.Sign(t.Context(), document(content), p.key, p.signer, pades.Options{}, ades.Sources{})
	if err != nil {
		f.refusal = err
		return f
	}
	for _, fault := range pdflint.Check(content, slices.Concat(content, revision.Bytes)) {
		f.fault("lint: %v", fault)
	}
	folder := t.TempDir()
	f.after, f.control = filepath.Join(folder, "after.pdf"), filepath.Join(folder, "control.pdf")
	for path, appended := range map[string][]byte{f.after: revision.Bytes, f.control: idleUpdate(t, content)} {
		if err := os.WriteFile(path, slices.Concat(content, appended), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// idleUpdate returns an update that sets the catalog to what it is and adds a null.
func idleUpdate(t *testing.T, content []byte) []byte {
	t.Helper()
	file, err := pdf.Open(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	catalog, _, err := file.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	update := file.NewUpdate()
	source, err := update.Source(catalog)
	if err != nil {
		t.Fatal(err)
	}
	update.Set(catalog, source)
	update.Add([]byte("null"))
	appended, _, err := update.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return appended
}

// resignedFigures are sums over files.
type resignedFigures struct {
	files, signed, exempt int
	valid, kept           [2]int
}

func (c resignedFigures) String() string {
	return fmt.Sprintf("%d of %d files signed once more; pdfsig held %d of their signatures valid before and %d of these after; pyHanko %d and %d, and %d more but for what it says of a revision that changes nothing",
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

// resignedTable is docs/resigned.md. Its figures are those of the run, even if that failed.
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

// writeFiles lists the files of which there is something to say.
func writeFiles(b *bytes.Buffer, title, about string, files []*resignedFile, say func(*resignedFile) string) {
	fmt.Fprintf(b, "## %s\n\n%s\n\n| file | what |\n|---|---|\n", title, about)
	for _, f := range files {
		if text := say(f); text != "" {
			fmt.Fprintf(b, "| %s | %s |\n", f.name, cell(text))
		}
	}
	b.WriteString("\n")
}
