package pdfium_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// The text of licences names the version of go-pdfium whose PDFium it is for. Compare the libraries when it changes:
// docs/licences.md says how.
func TestLicencesAreOfThisModule(t *testing.T) {
	root := testenv.Root(t)
	module := regexp.MustCompile(`(?m)^\t(github\.com/klippa-app/go-pdfium v\S+)`).FindSubmatch(testenv.ReadFile(t, filepath.Join(root, "go.mod")))
	if module == nil {
		t.Fatal("go.mod does not require go-pdfium")
	}
	heading, _, _ := strings.Cut(string(testenv.ReadFile(t, "LICENSES.txt")), "\n\n")
	if !strings.HasSuffix(heading, " "+string(module[1])+".") {
		t.Errorf("LICENSES.txt begins with %q, and go.mod requires %s", heading, module[1])
	}
}
