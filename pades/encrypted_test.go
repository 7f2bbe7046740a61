package pades_test

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/innsigli/innsigli/ades"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/pades"
)

// encryptions are arguments of encrypt.
var encryptions = map[string][]string{
	"RC4 with 40 bits":             {"40"},
	"RC4 with 128 bits":            {"128", "--use-aes=n"},
	"RC4 as a crypt filter":        {"128", "--use-aes=n", "--force-V4"},
	"AES-128":                      {"128", "--use-aes=y"},
	"AES-128 with plain metadata":  {"128", "--use-aes=y", "--cleartext-metadata"},
	"AES-256 of revision 5":        {"256", "--force-R5"},
	"AES-256 of revision 6":        {"256"},
	"AES-256 with plain metadata":  {"256", "--cleartext-metadata"},
	"AES-256, modify and annotate": {"256", "--print=none", "--extract=n", "--assemble=n", "--accessibility=n"},
}

// formToEncrypt has a page with a drawing, strings in a form and in an annotation, an
// empty signature field and metadata.
func formToEncrypt(kind pdftest.Kind) []byte {
	return pdftest.Build(pdftest.Options{
		Kind:    kind,
		Catalog: "/Lang (is-IS) /AcroForm << /Fields [100 0 R 101 0 R] /DA (/Helv 0 Tf 0 g) >> /Outlines 103 0 R",
		Page:    "/Annots [100 0 R 101 0 R 102 0 R]",
		Objects: []string{
			"<< /Type /Annot /Subtype /Widget /FT /Tx /T (Name of the child) /V (J\\363na) /Rect [10 10 90 30] /F 4 >>",
			"<< /Type /Annot /Subtype /Widget /FT /Sig /T (Guardian) /Rect [100 10 190 60] /F 4 >>",
			"<< /Type /Annot /Subtype /Square /Contents (A note) /Rect [200 10 290 60] /C [1 0 0] /F 4 >>",
			"<< /Type /Outlines /First 104 0 R /Last 104 0 R /Count 1 >>",
			"<< /Title (First chapter) /Parent 103 0 R /Dest [10 0 R /Fit] >>",
			"<< /Title (Undirritun) >>",
		},
		Trailer: "/Info 105 0 R /ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>]",
	})
}

// TestEncryptedDocuments signs documents that open without a password (ISO 32000-2 7.6): in a new field, then in an
// existing one, with an appearance.
func TestEncryptedDocuments(t *testing.T) {
	t.Parallel()
	p := newPerson(t, catest.New(t), p256(t))
	folder := t.TempDir()
	var paths []string
	for name, arguments := range encryptions {
		for _, kind := range pdftest.Kinds {
			t.Run(name+"/"+string(kind), func(t *testing.T) {
				b := encrypt(t, formToEncrypt(kind), "", arguments...)
				once := sign(t, b, p, pades.Options{Reason: "Read and agreed", Location: "Húsavík"})
				twice := sign(t, once, p, pades.Options{Reason: "Agreed again", Field: "Guardian", Appearance: pdftest.Build(pdftest.Options{})})
				for i, s := range verifyPassed(t, twice, p.ca, "Signature1", "Guardian") {
					if want := []string{"Read and agreed", "Agreed again"}[i]; s.Reason != want {
						t.Errorf("%s: reason %q, want %q", s.Name, s.Reason, want)
					}
				}
				if bytes.Contains(twice, []byte("q /Page Do Q")) {
					t.Error("the appearance is not encrypted")
				}
				judgeEncrypted(t, once, 1)
				judgeEncrypted(t, twice, 2)
				if !bytes.Equal(drawn(t, b), drawn(t, once)) {
					t.Error("the page looks different")
				}
				if name != "AES-256 of revision 5" { // which pyHanko does not support
					paths = append(paths, filepath.Join(folder, fmt.Sprint(len(paths), ".pdf")))
					writeFile(t, paths[len(paths)-1], twice)
				}
			})
		}
	}
	t.Run("pyHanko", func(t *testing.T) {
		for _, report := range validators.PyHanko(t, []*x509.Certificate{p.ca.Root()}, paths...) {
			if report.Error != "" || len(report.Signatures) != 2 || !report.Signatures[0].BottomLine || !report.Signatures[1].BottomLine {
				t.Errorf("%+v", report)
			}
		}
	})
}

// judgeEncrypted has qpdf decrypt a file with n signatures: it finds no fault and all strings, which are encrypted in
// the file itself. pdfsig finds all signatures valid.
func judgeEncrypted(t *testing.T, content []byte, n int) {
	t.Helper()
	path := tempFile(t, "encrypted.pdf", content)
	if warnings, err := validators.QPDFCheck(t, path); err != nil || len(warnings) > 0 {
		t.Errorf("qpdf: %v %v", warnings, err)
	}
	plain := qpdf(t, "--decrypt", "--qdf", path, "-")
	for _, text := range []string{"(Read and agreed)", "(Signature1)", "(Guardian)", "(Name of the child)", "<4af36e61>", "(A note)", "(First chapter)", "(Undirritun)", "(is-IS)"} {
		if !bytes.Contains(plain, []byte(text)) || bytes.Contains(content, []byte(text)) {
			t.Errorf("%s is lost, or is not encrypted", text)
		}
	}
	signatures, err := validators.PDFSig(t, validators.PDFSigOptions{}, path)
	if err != nil {
		t.Fatal(err)
	}
	valid, whole := 0, 0
	for _, s := range signatures { // empty fields too
		if s.Valid() {
			valid++
		}
		if s.Total {
			whole++
		}
	}
	if valid != n || whole != 1 {
		t.Errorf("pdfsig: %d valid, want %d; %d of the whole document, want 1: %+v", valid, n, whole, signatures)
	}
}

