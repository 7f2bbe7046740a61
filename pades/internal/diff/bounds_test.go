package diff

import (
	"errors"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/pades/internal/form"
)

// A way over names of megabytes is short, and ends where the position is.
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

// More locks than are kept, or of more fields, are an error, and rules that cannot be read permit nothing.
func TestLocksAreBounded(t *testing.T) {
	for name, add := range map[string]func(r *rules) error{
		"locks": func(r *rules) error { return r.add(form.Lock{Action: "All"}) },
		"fields": func(r *rules) error {
			return r.add(form.Lock{Action: "Include", Fields: make([]string, maxLockedFields)})
		},
	} {
		r := rules{permission: form.Never}
		var err error
		for range maxLocks + 1 {
			if err = add(&r); err != nil {
				break
			}
		}
		if !errors.Is(err, pdf.ErrLimit) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
