package pades_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/test/adestest"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// newAddressedAuthority returns an authority whose certificates name addresses for revocation data:
// pyHanko demands none otherwise.
func newAddressedAuthority(t testing.TB) *sandboxca.Authority {
	t.Helper()
	ca := catest.New(t)
	ca.SetBaseURL("http://sandbox.example")
	if _, err := ca.Renew(time.Now()); err != nil {
		t.Fatal(err)
	}
	return ca
}

// levelFile is a document whose signatures all have timestamps, and reach levels LT and LTA.
type levelFile struct {
	name, path string
	levels     []ades.Level
	stamps     int // document timestamps
}

// judgeLevels has EU DSS and all validators of PDF validate files.
func judgeLevels(t *testing.T, files []levelFile, ca *sandboxca.Authority) {
	t.Helper()
	var all []adestest.File
	for _, f := range files {
		stamps := map[ades.TimestampType]int{ades.SignatureTimestamp: len(f.levels), ades.DocumentTimestamp: f.stamps}
		all = append(all, adestest.File{Name: f.name, Path: f.path, Format: "PAdES", Root: ca.Root(), Levels: f.levels, Timestamps: stamps})
	}
	t.Run("EU DSS", func(t *testing.T) { adestest.CheckByDSS(t, all) })
	judgePDF(t, all)
}

// judgePDF has the validators of PDF validate files. pyHanko takes those that are validated now
// alone, and in full those of all variants of the suite.
func judgePDF(t *testing.T, files []adestest.File) {
	t.Helper()
	t.Run("pdfsig", func(t *testing.T) { levelsByPDFSig(t, files) })
	some := slices.DeleteFunc(slices.Clone(files), func(f adestest.File) bool {
		return len(f.Times) > 0 || !testenv.Full() && f.Origin == "" && strings.HasPrefix(f.Name, "table: ")
	})
	t.Run("pyHanko of foreign files", func(t *testing.T) { some = withReadableOrigin(t, some) })
	if len(some) > 0 {
		slow := some // pyHanko takes more than a second for each of these
		if !testenv.Full() {
			slow = sampleOf(some, 3)
		}
		t.Run("pyHanko", func(t *testing.T) { levelsByPyHanko(t, some) })
		t.Run("pyHanko for the long term", func(t *testing.T) { levelsByPyHankoLongTerm(t, slow) })
		t.Run("pyHanko's profile", func(t *testing.T) { levelsByPyHankoProfile(t, some) })
	}
}

// withReadableOrigin leaves out files that pyHanko did not read before they were extended: EU DSS
// adds validation data to a document with cross-reference streams under the number of one of these.
func withReadableOrigin(t *testing.T, files []adestest.File) []adestest.File {
	t.Helper()
	var origins []string
	for _, f := range files {
		if f.Origin != "" {
			origins = append(origins, f.Origin)
		}
	}
	if len(origins) == 0 {
		return files
	}
	reports := validators.PyHanko(t, nil, origins...)
	return slices.DeleteFunc(files, func(f adestest.File) bool {
		i := slices.Index(origins, f.Origin)
		if i < 0 || reports[i].Error+reports[i].Lenient == "" {
			return false
		}
		if !strings.HasPrefix(f.Name, "stream: ") || !strings.Contains(f.Name, "by EU DSS") {
			t.Errorf("%s: %s%s", f.Name, reports[i].Error, reports[i].Lenient)
		}
		return true
	})
}

func levelsByPyHanko(t *testing.T, files []adestest.File) {
	for i, r := range validators.PyHanko(t, adestest.Roots(files), adestest.Paths(files)...) {
		f := files[i]
		if r.Error+r.Lenient != "" || len(r.Signatures) != len(f.Levels)+f.Timestamps[ades.DocumentTimestamp] {
			t.Errorf("%s: %q, %q, %d signatures", f.Name, r.Error, r.Lenient, len(r.Signatures))
		}
		for _, s := range r.Signatures {
			if s.Error != "" || !s.Intact || !s.Valid || !s.Trusted || !s.BottomLine && s.Type == "/Sig" {
				t.Errorf("%s: %+v", f.Name, s)
			}
		}
	}
}