// drawn returns the first page as mutool draws it.
func drawn(t *testing.T, content []byte) []byte {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), testenv.Program(t, "mutool"), "draw", "-q", "-r", "50", "-F", "ppm", "-o", "-", tempFile(t, "page.pdf", content), "1").Output()
	if err != nil || len(out) < 1000 {
		t.Fatalf("mutool: %d bytes, %v", len(out), err)
	}
	return out
}

// TestPermissionsOfEncryptedDocuments signs documents whose author restricts changes (ISO 32000-2 table 22). A new field
// needs bits 4 and 6; an existing field needs bit 6 or, from revision 3 on, bit 9.
func TestPermissionsOfEncryptedDocuments(t *testing.T) {
	p := newPerson(t, catest.New(t), p256(t))
	for name, test := range map[string]struct {
		user      string
		arguments []string
		newField  error
		existing  error
	}{
		"everything":                      {"", []string{"256"}, nil, nil},
		"no changes":                      {"", []string{"256", "--modify=none"}, ades.ErrForbidden, ades.ErrForbidden},
		"assembly alone":                  {"", []string{"128", "--use-aes=y", "--modify=assembly"}, ades.ErrForbidden, ades.ErrForbidden},
		"bit 9 alone":                     {"", []string{"128", "--use-aes=y", "--modify=form"}, ades.ErrForbidden, nil},
		"bits 6 and 9":                    {"", []string{"256", "--modify=annotate"}, ades.ErrForbidden, nil},
		"bit 4 alone":                     {"", []string{"256", "--annotate=n", "--form=n"}, ades.ErrForbidden, ades.ErrForbidden},
		"bits 4 and 9":                    {"", []string{"256", "--annotate=n"}, ades.ErrForbidden, nil},
		"revision 2, bit 6 alone":         {"", []string{"40", "--modify=n"}, ades.ErrForbidden, nil},
		"revision 2, bit 4 alone":         {"", []string{"40", "--annotate=n"}, ades.ErrForbidden, ades.ErrForbidden},
		"revision 2, everything":          {"", []string{"40"}, nil, nil},
		"a password, RC4":                 {"secret", []string{"128", "--use-aes=n"}, pades.ErrEncrypted, pades.ErrEncrypted},
		"a password, AES-256":             {"secret", []string{"256"}, pades.ErrEncrypted, pades.ErrEncrypted},
		"a password, AES-256, revision 5": {"secret", []string{"256", "--force-R5"}, pades.ErrEncrypted, pades.ErrEncrypted},
	} {
		t.Run(name, func(t *testing.T) {
			b := encrypt(t, formToEncrypt(pdftest.Table), test.user, test.arguments...)
			checkPrepare(t, b, p.signer, pades.Options{}, test.newField, "")
			checkPrepare(t, b, p.signer, pades.Options{Field: "Guardian"}, test.existing, "")
			if _, err := pades.Verify(t.Context(), document(b), ades.VerifyOptions{}); (test.user != "") != errors.Is(err, pades.ErrEncrypted) {
				t.Errorf("verifying: %v", err)
			}
		})
	}
}

// TestEncrypted reports documents as encrypted, also those that open without a password.
func TestEncrypted(t *testing.T) {
	broken := bytes.Replace(encrypt(t, form(), "", "256"), []byte("startxref"), []byte("startxxxx"), 1)
	for name, test := range map[string]struct {
		b    []byte
		want bool
		err  error
	}{
		"plain":                 {b: form()},
		"an empty password":     {b: encrypt(t, form(), "", "256"), want: true},
		"RC4 with 40 bits":      {b: encrypt(t, form(), "", "40"), want: true},
		"no changes permitted":  {b: encrypt(t, form(), "", "256", "--modify=none"), want: true},
		"a broken startxref":    {b: broken, want: true},
		"a password":            {b: encrypt(t, form(), "secret", "256"), err: pades.ErrEncrypted},
		"not a PDF":             {b: []byte("GIF89a"), err: ades.ErrUnreadable},
		"zero bytes":            {err: ades.ErrUnreadable},
		"an unknown handler":    {b: pdftest.Build(pdftest.Options{Trailer: "/Encrypt << /Filter /Acme.Secret >>"}), err: pades.ErrEncrypted},
		"Encrypt as an integer": {b: pdftest.Build(pdftest.Options{Trailer: "/Encrypt 42"}), err: ades.ErrUnreadable},
	} {
		if got, err := pades.Encrypted(document(test.b)); got != test.want || !errors.Is(err, test.err) {
			t.Errorf("%s: got %v, %v, want %v, %v", name, got, err, test.want, test.err)
		}
	}
}
