package doc_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// TestMutationsAreJudgedAsByLibXML2 spoils generated documents here and there and asks xmllint
// what is still well-formed. Zeros are left out: to libxml2, one after the root is the end.
func TestMutationsAreJudgedAsByLibXML2(t *testing.T) {
	t.Parallel()
	documents := 1000
	if testenv.Full() {
		documents = 50_000
	}
	folder := t.TempDir()
	files, judged := make(map[string]error), 0
	for seed := range uint64(documents) {
		source := mutate(seed)
		_, err := xmldoc.Parse([]byte(source))
		if err != nil && (strings.Contains(err.Error(), "version") || strings.Contains(err.Error(), "unknown encoding")) {
			continue // laxVersion, otherCharsets
		}
		file := filepath.Join(folder, fmt.Sprintf("%d.xml", seed))
		if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		files[file] = err
		if err == nil {
			judged++
		}
	}
	if judged < documents/10 || judged > documents*9/10 {
		t.Errorf("%d of %d are well-formed: the others say little", judged, documents)
	}
	for file, refused := range inBatches(t, files) {
		if (files[file] != nil) != (refused != "") {
			source, _ := os.ReadFile(file)
			t.Errorf("%s: here %v, xmllint %q\n%q", filepath.Base(file), files[file], refused, source)
		}
	}
}

// inBatches asks xmllint about as many files at once as a command line has room for.
func inBatches(t *testing.T, files map[string]error) map[string]string {
	t.Helper()
	const batch = 1000
	all, names := make(map[string]string), make([]string, 0, batch)
	ask := func() {
		refused := xmllintRefuses(t, names)
		for _, name := range names {
			all[name] = refused[name]
		}
		names = names[:0]
	}
	for file := range files {
		if names = append(names, file); len(names) == batch {
			ask()
		}
	}
	if len(names) > 0 {
		ask()
	}
	return all
}

// tokens are what markup consists of, and what looks like it.
var tokens = []string{
	"<", ">", "/>", "</", "</a>", "<a>", "<a/>", "<!--", "-->", "--", "-", "<?", "?>", "<?p", "<![CDATA[", "]]>", "]]", "]",
	"&", ";", "&amp;", "&#", "&#x", "&#9;", "&#0;", "&#xD800;", "&#x110000;", "'", "\"", "=", " ", "\t", "\r", "\r\n", ":", ".",
	"a", "1", "é", "\u00B7", "\u0301", "\u00D7", "\uFFFD", "\uFFFE", "\x01", "\x7F", "\xC0", "\xE9", "\xED\xA0\x80",
	" a='1'", " a:b='1'", " xmlns=''", " xmlns='urn:z'", " xmlns:a=''", " xmlns:a='urn:z'", " xmlns:b='urn:z'", " xml:id='1'",
	" xmlns:xml='urn:z'", " xmlns:xmlns='urn:z'", "xmlns:a", "xml", "<?xml version='1.0'?>", "<!", "<!a>", "&lt", "&nbsp;",
}

// mutate is a generated document with a few spoilt places.
func mutate(seed uint64) string {
	document, _ := generate(seed)
	random := rand.New(rand.NewPCG(seed, 34))
	for range 1 + random.IntN(3) {
		at := random.IntN(len(document) + 1)
		end := at
		if random.IntN(2) == 0 {
			end = min(len(document), at+1+random.IntN(4))
		}
		token := ""
		if at == end || random.IntN(2) == 0 {
			token = tokens[random.IntN(len(tokens))]
		}
		document = document[:at] + token + document[end:]
	}
	return document
}
