package diff

import (
	"errors"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/pades/internal/form"
)

// The path to a position below names of megabytes is short, and ends with the last step.
func TestPathIsShort(t *testing.T) {
	p := &position{role: catalog, step: "Root"}
	for range 100 {
		p = p.child(strings.Repeat("x", 1<<20), otherRole)
	}
	p = p.child("Contents", pageContent)
	if path := p.path(); len(path) > 600 || !strings.HasSuffix(path, "/Contents") {
		t.Errorf("%d bytes: %.100q", len(path), path)
	}
}

// Locks beyond the bound, or with more fields than the bound, are an error.
func TestLocksAreBounded(t *testing.T) {
	for name, lock := range map[string]form.Lock{
		"locks":  {Action: "All"},
		"fields": {Action: "Include", Fields: make([]string, maxLockedFields)},
	} {
		r := rules{permission: form.Never}
		var err error
		for n := 0; n <= maxLocks && err == nil; n++ {
			err = r.add(lock)
		}
		if !errors.Is(err, pdf.ErrLimit) {
			t.Errorf("too many %s: %v, want %v", name, err, pdf.ErrLimit)
		}
	}
}