func levelsByPDFSig(t *testing.T, files []adestest.File) {
	for _, f := range files {
		signatures, err := validators.PDFSig(t, validators.PDFSigOptions{}, f.Path)
		if err != nil || len(signatures) != len(f.Levels)+f.Timestamps[ades.DocumentTimestamp] {
			t.Errorf("%s: %d signatures, %v", f.Name, len(signatures), err)
		}
		for _, s := range signatures {
			if s.Type == "ETSI.CAdES.detached" && !s.Valid() {
				t.Errorf("%s: %+v", f.Name, s)
			}
		}
	}
}

// levelsByPyHankoLongTerm has pyHanko validate with the data in the documents alone: offline, with
// revocation data required, now and in ten years.
func levelsByPyHankoLongTerm(t *testing.T, files []adestest.File) {
	for i, r := range validators.PyHankoLongTerm(t, adestest.Roots(files), adestest.Paths(files)...) {
		f := files[i]
		var want []validators.PyHankoLongTermSignature
		for i := range f.Levels {
			want = append(want, longTerm(f, i))
			if f.Levels[i] < ades.LT && i < len(r.Signatures) && strings.HasPrefix(r.Signatures[i].Later, "INDETERMINATE ") {
				want[i].Later = r.Signatures[i].Later // the reason depends on the data of other signatures
			}
		}
		ignored := cmpopts.IgnoreFields(validators.PyHankoLongTermSignature{}, "Field", "Archived")
		if diff := cmp.Diff(want, r.Signatures, ignored); diff != "" || r.Error != "" {
			t.Errorf("%s: %s (-want +got):\n%s", f.Name, r.Error, diff)
			continue
		}
		for i, s := range r.Signatures {
			archived := f.Levels[i] == ades.LTA || slices.Contains(f.Untimed, i)
			if archived == s.Archived.IsZero() {
				t.Errorf("%s: %s has a document timestamp of %v", f.Name, s.Field, s.Archived)
			}
		}
	}
}

// levelsByPyHankoProfile has pyHanko find which signatures conform to its profile pades-lta: those of
// level LTA. The profile requires a signature timestamp, and no document timestamp before the
// signature.
func levelsByPyHankoProfile(t *testing.T, files []adestest.File) {
	for i, r := range validators.PyHankoProfile(t, adestest.Roots(files), adestest.Paths(files)...) {
		f := files[i]
		if r.Error != "" || len(r.Signatures) != len(f.Levels) {
			t.Errorf("%s: %q, %d signatures", f.Name, r.Error, len(r.Signatures))
			continue
		}
		for i, s := range r.Signatures {
			if want := f.Levels[i] == ades.LTA && !slices.Contains(f.Untimed, i) && !s.Behind; s.Passed != want {
				t.Errorf("%s: %+v, want %v", f.Name, s, want)
			}
		}
	}
}

// longTerm returns what pyHanko has to find for the long term.
func longTerm(f adestest.File, i int) validators.PyHankoLongTermSignature {
	s := validators.PyHankoLongTermSignature{Sufficient: f.Levels[i] >= ades.LT, Now: "PASSED", Later: "PASSED"}
	switch {
	case f.Levels[i] < ades.LT:
		s.Now, s.Later = "INDETERMINATE CERTIFICATE_CHAIN_GENERAL_FAILURE", "INDETERMINATE CERTIFICATE_CHAIN_GENERAL_FAILURE"
	case slices.Contains(f.Untimed, i):
		s.Now, s.Later = "INDETERMINATE SIG_CONSTRAINTS_FAILURE", "INDETERMINATE SIG_CONSTRAINTS_FAILURE"
	case f.Levels[i] == ades.LT:
		s.Now = "INDETERMINATE NO_POE"
	}
	return s
}
