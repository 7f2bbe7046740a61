package xades_test

import (
	"cmp"
	"crypto/x509"
	"os"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/test/validators"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// isEarly says that a file has a signature that cannot have proof of revocation.
func (f levelFile) isEarly() bool { return slices.Min(f.levels) < ades.LT }

func (l *levelFolder) judge() {
	roots := []*x509.Certificate{l.ca.Root()}
	slices.SortStableFunc(l.files, func(a, b levelFile) int { return cmp.Compare(count(a.isEarly()), count(b.isEarly())) })
	var paths []string
	early := 0
	for _, f := range l.files {
		paths = append(paths, f.path)
		early += count(f.isEarly())
	}
	verdicts := validators.DSS(l, validators.DSSOptions{Roots: roots}, paths[:len(paths)-early]...)
	if early > 0 {
		verdicts = append(verdicts, validators.DSS(l, validators.DSSOptions{Roots: roots, RevocationOptional: true}, paths[len(paths)-early:]...)...)
	}
	for i, r := range verdicts {
		if f := l.files[i]; !f.wide {
			f.judgeByDSS(l.T, r)
		}
	}
	l.Logf("figure: EU DSS, XML Security Library and ourselves judge %d files, %d of them with revocation data optional", len(l.files), early)
	for _, f := range l.files {
		f.judgeBySelf(l.T, l.ca)
	}
	for i, r := range validators.XMLSec(l, roots, paths...) {
		f := l.files[i]
		if r.Error != "" || len(r.Signatures) != len(f.levels) {
			l.Errorf("%s: xmlsec1: %q, %d signatures", f.name, r.Error, len(r.Signatures))
		}
		for _, s := range r.Signatures {
			if !s.Valid {
				l.Errorf("%s: xmlsec1: %s", f.name, s.Error)
			}
		}
	}
}

func (f levelFile) judgeByDSS(t *testing.T, r validators.DSSReport) {
	if r.Error != "" || len(r.Signatures) != len(f.levels) {
		t.Errorf("%s: %q, %d signatures", f.name, r.Error, len(r.Signatures))
		return
	}
	var levels []ades.Level
	for _, s := range r.Signatures {
		level, err := ades.ParseLevel(strings.TrimPrefix(s.Format, "XAdES-BASELINE-"))
		levels = append(levels, level)
		if err != nil || s.Indication != "TOTAL_PASSED" || len(s.Structure) > 0 {
			t.Errorf("%s: %s %s %s: %v %v %v", f.name, s.Format, s.Indication, s.SubIndication, s.Structure, s.Errors, s.Warnings)
		}
	}
	stamps := make(map[string]int)
	for _, s := range r.Timestamps {
		stamps[s.Type]++
		if s.Indication != "PASSED" {
			t.Errorf("%s: %s %s %s: %v", f.name, s.Type, s.Indication, s.SubIndication, s.Errors)
		}
	}
	f.compare(t, levels, stamps)
}

func (f levelFile) judgeBySelf(t *testing.T, ca *sandboxca.Authority) {
	b, err := os.ReadFile(f.path)
	if err != nil {
		t.Fatal(err)
	}
	var levels []ades.Level
	stamps := make(map[string]int)
	for _, s := range verify(t, b, ca) {
		level, err := ades.ParseLevel(strings.TrimPrefix(s.Format, "XAdES-BASELINE-"))
		if err != nil || s.Indication != ades.TotalPassed && (level >= ades.LT || !s.Passed()) {
			t.Errorf("%s: %s, %s %s: %q", f.name, s.Format, s.Indication, s.SubIndication, s.Problems)
		}
		levels = append(levels, level)
		for _, s := range s.Timestamps {
			stamps[string(s.Type)]++
			if !s.Trusted && level >= ades.LT {
				t.Errorf("%s: %s: %q", f.name, s.Type, s.Problems)
			}
		}
	}
	f.compare(t, levels, stamps)
}

// compare takes levels in any order: one who goes by the document has an enveloping signature first.
func (f levelFile) compare(t *testing.T, levels []ades.Level, stamps map[string]int) {
	t.Helper()
	slices.Sort(levels)
	want := slices.Sorted(slices.Values(f.levels))
	if diff := gocmp.Diff(want, levels) + gocmp.Diff(f.stamps, stamps); diff != "" {
		t.Errorf("%s: levels and timestamps (-want +got):\n%s", f.name, diff)
	}
}
