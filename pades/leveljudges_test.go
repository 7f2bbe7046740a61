package pades_test

import (
	"crypto/x509"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/test/validators"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// levelFile is a document with signatures, and the levels that they have in the end.
type levelFile struct {
	name    string
	path    string
	levels  []ades.Level
	stamps  int   // document timestamps
	untimed []int // signatures whose first timestamp is one of the document
}

func judgeLevels(t *testing.T, files []levelFile, ca *sandboxca.Authority) {
	t.Helper()
	t.Run("EU DSS", func(t *testing.T) { levelsByDSS(t, files, ca) })
	t.Run("pyHanko", func(t *testing.T) { levelsByPyHanko(t, files, ca) })
	t.Run("pyHanko for the long term", func(t *testing.T) { levelsByPyHankoLongTerm(t, files, ca) })
	t.Run("pyHanko's profile", func(t *testing.T) { levelsByPyHankoProfile(t, files, ca) })
	t.Run("pdfsig", func(t *testing.T) { levelsByPDFSig(t, files) })
}

func levelsByDSS(t *testing.T, files []levelFile, ca *sandboxca.Authority) {
	var short, long []levelFile
	for _, f := range files {
		if f.levels[0] < ades.LT {
			short = append(short, f)
		} else {
			long = append(long, f)
		}
	}
	roots := []*x509.Certificate{ca.Root()}
	judgeByDSS(t, long, validators.DSSOptions{Roots: roots})
	judgeByDSS(t, short, validators.DSSOptions{Roots: roots, RevocationOptional: true})
}

func judgeByDSS(t *testing.T, files []levelFile, options validators.DSSOptions) {
	if len(files) == 0 {
		return
	}
	for i, r := range validators.DSS(t, options, paths(files)...) {
		f := files[i]
		if r.Error != "" || len(r.Signatures) != len(f.levels) {
			t.Errorf("%s: %q, %d signatures", f.name, r.Error, len(r.Signatures))
			continue
		}
		for i, s := range r.Signatures {
			if s.Format != "PAdES-BASELINE-"+f.levels[i].String() || s.Indication != "TOTAL_PASSED" || s.Modified || s.UndefinedChange > 0 {
				t.Errorf("%s: %s %s %s, modified %v, %d undefined changes: %v", f.name, s.Format, s.Indication, s.SubIndication, s.Modified, s.UndefinedChange, s.Errors)
			}
		}
		for _, s := range r.Timestamps {
			if s.Indication != "PASSED" {
				t.Errorf("%s: %s %s %s: %v", f.name, s.Type, s.Indication, s.SubIndication, s.Errors)
			}
		}
	}
}

func paths(files []levelFile) []string {
	var all []string
	for _, f := range files {
		all = append(all, f.path)
	}
	return all
}

func levelsByPyHanko(t *testing.T, files []levelFile, ca *sandboxca.Authority) {
	for i, r := range validators.PyHanko(t, []*x509.Certificate{ca.Root()}, paths(files)...) {
		f := files[i]
		if r.Error+r.Lenient != "" || len(r.Signatures) != len(f.levels)+f.stamps {
			t.Errorf("%s: %q, %q, %d signatures", f.name, r.Error, r.Lenient, len(r.Signatures))
		}
		for _, s := range r.Signatures {
			if s.Error != "" || !s.Intact || !s.Valid || !s.Trusted || !s.BottomLine && s.Type == "/Sig" {
				t.Errorf("%s: %+v", f.name, s)
			}
		}
	}
}

func levelsByPDFSig(t *testing.T, files []levelFile) {
	for _, f := range files {
		signatures, err := validators.PDFSig(t, validators.PDFSigOptions{}, f.path)
		if err != nil || len(signatures) != len(f.levels)+f.stamps {
			t.Errorf("%s: %d signatures, %v", f.name, len(signatures), err)
		}
		for _, s := range signatures {
			if s.Type == "ETSI.CAdES.detached" && !s.Valid() {
				t.Errorf("%s: %+v", f.name, s)
			}
		}
	}
}

// levelsByPyHankoLongTerm is about what the documents carry: offline, with revocation data
// required, and in ten years too.
func levelsByPyHankoLongTerm(t *testing.T, files []levelFile, ca *sandboxca.Authority) {
	for i, r := range validators.PyHankoLongTerm(t, []*x509.Certificate{ca.Root()}, paths(files)...) {
		f := files[i]
		var want []validators.PyHankoLongTermSignature
		for i := range f.levels {
			want = append(want, f.longTerm(i))
		}
		ignored := cmpopts.IgnoreFields(validators.PyHankoLongTermSignature{}, "Field", "Archived")
		if diff := cmp.Diff(want, r.Signatures, ignored); diff != "" || r.Error != "" {
			t.Errorf("%s: %s (-want +got):\n%s", f.name, r.Error, diff)
			continue
		}
		for i, s := range r.Signatures {
			archived := f.levels[i] == ades.LTA || slices.Contains(f.untimed, i)
			if archived == s.Archived.IsZero() {
				t.Errorf("%s: %s has a document timestamp of %v", f.name, s.Field, s.Archived)
			}
		}
	}
}

// levelsByPyHankoProfile: every signature of level LTA is of pyHanko's profile pades-lta, and
// none of a lower level is. It asks for a timestamp in the signature, and misjudges those
// behind a document timestamp.
func levelsByPyHankoProfile(t *testing.T, files []levelFile, ca *sandboxca.Authority) {
	for i, r := range validators.PyHankoProfile(t, []*x509.Certificate{ca.Root()}, paths(files)...) {
		f := files[i]
		if r.Error != "" || len(r.Signatures) != len(f.levels) {
			t.Errorf("%s: %q, %d signatures", f.name, r.Error, len(r.Signatures))
			continue
		}
		for i, s := range r.Signatures {
			if want := f.levels[i] == ades.LTA && !slices.Contains(f.untimed, i) && !s.Behind; s.Passed != want {
				t.Errorf("%s: %+v, want %v", f.name, s, want)
			}
		}
	}
}

// longTerm is what pyHanko has to say about a signature.
func (f levelFile) longTerm(i int) validators.PyHankoLongTermSignature {
	s := validators.PyHankoLongTermSignature{Sufficient: f.levels[i] >= ades.LT, Now: "PASSED", Later: "PASSED"}
	switch {
	case f.levels[i] < ades.LT:
		s.Now, s.Later = "INDETERMINATE CERTIFICATE_CHAIN_GENERAL_FAILURE", "INDETERMINATE CERTIFICATE_CHAIN_GENERAL_FAILURE"
	case slices.Contains(f.untimed, i):
		s.Now, s.Later = "INDETERMINATE SIG_CONSTRAINTS_FAILURE", "INDETERMINATE SIG_CONSTRAINTS_FAILURE"
	case f.levels[i] == ades.LT:
		s.Now = "INDETERMINATE NO_POE"
	}
	return s
}
