package pades_test

import (
	"bytes"
	"crypto/x509"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/pades"
)

// encryptions are arguments of qpdf, behind the passwords.
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

func encrypt(t testing.TB, content []byte, user string, arguments ...string) []byte {
	t.Helper()
	folder := t.TempDir()
	plain, encrypted := filepath.Join(folder, "plain.pdf"), filepath.Join(folder, "encrypted.pdf")
	if err := os.WriteFile(plain, content, 0o600); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"--allow-weak-crypto", "--object-streams=preserve", "--encrypt", user, "owner"}, arguments...)
	if out, err := exec.Command(testenv.Program(t, "qpdf"), append(args, "--", plain, encrypted)...).CombinedOutput(); err != nil {
		t.Fatalf("qpdf: %v\n%s", err, out)
	}
	content, err := os.ReadFile(encrypted)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// ISO 32000-2 7.6: a document that opens without a password is signed like any other: in a
// new field, then in the one that is there, with an appearance.
func TestEncryptedDocuments(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	folder := t.TempDir()
	var paths []string
	for name, arguments := range encryptions {
		for _, kind := range pdftest.Kinds {
			t.Run(name+"/"+string(kind), func(t *testing.T) {
				b := encrypt(t, formToEncrypt(kind), "", arguments...)
				once := sign(t, b, p, pades.Options{Reason: "Read and agreed", Location: "Húsavík"})
				path := filepath.Join(folder, strings.ReplaceAll(name, " ", "-")+"-"+string(kind))
				judgeEncrypted(t, path+"-1.pdf", once, 1)
				if !bytes.Equal(drawn(t, b), drawn(t, once)) {
					t.Error("the page looks different")
				}
				twice := sign(t, once, p, pades.Options{Reason: "Agreed again", Field: "Guardian", Appearance: pdftest.Build(pdftest.Options{})})
				judgeEncrypted(t, path+"-2.pdf", twice, 2)
				for _, s := range verify(t, twice, p.ca) {
					if !s.Passed() || s.Reason != "Read and agreed" && s.Reason != "Agreed again" {
						t.Errorf("%s: %q %s %v", s.Name, s.Reason, s.Indication, s.Problems)
					}
				}
				if name != "AES-256 of revision 5" { // which pyHanko does not know
					paths = append(paths, path+"-2.pdf")
				}
			})
		}
	}
	t.Run("pyHanko", func(t *testing.T) { judgeSignedByPyHanko(t, []*x509.Certificate{p.ca.Root()}, paths) })
}

// judgeEncrypted looks at a file with n signatures: qpdf finds nothing to complain of and the
// strings as they were meant, of which the file itself shows none, and pdfsig finds all
// signatures valid.
func judgeEncrypted(t *testing.T, path string, content []byte, n int) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if warnings, err := validators.QPDFCheck(t, path); err != nil || len(warnings) > 0 {
		t.Errorf("qpdf: %v %v", warnings, err)
	}
	plain, err := exec.Command(testenv.Program(t, "qpdf"), "--decrypt", "--qdf", path, "-").Output()
	if err != nil {
		t.Fatalf("qpdf: %v", err)
	}
	for _, text := range []string{"(Read and agreed)", "(Signature1)", "(Guardian)", "(Name of the child)", "<4af36e61>", "(A note)", "(First chapter)", "(Undirritun)", "(is-IS)"} {
		if !bytes.Contains(plain, []byte(text)) {
			t.Errorf("%s is lost", text)
		}
		if bytes.Contains(content, []byte(text)) {
			t.Errorf("%s is there to be read", text)
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
		t.Errorf("pdfsig: %+v", signatures)
	}
}

// drawn is the first page as mutool draws it.
func drawn(t *testing.T, content []byte) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.pdf")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(testenv.Program(t, "mutool"), "draw", "-q", "-r", "50", "-F", "ppm", "-o", "-", path, "1").Output()
	if err != nil || len(out) < 1000 {
		t.Fatalf("mutool: %d bytes, %v", len(out), err)
	}
	return out
}

// judgeSignedByPyHanko has pyHanko find both signatures of each file good, and the second
// one's revision a form filled in.
func judgeSignedByPyHanko(t *testing.T, roots []*x509.Certificate, paths []string) {
	t.Helper()
	for _, report := range validators.PyHanko(t, roots, paths...) {
		if report.Error != "" || len(report.Signatures) != 2 {
			t.Errorf("%s: %d signatures, %s", report.File, len(report.Signatures), report.Error)
		}
		for _, s := range report.Signatures {
			if !s.BottomLine {
				t.Errorf("%s: %+v", report.File, s)
			}
		}
	}
}

// ISO 32000-2 table 22: bits 4 and 6 for a new field; 6 or, from revision 3 on, 9 for one that is there.
func TestPermissionsOfEncryptedDocuments(t *testing.T) {
	p := newPerson(t, newAuthority(t), p256(t))
	for name, test := range map[string]struct {
		user      string
		arguments []string
		made      error // of a signature in a new field
		filled    error // of one in the field that is there
	}{
		"everything":                      {"", []string{"256"}, nil, nil},
		"all but changes":                 {"", []string{"256", "--modify=none"}, ades.ErrForbidden, ades.ErrForbidden},
		"assembly alone":                  {"", []string{"128", "--use-aes=y", "--modify=assembly"}, ades.ErrForbidden, ades.ErrForbidden},
		"bit 9 alone":                     {"", []string{"128", "--use-aes=y", "--modify=form"}, ades.ErrForbidden, nil},
		"bits 6 and 9":                    {"", []string{"256", "--modify=annotate"}, ades.ErrForbidden, nil},
		"bit 4 alone":                     {"", []string{"256", "--annotate=n", "--form=n"}, ades.ErrForbidden, ades.ErrForbidden},
		"bits 4 and 9":                    {"", []string{"256", "--annotate=n"}, ades.ErrForbidden, nil},
		"revision 2, bit 6 alone":         {"", []string{"40", "--modify=n"}, ades.ErrForbidden, nil},
		"revision 2, bit 4, none for 9":   {"", []string{"40", "--annotate=n"}, ades.ErrForbidden, ades.ErrForbidden},
		"revision 2, everything":          {"", []string{"40"}, nil, nil},
		"a password, RC4":                 {"secret", []string{"128", "--use-aes=n"}, pades.ErrEncrypted, pades.ErrEncrypted},
		"a password, AES-256":             {"secret", []string{"256"}, pades.ErrEncrypted, pades.ErrEncrypted},
		"a password, AES-256, revision 5": {"secret", []string{"256", "--force-R5"}, pades.ErrEncrypted, pades.ErrEncrypted},
	} {
		t.Run(name, func(t *testing.T) {
			b := encrypt(t, formToEncrypt(pdftest.Table), test.user, test.arguments...)
			if _, err := prepare(t, b, p.signer, pades.Options{}); !errors.Is(err, test.made) {
				t.Errorf("new field: %v, want %v", err, test.made)
			}
			if _, err := prepare(t, b, p.signer, pades.Options{Field: "Guardian"}); !errors.Is(err, test.filled) {
				t.Errorf("field that is there: %v, want %v", err, test.filled)
			}
			if _, err := pades.Verify(t.Context(), document(b), ades.VerifyOptions{}); (test.user != "") != errors.Is(err, pades.ErrEncrypted) {
				t.Errorf("verifying: %v", err)
			}
		})
	}
}
