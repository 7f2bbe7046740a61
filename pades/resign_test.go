package pades_test

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/internal/testenv"
	"github.com/innsigli/innsigli/internal/validators"
	"github.com/innsigli/innsigli/pades"
)

// resignSample are files for a run that is not over whole corpora: one of each kind of
// section and of each way to hold a form, with approvals, certifications and timestamps.
var resignSample = []string{
	"signed/pdf/DSS-1983.pdf",             // a document timestamp behind the signature
	"signed/pdf/DSS-3226.pdf",             // two signatures
	"signed/pdf/DSS1376-rev_n.pdf",        // the earlier one is not valid any more
	"signed/pdf/PAdES-LT.pdf",             // hybrid
	"signed/pdf/Signature-P-BG_BOR-1.pdf", // hybrid
	"signed/pdf/Signature-P-DE_SCI-4.pdf",
	"signed/pdf/certified-no-change-permitted.pdf",
	"signed/pdf/encrypted.pdf",
	"signed/pdf/pades-bes.pdf",
	"signed/pdf/pdf-removed-pages.pdf",
	"pdf/bug854315.pdf",
	"pdf/signed_verified.pdf",
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
		if f.refused == "" {
			signed++
		}
	}
	t.Logf("%d files, %d of them signed once more", len(files), signed)
	if 2*signed < len(files) {
		t.Errorf("only %d of %d files were signed", signed, len(files))
	}
	testenv.WriteTable(t, "resigned.md", resignedTable(files))
}

// resignedFile is a signed file and what became of it.
type resignedFile struct {
	name                   string // below the folder of foreign files
	before, after, control string // paths
	refused                string // why it was not signed
	kept                   [2]int // signatures that were valid and are, to pdfsig and to pyHanko
	notAnalysed            string // by pyHanko, which blames the control as well
	faults                 []string
}

// resignNames returns the files to sign: the sample, or all in which pdfsig sees a signature.
func resignNames(t *testing.T) []string {
	t.Helper()
	corpus := testenv.Corpus(t, "")
	if !testenv.Full() {
		return resignSample
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
	revision, err := pades.Sign(t.Context(), document(content), p.key, p.signer, pades.Options{})
	if err != nil {
		f.refused = err.Error()
		return f
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

func resignedTable(files []*resignedFile) []byte {
	var b bytes.Buffer
	var kept [2]int
	signed := 0
	refused := map[string][]string{}
	for _, f := range files {
		kept[0], kept[1] = kept[0]+f.kept[0], kept[1]+f.kept[1]
		if f.refused == "" {
			signed++
		} else {
			refused[f.refused] = append(refused[f.refused], f.name)
		}
	}
	fmt.Fprintf(&b, "# Signed files, signed once more\n\nWritten by `.ci/full`. The files are test files of EU DSS (`signed/pdf`) and of pdf.js (`pdf`) that have signatures; many are broken on purpose.\n\n")
	fmt.Fprintf(&b, "**%d of %d files were signed once more.** Of the signatures that they had, pdfsig held %d valid, and does; pyHanko held %d valid with no forbidden change after them, and does.\n\n", signed, len(files), kept[0], kept[1])
	b.WriteString("## Refused\n\n| reason | files |\n|---|---|\n")
	reasons := slices.SortedFunc(maps.Keys(refused), func(x, y string) int {
		return cmp.Or(len(refused[y])-len(refused[x]), strings.Compare(x, y))
	})
	for _, reason := range reasons {
		fmt.Fprintf(&b, "| %s | %s |\n", strings.TrimPrefix(reason, "pades: "), strings.Join(refused[reason], ", "))
	}
	b.WriteString("\n## Not analysed by pyHanko\n\nIt says the same of a revision that changes nothing. pdfsig holds the signatures valid.\n\n| file | signature |\n|---|---|\n")
	for _, f := range files {
		if f.notAnalysed != "" {
			fmt.Fprintf(&b, "| %s | %s |\n", f.name, f.notAnalysed)
		}
	}
	return b.Bytes()
}
