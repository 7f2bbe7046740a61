package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/xades"
)

// XML that is too long is refused with the length of the file.
func TestLongXML(t *testing.T) {
	path := filepath.Join(t.TempDir(), "long.xml")
	if err := os.WriteFile(path, []byte("<a>"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1<<30); err != nil {
		t.Fatal(err)
	}
	src, err := openSource(path)
	if err != nil {
		t.Fatal(err)
	}
	document, err := src.xml()
	if err != nil {
		t.Fatal(err)
	}
	_, err = xades.Extender{}.Extend(t.Context(), document, ades.LT)
	if !errors.Is(err, xades.ErrLimit) || !strings.Contains(err.Error(), "1073741824 bytes") {
		t.Errorf("a file of 1 GB: %v", err)
	}
}
