// Package validators asks foreign programs what they think of a signed PDF: EU DSS,
// pyHanko, poppler's pdfsig, OpenSSL, qpdf, and veraPDF about PDF/A and PDF/UA; and of signed XML:
// EU DSS, XML Security Library and libxml2. Only tests import it.
//
// Each function takes the test, the trust anchors and the files, and returns what the
// program said in the program's own words; it judges nothing. A program that is not
// installed skips the test, or fails it under INNSIGLI_NO_SKIP (package env), so a
// subtest for each program loses no other's verdict. A program that crashes, or prints
// what cannot be read, fails the test.
//
//	t.Run("EU DSS", func(t *testing.T) {
//		report := validators.DSS(t, validators.DSSOptions{Roots: roots}, path)[0]
//		if got := report.Signatures[0].Format; got != "PAdES-BASELINE-B" {
//			t.Errorf("format %s", got)
//		}
//	})
//
// All of them work offline, unless asked not to: they see the file and the anchors. DSS,
// veraPDF, pyHanko and XML Security Library take many files at once and answer in the same order. They take seconds
// to start, and stay up for all tests of a binary, or of all packages (INNSIGLI_VALIDATORS); what they
// know of a file is forgotten with it.
//
// DSS, pyHanko, pdfsig, OpenSSL, LibreOffice and xmlsec1 also sign, for tests that start from what others made.
package validators

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// outcome is how a program ended.
type outcome struct {
	stdout, stderr []byte
	status         int
}

// run fails the test only when the program cannot be run to its end: what an exit status
// means is each program's own affair.
func run(t testing.TB, program string, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(t.Context(), program, args...)
	command.Env = environment()
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	if exit := new(exec.ExitError); err != nil && (!errors.As(err, &exit) || !exit.Exited()) {
		t.Fatalf("%s: %v\n%s", filepath.Base(program), err, stderr.Bytes())
	}
	return outcome{stdout.Bytes(), stderr.Bytes(), command.ProcessState.ExitCode()}
}

// environment is that of every program: in English and UTC.
func environment() []string { return append(os.Environ(), "LC_ALL=C.UTF-8", "TZ=UTC") }

// mustRun is run for programs whose exit status is zero whatever the verdict.
func mustRun(t testing.TB, program string, args ...string) []byte {
	t.Helper()
	got := run(t, program, args...)
	if got.status != 0 {
		t.Fatalf("%s: exit status %d\n%s", filepath.Base(program), got.status, got.stderr)
	}
	return got.stdout
}

// rootArguments writes each anchor to a PEM file and returns "--root", path for each.
func rootArguments(t testing.TB, roots []*x509.Certificate) []string {
	t.Helper()
	folder := t.TempDir()
	var args []string
	for i, root := range roots {
		path := filepath.Join(folder, fmt.Sprintf("root%d.pem", i))
		writePEM(t, path, root)
		args = append(args, "--root", path)
	}
	return args
}

func writePEM(t testing.TB, path string, certs ...*x509.Certificate) {
	t.Helper()
	var text bytes.Buffer
	for _, cert := range certs {
		text.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw}))
	}
	writeFile(t, path, text.Bytes())
}

func writeFile(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// decodeLines reads one JSON object for each of n files.
func decodeLines[Report any](t testing.TB, program string, lines []byte, n int) []Report {
	t.Helper()
	reports := make([]Report, 0, n)
	for decoder := json.NewDecoder(bytes.NewReader(lines)); decoder.More(); {
		var report Report
		if err := decoder.Decode(&report); err != nil {
			t.Fatalf("%s: %v in %q", program, err, lines)
		}
		reports = append(reports, report)
	}
	if len(reports) != n {
		t.Fatalf("%s: %d reports for %d files", program, len(reports), n)
	}
	return reports
}
