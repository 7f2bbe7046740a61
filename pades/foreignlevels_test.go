package pades_test

import (
	"crypto"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/validators"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// foreignSigner signs files as a program of others does.
type foreignSigner func(testing.TB, validators.SignOptions, ...string) []validators.SignedFile

var foreignSigners = map[string]foreignSigner{
	"EU DSS":  validators.DSSSign,
	"pyHanko": validators.PyHankoSign,
}

// What EU DSS and pyHanko signed at any level is raised by us to LTA, or renewed where it
// has that; what we signed is raised by EU DSS. All of it is then judged as if one program
// had done everything.
func TestForeignSignaturesRaised(t *testing.T) {
	ca := newAuthority(t)
	options := foreignOptions(t, ca, p256(t))
	mixed := mixedFolder{levelFolder: levelFolder{T: t, path: t.TempDir(), ca: ca}}
	for name, sign := range foreignSigners {
		t.Run(name+" signs", func(t *testing.T) {
			for _, level := range everyLevel {
				options.Level = level.String()
				for _, signed := range sign(t, options, blankFiles(t, level)...) {
					mixed.addRaisedByUs(t, fmt.Sprintf("%v by %s, %s", level, name, filepath.Base(signed.File)), level, signed)
				}
			}
		})
	}
	t.Run("EU DSS raises", func(t *testing.T) {
		options.Level = ades.LTA.String()
		mixed.addRaisedByDSS(t, options)
	})
	t.Run("EU DSS", func(t *testing.T) { levelsByDSS(t, mixed.files, ca) })
	t.Run("pdfsig", func(t *testing.T) { levelsByPDFSig(t, mixed.files) })
	t.Run("pyHanko", func(t *testing.T) {
		files := mixed.readByPyHanko(t)
		levelsByPyHanko(t, files, ca)
		levelsByPyHankoLongTerm(t, files, ca)
	})
}

// foreignOptions has the authority answer over HTTP, which a new certificate says.
func foreignOptions(t testing.TB, ca *sandboxca.Authority, key crypto.Signer) validators.SignOptions {
	t.Helper()
	url := catest.Serve(t, ca)
	p := newPerson(t, ca, key)
	return validators.SignOptions{
		Key: key, Certificate: p.signer.Certificate, Chain: p.signer.Chain,
		Root: ca.Root(), TSA: url + sandboxca.PathTimestamp,
	}
}

// blankFiles are a document to be signed at a level; of each kind at level LT, or in full.
func blankFiles(t testing.TB, level ades.Level) []string {
	t.Helper()
	kinds := pdftest.Kinds
	if level != ades.LT && !testenv.Full() {
		kinds = kinds[:1]
	}
	var paths []string
	for _, kind := range kinds {
		path := filepath.Join(t.TempDir(), string(kind)+".pdf")
		writeFile(t, path, pdftest.Build(pdftest.Options{Kind: kind}))
		paths = append(paths, path)
	}
	return paths
}

// mixedFolder is where documents are put on which two programs worked.
type mixedFolder struct {
	levelFolder
	origins []string // of each file, as the first program left it
}

func (m *mixedFolder) add(f levelFile, origin, b []byte) {
	path := filepath.Join(m.path, fmt.Sprintf("%02d before.pdf", len(m.origins)))
	writeFile(m, path, origin)
	m.origins = append(m.origins, path)
	f.levels = []ades.Level{ades.LTA}
	m.levelFolder.add(f, b)
}

// addRaisedByUs adds what a foreign program signed at a level, raised to LTA.
func (m *mixedFolder) addRaisedByUs(t *testing.T, name string, level ades.Level, signed validators.SignedFile) {
	t.Helper()
	f := levelFile{name: name, stamps: 1}
	switch level {
	case ades.B:
		f.stamps, f.untimed = 2, []int{0}
	case ades.LTA:
		f.stamps = 2
	}
	b := readFile(t, signed.Path)
	if s := verify(t, b, m.ca)[0]; s.Format != "PAdES-BASELINE-"+level.String() {
		t.Errorf("%s: signed as %s", name, s.Format)
	}
	m.add(f, b, renew(t, b, m.ca.Sources(nil)))
}

func (m *mixedFolder) addRaisedByDSS(t *testing.T, options validators.SignOptions) {
	p := newPerson(t, m.ca, p256(t))
	var paths []string
	for _, level := range everyLevel[1:] {
		path := filepath.Join(t.TempDir(), level.String()+".pdf")
		writeFile(t, path, signLevel(t, pdftest.Build(pdftest.Options{}), p, level))
		paths = append(paths, path)
	}
	for i, raised := range validators.DSSExtend(t, options, paths...) {
		f := levelFile{name: fmt.Sprintf("%v of ours raised by EU DSS", everyLevel[1+i]), stamps: 1 + stampsOf(everyLevel[1+i], 1)}
		m.add(f, readFile(t, raised.File), readFile(t, raised.Path))
	}
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// readByPyHanko leaves out what pyHanko refuses before it was raised: to a document with
// cross-reference streams EU DSS adds its validation data under the number of one of them.
func (m *mixedFolder) readByPyHanko(t *testing.T) (readable []levelFile) {
	t.Helper()
	for i, r := range validators.PyHanko(t, nil, m.origins...) {
		f := m.files[i]
		if r.Error+r.Lenient == "" {
			readable = append(readable, f)
		} else if !strings.HasSuffix(f.name, "by EU DSS, stream.pdf") {
			t.Errorf("%s: %s%s", f.name, r.Error, r.Lenient)
		}
	}
	return readable
}
