package main

import (
	"bytes"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"

	"github.com/innsigli/innsigli/ades"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/pdflint"
)

// signedFile is a file with the level of its signatures and the names of its signers, in
// the order of signing.
type signedFile struct {
	name     string
	path     string
	level    ades.Level
	signers  []string
	verdicts []string // for the table
}

// signedField is a signature field in the order of the file.
type signedField struct {
	name   string
	signer string // empty: a document timestamp
	last   bool   // nothing was appended to the file afterwards
}

// fields are a signature of each signer and, at level LTA, the document timestamp that
// proves it: each document is raised to its level before the next one signs.
func (f *signedFile) fields() (all []signedField) {
	for k, signer := range f.signers {
		all = append(all, signedField{name: fmt.Sprintf("Signature%d", k+1), signer: signer})
		if f.level == ades.LTA {
			all = append(all, signedField{name: fmt.Sprintf("Timestamp%d", k+1)})
		}
	}
	all[len(all)-1].last = f.level != ades.LT // which ends in validation data
	return all
}

func (f *signedFile) says(format string, args ...any) {
	f.verdicts = append(f.verdicts, fmt.Sprintf(format, args...))
}

func paths(files []*signedFile) (list []string) {
	for _, f := range files {
		list = append(list, f.path)
	}
	return list
}

// asked are the levels as a start call asks for them. Lt is the default: the minimal body
// of spec 3.2 does not speak of it.
var asked = map[ades.Level]string{ades.B: "B", ades.T: "T", ades.LT: "", ades.LTA: "Lta"}

// signedFiles makes the files, and returns the roots that their signers are under. Every
// level is there with keys of both kinds and on files of both kinds.
func signedFiles(t *testing.T) (files []*signedFile, roots []*x509.Certificate) {
	t.Helper()
	folder := t.TempDir()
	add := func(name string, level ades.Level, content []byte, signers ...string) {
		path := filepath.Join(folder, name+".pdf")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, &signedFile{name: name, path: path, level: level, signers: signers})
	}
	program, err := exec.LookPath("innsigli")
	if err != nil {
		t.Fatal(err)
	}
	for k, keys := range []string{"p256", "rsa3072"} {
		server := startSandbox(t, program, "bolt:"+filepath.Join(shortFolder(t), "store.db"), nil, "--sandbox-keys", keys)
		roots = append(roots, certificate(t, server.RootCertificate))
		c := server.signIn(t)
		c.addPeople(t, people...)
		for level := ades.B; level <= ades.LTA; level++ {
			kind := pdftest.Kinds[(k+int(level))%len(pdftest.Kinds)]
			name := fmt.Sprintf("API %v %s %s", level, keys, kind)
			signal := c.must(t, http.MethodPost, "/api/v1/signing/busy-signal", "").ID
			original := pdftest.Build(pdftest.Options{Kind: kind})
			one := c.sign(t, original, people[0], "IdpApp", asked[level], signal)
			add(name+" 1", level, one, people[0].name)
			two := c.sign(t, one, people[1], "IdpSim", asked[level], signal)
			three := c.sign(t, two, people[2], "IdpApp", asked[level], signal)
			pdflint.Clean(t, versions(original, three)...)
			add(name+" 3", level, three, people[0].name, people[1].name, people[2].name)
		}
	}
	local, root := locallySigned(t)
	for _, name := range slices.Sorted(maps.Keys(local)) {
		add(name, ades.B, local[name], "Local Signer")
	}
	return files, append(roots, root)
}

// versions are a document as it was, and after each revision that came to it.
func versions(original, whole []byte) [][]byte {
	all, end := [][]byte{original}, []byte("%%EOF\n")
	for n := len(original); n < len(whole); {
		next := bytes.Index(whole[n:], end)
		if next < 0 {
			return append(all, whole) // which has no end, as will be found
		}
		n += next + len(end)
		all = append(all, whole[:n])
	}
	return all
}

// locallySigned signs with "innsigli sign".
func locallySigned(t *testing.T) (files map[string][]byte, root *x509.Certificate) {
	t.Helper()
	folder := t.TempDir()
	material, err := catest.SignerFiles()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range pdftest.Kinds {
		material[string(kind)+".pdf"] = pdftest.Build(pdftest.Options{Kind: kind})
	}
	path := func(name string) string { return filepath.Join(folder, name) }
	for name, content := range material {
		if err := os.WriteFile(path(name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files = make(map[string][]byte)
	for _, keys := range []string{"p256", "rsa3072"} {
		for _, kind := range pdftest.Kinds {
			output(t, done, "sign", path(string(kind)+".pdf"), "--cert", path(keys+"-chain.pem"), "--key", path(keys+"-key.pem"), "-o", path("signed.pdf"))
			signed := testenv.ReadFile(t, path("signed.pdf"))
			pdflint.Clean(t, material[string(kind)+".pdf"], signed)
			files[fmt.Sprintf("sign %s %s", keys, kind)] = signed
		}
	}
	return files, certificate(t, string(material["root.pem"]))
}

func certificate(t *testing.T, text string) *x509.Certificate {
	t.Helper()
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		t.Fatalf("no PEM in %q", text)
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

// signaturePart is a signature and what it signs, taken out of a file by nothing but its
// byte range (ISO 32000-2 12.8.1).
type signaturePart struct{ cms, content []byte }

var byteRange = regexp.MustCompile(`/ByteRange ?\[ ?0 +(\d+) +(\d+) +(\d+) *\]`)

func signatureParts(t *testing.T, file []byte) (parts []signaturePart) {
	t.Helper()
	for _, match := range byteRange.FindAllSubmatch(file, -1) {
		var n [3]int
		for i := range n {
			var err error
			if n[i], err = strconv.Atoi(string(match[i+1])); err != nil {
				t.Fatal(err)
			}
		}
		gap, rest, end := n[0], n[1], n[1]+n[2]
		cms, err := hex.DecodeString(string(file[gap+1 : rest-1])) // without < and >
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, signaturePart{cms, bytes.Join([][]byte{file[:gap], file[rest:end]}, nil)})
	}
	return parts
}
