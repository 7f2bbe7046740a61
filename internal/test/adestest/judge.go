package adestest

import (
	"crypto/x509"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
)

// judge has all validators validate the files.
func (l *folder) judge() {
	l.Helper()
	for _, f := range l.files {
		l.f.Check(l.T, f)
	}
	l.Run("EU DSS", func(t *testing.T) { CheckByDSS(t, l.files) })
	if l.f.Judge != nil && len(l.files) > 0 {
		l.Run("validators of the format", func(t *testing.T) {
			testenv.Slow(t, "further validators are started")
			l.f.Judge(t, l.files)
		})
	}
}

// found is what a validator finds in a file.
type found struct {
	Levels     []ades.Level
	Timestamps map[ades.TimestampType]int
}

// compare compares what a validator found with what it has to find.
func (f File) compare(t testing.TB, validator string, got found) {
	t.Helper()
	want := found{slices.Clone(f.Levels), f.Timestamps}
	if f.AnyOrder {
		slices.Sort(want.Levels)
		slices.Sort(got.Levels)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %s finds other levels or timestamps (-want +got):\n%s", f.Name, validator, diff)
	}
}

// level returns the level in the format of a signature.
func (f File) level(t testing.TB, format string) ades.Level {
	t.Helper()
	name, ok := strings.CutPrefix(format, f.Format+"-BASELINE-")
	level, err := ades.ParseLevel(name)
	if err != nil || !ok {
		t.Errorf("%s: format %s", f.Name, format)
	}
	return level
}

// Check has Verify validate a file, now and at its other times.
func (f Format) Check(t testing.TB, file File) {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(file.Root)
	content := testenv.ReadFile(t, file.Path)
	for _, at := range append(file.Times, time.Time{}) {
		report := f.Verify(t, content, ades.VerifyOptions{Roots: roots, Time: at})
		got := found{Timestamps: make(map[ades.TimestampType]int)}
		for i, s := range report.Signatures {
			got.Levels = append(got.Levels, file.level(t, s.Format))
			file.checkSignature(t, s)
			for _, stamp := range s.Timestamps {
				if stamp.Type != ades.DocumentTimestamp || i == 0 { // all of these are over the first signature
					got.Timestamps[stamp.Type]++
				}
			}
		}
		file.compare(t, "Verify", got)
	}
}

// checkSignature expects a signature that passes, as far as its level permits. A signature of level
// B or T has no revocation data, nor is a timestamp trusted without.
func (f File) checkSignature(t testing.TB, s ades.SignatureReport) {
	t.Helper()
	level := f.level(t, s.Format)
	want := outcome{s.Format, ades.TotalPassed, ""}
	if level < ades.LT {
		want = outcome{s.Format, ades.Indeterminate, ades.TryLater}
	}
	got := outcome{s.Format, s.Indication, s.SubIndication}
	if proven := got.Indication == ades.TotalPassed && len(f.Levels) > 1; proven {
		want = got // by the validation data of another signature
	}
	if got != want || !s.Passed() || !s.Intact || (s.Coverage == ades.Partial) != f.Partial {
		t.Errorf("%s: %+v, want %+v; intact %v, coverage %s, changes %v: %q", f.Name, got, want, s.Intact, s.Coverage, s.Forbidden(), s.Problems)
	}
	trusted := false
	for _, stamp := range s.Timestamps {
		trusted = trusted || stamp.Trusted
		unproven := level < ades.LT && !stamp.Trusted
		if !stamp.Intact || !stamp.Trusted && !unproven || stamp.Authority == nil || stamp.Time.After(time.Now()) {
			t.Errorf("%s: timestamp of %v at level %v: %q", f.Name, stamp.Time, level, stamp.Problems)
		}
	}
	if trusted == s.BestTime.IsZero() || trusted && len(f.Levels) == 1 && level < ades.LT {
		t.Errorf("%s: timestamp trusted %v, best signature time %v at level %v", f.Name, trusted, s.BestTime, level)
	}
}

// CheckByDSS has EU DSS validate files under its own policy, with revocation data optional where a
// signature of level B or T cannot have any.
func CheckByDSS(t *testing.T, files []File) {
	t.Helper()
	testenv.Slow(t, "EU DSS validates many files")
	roots := Roots(files)
	for _, optional := range []bool{false, true} {
		some := slices.DeleteFunc(slices.Clone(files), func(f File) bool { return f.NoDSS || (slices.Min(f.Levels) < ades.LT) != optional })
		if len(some) == 0 {
			continue
		}
		for i, r := range validators.DSS(t, validators.DSSOptions{Roots: roots, RevocationOptional: optional}, Paths(some)...) {
			some[i].checkByDSS(t, r)
		}
	}
}

func (f File) checkByDSS(t *testing.T, r validators.DSSReport) {
	t.Helper()
	if r.Error != "" {
		t.Errorf("%s: EU DSS: %s", f.Name, r.Error)
		return
	}
	got := found{Timestamps: make(map[ades.TimestampType]int)}
	for _, s := range r.Signatures {
		got.Levels = append(got.Levels, f.level(t, s.Format))
		if s.Indication != "TOTAL_PASSED" || s.Modified || s.UndefinedChange > 0 || len(s.Structure) > 0 {
			t.Errorf("%s: EU DSS: %+v", f.Name, s)
		}
	}
	for _, s := range r.Timestamps {
		got.Timestamps[ades.TimestampType(s.Type)]++
		if s.Indication != "PASSED" {
			t.Errorf("%s: EU DSS: %+v", f.Name, s)
		}
	}
	f.compare(t, "EU DSS", got)
}

// Paths returns the paths of files.
func Paths(files []File) (paths []string) {
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	return paths
}

// Roots returns the roots of files.
func Roots(files []File) (roots []*x509.Certificate) {
	for _, f := range files {
		if !slices.ContainsFunc(roots, f.Root.Equal) {
			roots = append(roots, f.Root)
		}
	}
	return roots
}
