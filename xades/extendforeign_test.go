package xades_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/xades"
)

// Other people's signatures get a timestamp that EU DSS finds intact, or are refused for a reason, and stay as
// good as they were.
func TestExtendForeign(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	files, err := filepath.Glob(filepath.Join(testenv.Corpus(t, "signed/xml"), "*.xml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	var raised []string
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(path)
		revisions, err := xades.Extender{Sources: ca.Sources(nil)}.Extend(t.Context(), document(b), ades.T)
		if err != nil {
			if !isRefusal(err) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if len(revisions) == 0 {
			continue
		}
		after := grown(t, b, revisions...)
		sameVerdicts(t, name, verify(t, b, ca), verify(t, after, ca))
		raised = append(raised, filepath.Join(t.TempDir(), name))
		writeFile(t, raised[len(raised)-1], after)
	}
	t.Logf("figure: %d of %d samples were raised to T", len(raised), len(files))
	if len(raised) < 40 {
		t.Error("too few")
	}
	if !testenv.Full() {
		raised = slices.DeleteFunc(raised, func(path string) bool { return len(filepath.Base(path))%4 > 0 })
	}
	for i, r := range validators.DSS(t, validators.DSSOptions{}, raised...) {
		name := filepath.Base(raised[i])
		altered := 0
		for _, s := range r.Timestamps {
			if !s.Intact {
				altered++
			}
		}
		if len(r.Signatures) == 0 || len(r.Timestamps) == altered || altered != foreignTimestamps[name] {
			t.Errorf("%s: %d of %d timestamps are not intact, %s", name, altered, len(r.Timestamps), r.Error)
		}
	}
}

// foreignTimestamps is how many timestamps of a sample are over something else.
var foreignTimestamps = map[string]int{"xades-t-copied-sigtst.xml": 1}

func isRefusal(err error) bool {
	for _, refusal := range []error{ades.ErrUnsigned, ades.ErrUnreadable, ades.ErrForbidden, ades.ErrBroken} {
		if errors.Is(err, refusal) {
			return true
		}
	}
	return false
}

// sameVerdicts: what is added makes no signature better or worse in itself.
func sameVerdicts(t *testing.T, name string, before, after []ades.SignatureReport) {
	t.Helper()
	if len(before) != len(after) {
		t.Errorf("%s: %d signatures, and then %d", name, len(before), len(after))
		return
	}
	for i := range before {
		if before[i].Intact != after[i].Intact || before[i].Indication != after[i].Indication {
			t.Errorf("%s: %s, and then %s: %q", name, before[i].Indication, after[i].Indication, after[i].Problems)
		}
	}
}
