package doc_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// TestLibXML2JudgesAlike asks xmllint about the tables of this package. What it says otherwise has
// a reason beside it, and the reasons are used.
func TestLibXML2JudgesAlike(t *testing.T) {
	t.Parallel()
	cases := append(append(documents, namespaced...), encoded...)
	folder := t.TempDir()
	files := make([]string, len(cases))
	for i, tc := range cases {
		files[i] = filepath.Join(folder, fmt.Sprintf("%d.xml", i))
		if err := os.WriteFile(files[i], []byte(tc.source), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	refused := xmllintRefuses(t, files)
	for i, tc := range cases {
		agrees := (refused[files[i]] != "") == (tc.want != nil)
		if agrees != (tc.libxml2 == "") {
			t.Errorf("%s: here %v, xmllint %q; known: %q", tc.name, tc.want, refused[files[i]], tc.libxml2)
		}
	}
}

// TestCorpusIsReadAsLibXML2ReadsIt is the same for files that others made.
func TestCorpusIsReadAsLibXML2ReadsIt(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(testenv.Corpus(t, "signed/xml"), "*.xml"))
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	refused := xmllintRefuses(t, files)
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := xmldoc.Parse(source); (err != nil) != (refused[file] != "") {
			t.Errorf("%s: here %v, xmllint %q", filepath.Base(file), err, refused[file])
		}
	}
}

// xmllintRefuses returns what xmllint has against each file: its errors and not its warnings. What
// it has against names of namespaces that are no URI, and values of xml:id that are no name, says
// nothing about a document being well-formed, and it reads the document.
func xmllintRefuses(t *testing.T, files []string) map[string]string {
	t.Helper()
	command := exec.Command(testenv.Program(t, "xmllint"), append([]string{"--nonet", "--noout"}, files...)...)
	command.Env = append(os.Environ(), "LC_ALL=C")
	output, err := command.CombinedOutput()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		t.Fatal(err)
	}
	refused := make(map[string]string)
	for line := range strings.Lines(string(output)) {
		file, message, found := strings.Cut(line, ":")
		judges := strings.Contains(message, "error :") && !strings.Contains(message, "validity error") &&
			!strings.Contains(message, "is not a valid URI")
		if found && judges && refused[file] == "" {
			refused[file] = strings.TrimSpace(message)
		}
	}
	return refused
}
