package pades_test

import (
	"bytes"
	"crypto/x509"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// fieldToEncrypt has an empty signature field and nothing that EU DSS would draw in another
// way each time, such as annotations without an appearance.
func fieldToEncrypt(kind pdftest.Kind) []byte {
	return pdftest.Build(pdftest.Options{
		Kind:    kind,
		Catalog: "/AcroForm << /Fields [100 0 R] >>",
		Page:    "/Annots [100 0 R]",
		Objects: []string{"<< /Type /Annot /Subtype /Widget /FT /Sig /T (Guardian) /Rect [100 10 190 60] /F 4 >>"},
		Trailer: "/ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>]",
	})
}

// ISO 32000-2 7.6.2: the validation data of an encrypted document is encrypted like its
// other streams, the value of a document timestamp is not. What comes of it passes in EU
// DSS, pyHanko and pdfsig: two signers of level LTA, one after the other, and a renewal.
func TestLevelsOfEncryptedDocuments(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	ca.At("http://sandbox.example") // or pyHanko asks for no revocation
	if _, err := ca.Renew(time.Now()); err != nil {
		t.Fatal(err)
	}
	kinds := pdftest.Kinds
	if !testenv.Full() {
		kinds = []pdftest.Kind{pdftest.Stream}
	}
	folder := t.TempDir()
	var all, known []levelFile // of which pyHanko knows the encryption
	for name, arguments := range encryptions {
		for _, kind := range kinds {
			for _, f := range encryptedLevels(t, ca, encrypt(t, fieldToEncrypt(kind), "", arguments...)) {
				f.name = fmt.Sprintf("%s/%s/%s", name, kind, f.name)
				f.path = filepath.Join(folder, fmt.Sprintf("%02d.pdf", len(all)))
				writeFile(t, f.path, f.content)
				all = append(all, f.levelFile)
				if name != "AES-256 of revision 5" {
					known = append(known, f.levelFile)
				}
			}
		}
	}
	t.Run("qpdf", func(t *testing.T) { evidenceByQPDF(t, all, ca.Chain()[0]) })
	t.Run("EU DSS", func(t *testing.T) { levelsByDSS(t, all, ca) })
	t.Run("pyHanko", func(t *testing.T) { levelsByPyHanko(t, known, ca) })
	t.Run("pdfsig", func(t *testing.T) { levelsByPDFSig(t, all) })
}

// encryptedFile is a file of several levels that is not yet on the disk.
type encryptedFile struct {
	levelFile
	content []byte
}

// encryptedLevels signs an encrypted form twice; of the files on the way there, it returns
// all when there is time to judge them.
func encryptedLevels(t *testing.T, ca *sandboxca.Authority, b []byte) (files []encryptedFile) {
	t.Helper()
	add := func(name string, stamps int, levels ...ades.Level) {
		for i, s := range verify(t, b, ca) {
			if !s.Passed() || s.Format != "PAdES-BASELINE-"+levels[i].String() {
				t.Errorf("%s: %s %s %s %v", name, s.Format, s.Indication, s.SubIndication, s.Problems)
			}
		}
		files = append(files, encryptedFile{levelFile{name: name, levels: levels, stamps: stamps}, b})
	}
	sources := ca.Sources(nil)
	b = sign(t, b, newPerson(t, ca, p256(t)), pades.Options{Field: "Guardian", Appearance: pdftest.Build(pdftest.Options{})})
	b = extend(t, b, ades.T, sources)
	add("T", 1, ades.T)
	b = extend(t, b, ades.LT, sources)
	add("LT", 1, ades.LT)
	b = extend(t, b, ades.LTA, sources)
	add("LTA", 2, ades.LTA)
	b = extend(t, signFor(t, b, newPerson(t, ca, p256(t)), ades.T), ades.LTA, sources)
	add("LTA of two", 3, ades.LTA, ades.LTA)
	b = renew(t, b, sources)
	add("LTA of two, renewed", 4, ades.LTA, ades.LTA)
	if testenv.Full() {
		return files
	}
	return files[len(files)-1:]
}

// evidenceByQPDF looks for a certificate in what qpdf decrypts: a stream that was not
// encrypted would be garbage there.
func evidenceByQPDF(t *testing.T, files []levelFile, cert *x509.Certificate) {
	t.Helper()
	for _, f := range files {
		if f.levels[0] < ades.LT {
			continue
		}
		plain, err := exec.Command(testenv.Program(t, "qpdf"), "--decrypt", "--qdf", f.path, "-").Output()
		if err != nil {
			t.Errorf("%s: qpdf: %v", f.name, err)
		}
		if !bytes.Contains(plain, cert.Raw) {
			t.Errorf("%s: what is decrypted has no certificate", f.name)
		}
	}
}
