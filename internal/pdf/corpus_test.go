package pdf

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// maxFileTime is what reading everything of one small file may take.
const maxFileTime = 2 * time.Second

// corpusFile is a row of expected.tsv: what other readers say of a file.
type corpusFile struct {
	path  string
	pages int
	clean bool // qpdf, mutool and pdfinfo have no complaint, and it is not encrypted
}

func readCorpus(t *testing.T) (files []corpusFile) {
	t.Helper()
	for _, f := range testenv.Expected(t, "pdf") {
		pages, _ := strconv.Atoi(f.Says["pages"]) // empty where no reader could say
		clean := f.Says["qpdf_check"] == "0" && f.Says["mutool_info"] == "0" && f.Says["pdfinfo"] == "0" && f.Says["encrypted"] == "no"
		files = append(files, corpusFile{path: f.Path, pages: pages, clean: clean})
	}
	return files
}

// Every foreign file is read or refused by name; in bounded time, which .ci/full judges.
func TestCorpusIsReadOrRefused(t *testing.T) {
	refused := map[error]int{}
	read := 0
	for _, file := range readCorpus(t) {
		content, err := os.ReadFile(file.path)
		if err != nil {
			t.Fatal(err)
		}
		d, err := timed(content)
		if testenv.Full() && d > maxFileTime {
			t.Errorf("%s: took %v", filepath.Base(file.path), d)
		}
		if err == nil {
			read++
			continue
		}
		sentinel := sentinelOf(err)
		if refused[sentinel]++; sentinel == nil {
			t.Errorf("%s: refused with no error of this package: %v", filepath.Base(file.path), err)
		}
	}
	t.Logf("read: %d, refused: %v", read, refused)
}

func timed(content []byte) (time.Duration, error) {
	start := time.Now()
	err := readEverything(content)
	return time.Since(start), err // time: judged by .ci/full alone
}

// sentinelOf returns the error of this package that err wraps.
func sentinelOf(err error) error {
	for _, sentinel := range []error{ErrNotPDF, ErrDamaged, ErrEncrypted, ErrNoPages, ErrNoPage, ErrLimit, ErrUnsupported} {
		if errors.Is(err, sentinel) {
			return sentinel
		}
	}
	return nil
}

// readEverything opens a file and reads its pages and objects. Broken objects are passed
// over: it is the time and the absence of panics that count.
func readEverything(content []byte) error {
	f, err := Open(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return err
	}
	for num, e := range f.entries.all() {
		o, err := f.Object(Ref{Num: num, Gen: e.gen})
		if stream, ok := o.(*Stream); err == nil && ok {
			_, _ = f.Stream(stream, 1<<20)
		}
	}
	if _, err := f.Revisions(); err != nil {
		return err
	}
	if _, err := f.Page(1); err != nil {
		return err
	}
	_, err = f.PageCount()
	return err
}

// Files that other readers find nothing wrong with are counted as they count them, and
// stay without fault behind an update.
func TestCorpusUpdatesStayClean(t *testing.T) {
	qpdf := testenv.Program(t, "qpdf")
	total, good := 0, 0
	for i, file := range readCorpus(t) {
		if !file.clean {
			continue
		}
		total++
		withQPDF := qpdf
		if !testenv.Full() && i%8 != 0 {
			withQPDF = ""
		}
		if err := checkUpdate(t, file, withQPDF); err != nil {
			t.Logf("%s: %v", filepath.Base(file.path), err)
			continue
		}
		good++
	}
	t.Logf("%d of %d clean files read and updated", good, total)
	if good*100 < total*98 {
		t.Errorf("%d of %d clean files read and updated: below 98 %%", good, total)
	}
}

// checkUpdate sets the catalog to its own source and reads the result again.
func checkUpdate(t *testing.T, file corpusFile, qpdf string) error {
	content, err := os.ReadFile(file.path)
	if err != nil {
		return err
	}
	f, err := openCounted(content, file.pages)
	if err != nil {
		return err
	}
	updated, err := resetCatalog(f, content)
	if err != nil {
		return err
	}
	if _, err := openCounted(updated, file.pages); err != nil {
		return err
	}
	if qpdf == "" {
		return nil
	}
	path := filepath.Join(t.TempDir(), "updated.pdf")
	if err := os.WriteFile(path, updated, 0o600); err != nil {
		return err
	}
	output, err := exec.CommandContext(t.Context(), qpdf, "--check", path).CombinedOutput()
	if err != nil {
		return errors.New(string(output))
	}
	return nil
}

func openCounted(content []byte, pages int) (*File, error) {
	f, err := Open(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, err
	}
	got, err := f.PageCount()
	if err == nil && got != pages {
		err = errors.New(strconv.Itoa(got) + " pages instead of " + strconv.Itoa(pages))
	}
	return f, err
}

// resetCatalog returns content with an update that changes nothing.
func resetCatalog(f *File, content []byte) ([]byte, error) {
	ref, _, err := f.Catalog()
	if err != nil {
		return nil, err
	}
	u := f.NewUpdate()
	source, err := u.Source(ref)
	if err != nil {
		return nil, err
	}
	u.Set(ref, source)
	appended, _, err := u.Bytes()
	return append(content, appended...), err
}
