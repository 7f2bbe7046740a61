package validators

import (
	"encoding/json"
	"path/filepath"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// CanonicalRequest asks for canonical forms of one XML document.
type CanonicalRequest struct {
	Document []byte
	Forms    []CanonicalForm
}

// CanonicalForm is a canonicalization method with the part of a document that it is for.
type CanonicalForm struct {
	Method   string // "1.0", "1.1", "exclusive"
	Comments bool
	Prefixes []string    // of exclusive: InclusiveNamespaces PrefixList, "" for #default
	Apex     int         // the element of that number in document order, from 1; 0: the whole document
	Without  [][2]string // elements that are left out with all that is in them: namespace, local name
}

// CanonicalReport is what libxml2 makes of one document.
type CanonicalReport struct {
	Error string   // of a document that has no canonical form; empty otherwise
	Forms [][]byte // in the order of the request
}

// LibXML2 returns canonical forms as libxml2 has them: the library below xmllint and xmlsec1,
// asked itself because xmllint knows whole documents with their comments alone.
func LibXML2(t testing.TB, requests ...CanonicalRequest) []CanonicalReport {
	t.Helper()
	testenv.Program(t, "xmllint") // whose package brings the library
	question, err := json.Marshal(requests)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "requests.json")
	writeFile(t, path, question)
	command := []string{testenv.Program(t, "python3"), script(t, "serve/serve.py")}
	program := filepath.Join(testenv.Root(t), "internal", "test", "validators", "testdata", "c14n.py")
	return decodeLines[CanonicalReport](t, "libxml2", ask(t, "libxml2", command, []string{program, path}), len(requests))
}
