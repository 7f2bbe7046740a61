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

	"github.com/innsigli/innsigli/internal/testenv"
	"github.com/innsigli/innsigli/internal/validators"
	"github.com/innsigli/innsigli/pades"
)

// wantSigned is the part of the clean files of the corpus that has to come out
// signed and valid.
const wantSigned = 0.97

// TestCorpus signs foreign files. Those that qpdf, mutool and pdfinfo read without
// complaint and that are not encrypted are clean: signed, they have to stay so,
// with every byte before the signature as it was. None of the others may do worse
// than be refused. Every eighth file is tried, and with INNSIGLI_FULL=1 all of
// them, which also writes the table.
func TestCorpus(t *testing.T) {
	folder := testenv.Corpus(t, "pdf")
	testenv.Program(t, "qpdf")
	testenv.Program(t, "pdfsig")
	p := newPerson(t, newAuthority(t), p256(t))
	var tried []corpusFile
	for i, f := range readCorpus(t, folder) {
		if !testenv.Full() && i%8 != 0 {
			continue
		}
		f.sign(t, filepath.Join(folder, f.name), p)
		tried = append(tried, f)
	}
	clean, signed := 0, 0
	for _, f := range tried {
		if f.clean {
			clean++
			if f.outcome == signedAndValid {
				signed++
			}
		}
		if f.took > 2*time.Second {
			t.Errorf("%s took %v", f.name, f.took)
		}
	}
	t.Logf("%d files, of them %d clean; %d of the clean ones (%.1f %%) signed and valid", len(tried), clean, signed, 100*float64(signed)/float64(clean))
	if float64(signed) < wantSigned*float64(clean) {
		t.Errorf("signed %d of %d clean files", signed, clean)
	}
	testenv.WriteTable(t, "corpus.md", corpusTable(tried, clean, signed))
}

// corpusFile is a file of the corpus and what became of it.
type corpusFile struct {
	name    string
	clean   bool
	outcome string
	took    time.Duration
}

const signedAndValid = "signed and valid"

// readCorpus reads the list of files with what other programs say of them.
func readCorpus(t *testing.T, folder string) []corpusFile {
	t.Helper()
	list, err := os.ReadFile(filepath.Join(folder, "expected.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var files []corpusFile
	for line := range strings.Lines(string(list)) {
		column := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
		if len(column) < 6 || column[0] == "file" {
			continue
		}
		clean := column[1] == "0" && column[2] == "0" && column[3] == "0" && column[5] == "no"
		files = append(files, corpusFile{name: column[0], clean: clean})
	}
	return files
}

// sign signs the file and lets qpdf and pdfsig judge the result.
func (f *corpusFile) sign(t *testing.T, path string, p person) {
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	revision, err := f.trySign(t, content, p)
	f.took = time.Since(began)
	if err != nil {
		f.outcome = reason(err)
		return
	}
	signed := filepath.Join(t.TempDir(), "signed.pdf")
	if err := os.WriteFile(signed, append(content[:len(content):len(content)], revision.Bytes...), 0o600); err != nil {
		t.Fatal(err)
	}
	f.outcome = judge(t, signed, f.clean)
	if err := os.Remove(signed); err != nil {
		t.Fatal(err)
	}
}

// trySign reports a panic as a fault of the test.
func (f *corpusFile) trySign(t *testing.T, content []byte, p person) (r pades.Revision, err error) {
	defer func() {
		if v := recover(); v != nil {
			t.Errorf("%s: panic: %v", f.name, v)
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	before := bytes.Clone(content)
	r, err = pades.Sign(t.Context(), document(content), p.key, p.signer, pades.Options{Reason: "Undirritun"})
	if !bytes.Equal(before, content) {
		t.Errorf("%s: bytes of the document were changed", f.name)
	}
	if err == nil && r.Base != int64(len(content)) {
		t.Errorf("%s: revision at %d", f.name, r.Base)
	}
	return r, err
}

// judge says what is wrong with a signed file.
func judge(t *testing.T, signed string, clean bool) string {
	if warnings, err := validators.QPDFCheck(t, signed); clean && (err != nil || len(warnings) > 0) {
		return fmt.Sprintf("qpdf complains about the result: %.90s", fmt.Sprint(warnings, err))
	}
	signatures, err := validators.PDFSig(t, validators.PDFSigOptions{}, signed)
	if err != nil {
		return "pdfsig cannot read the result"
	}
	if n := slices.IndexFunc(signatures, func(s validators.PDFSigSignature) bool { return s.Total && s.Valid() }); n < 0 {
		return "pdfsig does not find the signature valid"
	}
	return signedAndValid
}

// reason is why a file was refused, without what differs from file to file.
func reason(err error) string {
	for _, e := range []error{pades.ErrEncrypted, pades.ErrForbidden, pades.ErrBroken, pades.ErrUnreadable} {
		if errors.Is(err, e) {
			return "refused: " + strings.TrimPrefix(e.Error(), "pades: ")
		}
	}
	return "failed: " + err.Error()
}

func corpusTable(files []corpusFile, clean, signed int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Foreign files, signed\n\nWritten by `.ci/full`. The files are the PDFs that pdf.js tests itself with, many of them broken on purpose. Clean are those that qpdf, mutool and pdfinfo read without complaint and that are not encrypted. Signed and valid: every byte before the signature as it was, `qpdf --check` still silent, pdfsig: signature valid, whole document signed.\n\n")
	fmt.Fprintf(&b, "**%d of %d clean files (%.1f %%) signed and valid**, at least %.0f %% asked for.\n\n", signed, clean, 100*float64(signed)/float64(clean), 100*wantSigned)
	counts := make(map[string][2]int)
	for _, f := range files {
		c := counts[f.outcome]
		if f.clean {
			c[0]++
		} else {
			c[1]++
		}
		counts[f.outcome] = c
	}
	b.WriteString("| outcome | clean files | other files |\n|---|---|---|\n")
	outcomes := slices.SortedFunc(maps.Keys(counts), func(x, y string) int {
		return cmp.Or(counts[y][0]+counts[y][1]-counts[x][0]-counts[x][1], strings.Compare(x, y))
	})
	for _, o := range outcomes {
		fmt.Fprintf(&b, "| %s | %d | %d |\n", o, counts[o][0], counts[o][1])
	}
	b.WriteString("\n## Clean files that did not come out signed\n\n| file | outcome |\n|---|---|\n")
	for _, f := range files {
		if f.clean && f.outcome != signedAndValid {
			fmt.Fprintf(&b, "| %s | %s |\n", f.name, f.outcome)
		}
	}
	return b.Bytes()
}
