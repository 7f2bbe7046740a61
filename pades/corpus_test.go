package pades_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/pdflint"
	"github.com/innsigli/innsigli/pades"
)

const (
	// wantSigned is the part of the readable files that have to come out signed and
	// with nothing wrong.
	wantSigned = 0.98
	// maxTime is what signing one of the files may take.
	maxTime = 2 * time.Second
)

// unlikeMost are files that the sample has beside every sixteenth, with why they are
// refused; nil: they are signed.
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

// TestCorpus signs foreign files, two or more at a time. Readable are those that mutool and
// pdfinfo read without a password: signed, nothing that any program sees in them may be
// different but the signature. The others may be refused, and for the reason that the table
// has. INNSIGLI_FULL=1 tries all files and writes the table, else a fixed sample is tried.
func TestCorpus(t *testing.T) {
	judges := newJudges(t)
	p := newPerson(t, newAuthority(t), p256(t))
	tried := corpusFiles(t)
	t.Run("files", func(t *testing.T) {
		for _, f := range tried {
			t.Run(f.name, func(t *testing.T) {
				t.Parallel()
				f.sign(t, judges, p)
			})
		}
	})
	for _, f := range tried {
		f.checkOutcome(t)
	}
	counted := slices.DeleteFunc(slices.Clone(tried), func(f *corpusFile) bool { return !f.counted })
	all := count(counted)
	t.Logf("figure: %v; the longest took %v", all, longest(counted))
	if float64(all.clean) < wantSigned*float64(all.readable) {
		t.Errorf("signed %d of %d readable files", all.clean, all.readable)
	}
	testenv.WriteTable(t, "corpus.md", corpusTable(counted, t.Failed()))
}

// corpusFiles are all files, or the sample.
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
		t.Errorf("%d of %d files unlike most are there", unlike, len(unlikeMost))
	}
	return tried
}

// checkOutcome: what became of the files unlike most is known. Of the others, no file of
// the sample has a fault; the whole corpus is judged by how many have.
func (f *corpusFile) checkOutcome(t *testing.T) {
	t.Helper()
	for _, fault := range f.faults {
		if t.Logf("%s: %s", f.name, fault); f.special || !testenv.Full() {
			t.Errorf("%s is signed with a fault", f.name)
		}
	}
	if f.special && !errors.Is(f.refused, f.want) {
		t.Errorf("%s: %v, want %v", f.name, f.refused, f.want)
	}
}

// corpusFile is a file of the corpus and what became of it.
type corpusFile struct {
	name, path string
	readable   bool
	counted    bool  // it is one of those of which so many have to come out signed
	special    bool  // it is unlike most, and ...
	want       error // ... what is to become of it
	took       time.Duration
	refused    error    // by Prepare
	faults     []string // that a judge found in the signed file
	unjudged   []string // the judges who could not read the file as it was
}

// sign signs the file and lets the judges look at the result. A panic fails the test.
func (f *corpusFile) sign(t *testing.T, judges judges, p person) {
	content, err := os.ReadFile(f.path)
	if err != nil {
		t.Fatal(err)
	}
	before := bytes.Clone(content)
	revision, err := f.timed(t, content, p)
	if !bytes.Equal(before, content) {
		t.Error("bytes of the document were changed")
	}
	if f.refused = err; err != nil {
		f.checkRefusal(t)
		return
	}
	if revision.Base != int64(len(content)) {
		t.Errorf("revision at %d", revision.Base)
	}
	signed := slices.Concat(content, revision.Bytes)
	for _, fault := range pdflint.Check(content, signed) {
		f.faults = append(f.faults, "lint: "+fault.String())
	}
	path := filepath.Join(t.TempDir(), "signed.pdf")
	if err := os.WriteFile(path, signed, 0o600); err != nil {
		t.Fatal(err)
	}
	judges.compare(t, f, path)
}

// timed signs. How long that takes is judged by .ci/full.
func (f *corpusFile) timed(t *testing.T, content []byte, p person) (pades.Revision, error) {
	began := time.Now()
	r, err := pades.Sign(t.Context(), document(content), p.key, p.signer, pades.Options{Reason: "Undirritun"}, ades.Sources{})
	f.took = time.Since(began) // time: judged by .ci/full alone
	if testenv.Full() && f.took > maxTime {
		t.Errorf("took %v", f.took)
	}
	return r, err
}

// refusals are the errors for a document; any other is a fault of ours.
var refusals = []error{pades.ErrEncrypted, ades.ErrForbidden, ades.ErrBroken, ades.ErrUnreadable}

func (f *corpusFile) checkRefusal(t *testing.T) {
	if !slices.ContainsFunc(refusals, func(e error) bool { return errors.Is(f.refused, e) }) {
		t.Errorf("failed: %v", f.refused)
	}
}

// reason is why the file was refused.
func (f *corpusFile) reason() string {
	return strings.TrimPrefix(f.refused.Error(), "pades: ")
}

// longest is the time of the file that took most, in tenths of a second, rounded up.
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
	return fmt.Sprintf("%d files, of them %d readable; of these %d signed with nothing wrong (%.1f %%), %d signed with a fault, %d refused; of the others %d signed",
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
