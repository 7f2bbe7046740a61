package pades_test

import (
	"bytes"
	"cmp"
	"crypto/x509"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// signedCase is a document with the fields that are signed, in the order of signing.
type signedCase struct {
	name   string
	b      []byte
	fields []string
	path   string
	// parents is for widgets that are kids of their fields. pdfsig of poppler 22.12 takes
	// those that say so by Parent for fields of their own, without a signature.
	parents bool
	format  string // as EU DSS calls it; "": PAdES-BASELINE-B
}

// checkForeign lets foreign validators judge documents whose signatures all are good, and
// whose later revisions do nothing that an earlier signature forbids.
func checkForeign(t *testing.T, ca *sandboxca.Authority, cases []signedCase) {
	t.Helper()
	folder := t.TempDir()
	var paths []string
	for i := range cases {
		c := &cases[i]
		c.path = filepath.Join(folder, strings.NewReplacer("/", "-", " ", "-").Replace(c.name)+".pdf")
		writeFile(t, c.path, c.b)
		paths = append(paths, c.path)
	}
	roots := []*x509.Certificate{ca.Root()}
	t.Run("pyHanko", func(t *testing.T) {
		for i, report := range validators.PyHanko(t, roots, paths...) {
			cases[i].checkPyHanko(t, report)
		}
	})
	t.Run("EU DSS", func(t *testing.T) {
		for i, report := range validators.DSS(t, validators.DSSOptions{Roots: roots, RevocationOptional: true}, paths...) {
			cases[i].checkDSS(t, report)
		}
	})
	t.Run("pdfsig", func(t *testing.T) {
		for _, c := range cases {
			if !c.parents {
				c.checkPDFSig(t, roots)
			}
		}
	})
	t.Run("qpdf", func(t *testing.T) {
		for _, c := range cases {
			if warnings, err := validators.QPDFCheck(t, c.path); err != nil || len(warnings) > 0 {
				t.Errorf("%s: %v, %v", c.name, warnings, err)
			}
		}
	})
}

func (c signedCase) checkPyHanko(t *testing.T, report validators.PyHankoReport) {
	var signed []string
	for i, s := range report.Signatures {
		level := "FORM_FILLING"
		if i == len(report.Signatures)-1 {
			level = "NONE"
		}
		if !s.BottomLine || !s.DocMDPOK || s.ModificationLevel != level {
			t.Errorf("%s: %+v", c.name, s)
		}
		signed = append(signed, s.Field)
	}
	if report.Error != "" || !slices.Equal(signed, c.fields) {
		t.Errorf("%s: signed are %v, want %v; %s", c.name, signed, c.fields, report.Error)
	}
}

func (c signedCase) checkDSS(t *testing.T, report validators.DSSReport) {
	if report.Error != "" || len(report.Signatures) != len(c.fields) {
		t.Errorf("%s: %d signatures, %s", c.name, len(report.Signatures), report.Error)
	}
	for _, s := range report.Signatures {
		if s.Indication != "TOTAL_PASSED" || s.Format != cmp.Or(c.format, "PAdES-BASELINE-B") || s.Modified || s.UndefinedChange > 0 || len(s.Errors) > 0 {
			t.Errorf("%s: %+v", c.name, s)
		}
	}
}

func (c signedCase) checkPDFSig(t *testing.T, roots []*x509.Certificate) {
	signatures, err := validators.PDFSig(t, validators.PDFSigOptions{Roots: roots}, c.path)
	signatures = slices.DeleteFunc(signatures, func(s validators.PDFSigSignature) bool { return s.Signature == "" }) // empty fields
	if err != nil || len(signatures) != len(c.fields) {
		t.Errorf("%s: %d signatures, %v", c.name, len(signatures), err)
	}
	for _, s := range signatures {
		if last := c.fields[len(c.fields)-1]; !s.Valid() || s.Total != (s.Field == last) {
			t.Errorf("%s: %+v", c.name, s)
		}
	}
}

// pyHankoField is an empty signature field for pyHanko to make: .ci/pyhanko/fields.py.
type pyHankoField struct {
	Name     string       `json:"name"`
	Box      []int        `json:"box,omitempty"`
	Separate bool         `json:"separate,omitempty"`
	Lock     *pyHankoLock `json:"lock,omitempty"`
	Seed     pyHankoSeed  `json:"seed,omitempty"`
}

type pyHankoLock struct {
	Action     string   `json:"action"`
	Fields     []string `json:"fields,omitempty"`
	Permission int      `json:"permission,omitempty"`
}

// pyHankoSeed is a seed value: "flags", and one key for each constraint.
type pyHankoSeed map[string]any

// addPyHankoFields adds fields to a document.
func addPyHankoFields(t *testing.T, b []byte, fields ...pyHankoField) []byte {
	t.Helper()
	python := testenv.Tool(t, "pyhanko/bin/python")
	folder := t.TempDir()
	before, after := filepath.Join(folder, "before.pdf"), filepath.Join(folder, "after.pdf")
	writeFile(t, before, b)
	specification, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), python, filepath.Join(testenv.Root(t), ".ci", "pyhanko", "fields.py"), before, after)
	command.Stdin = bytes.NewReader(specification)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("pyHanko: %v\n%s", err, out)
	}
	made, err := os.ReadFile(after)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func writeFile(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
