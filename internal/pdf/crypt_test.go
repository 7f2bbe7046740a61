package pdf

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// encryptions are the ways in which qpdf encrypts.
var encryptions = map[string][]string{
	"R2-rc4-40":         {"40"},
	"R3-rc4-128":        {"128", "--use-aes=n"},
	"R4-rc4-128":        {"128", "--use-aes=n", "--force-V4"},
	"R4-aes-128":        {"128", "--use-aes=y"},
	"R4-plain-metadata": {"128", "--use-aes=y", "--cleartext-metadata"},
	"R5-aes-256":        {"256", "--force-R5"},
	"R6-aes-256":        {"256"},
	"R6-plain-metadata": {"256", "--cleartext-metadata"},
	"R3-object-streams": {"128", "--use-aes=n"},
	"R4-object-streams": {"128", "--use-aes=y"},
	"R6-object-streams": {"256"},
}

// encryptWith lets qpdf encrypt the plain file:
//
//	qpdf --allow-weak-crypto [--object-streams=generate] --encrypt "" owner 256 ... -- plain.pdf encrypted.pdf
func encryptWith(t *testing.T, name string) []byte {
	t.Helper()
	folder := t.TempDir()
	plain, encrypted := filepath.Join(folder, "plain.pdf"), filepath.Join(folder, "encrypted.pdf")
	if err := os.WriteFile(plain, plainSecrets(), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"--allow-weak-crypto"}
	if strings.HasSuffix(name, "object-streams") {
		args = append(args, "--object-streams=generate")
	}
	args = append(append(args, "--encrypt", "", "owner"), encryptions[name]...)
	command := exec.Command(testenv.Program(t, "qpdf"), append(args, "--", plain, encrypted)...)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("qpdf: %v\n%s", err, out)
	}
	content, err := os.ReadFile(encrypted)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// plainSecrets is the file before it is encrypted.
func plainSecrets() []byte {
	b := newBuilder()
	for num, body := range secrets() {
		b.object(num, body)
	}
	return b.table(10, "/Root 1 0 R /Info 6 0 R /ID [<0102> <0304>]")
}

// 7.6: what qpdf encrypts now is read, and stays readable behind an update.
func TestEncryptedByQPDF(t *testing.T) {
	for name := range encryptions {
		t.Run(name, func(t *testing.T) {
			content := encryptWith(t, name)
			wantSecrets(t, mustOpen(t, content))
			checkEncryptedUpdate(t, content)
		})
	}
}

// What qpdf encrypted once is read without qpdf. A file that is missing is made with
// INNSIGLI_GOLDEN=1.
func TestEncryptedVectors(t *testing.T) {
	for name := range encryptions {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", "encrypted", name+".pdf")
			content, err := os.ReadFile(path)
			if errors.Is(err, os.ErrNotExist) && os.Getenv("INNSIGLI_GOLDEN") == "1" {
				content = encryptWith(t, name)
				err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content, 0o644))
			}
			if err != nil {
				t.Fatal(err)
			}
			wantSecrets(t, mustOpen(t, content))
			checkEncryptedUpdate(t, content)
		})
	}
}

// Crypt filters may be mixed (7.6.6). A key of fewer than 128 bits is one in version 4 too.
func TestCryptFilters(t *testing.T) {
	const filters = "/CF << /StdCF << /CFM /AESV2 /Length 16 >> /Old << /CFM /V2 /Length 128 >> /Short << /CFM /V2 /Length 5 >> >>"
	qpdfDisagrees := []string{"version 2, default length", "version 4, 40 bits"} // it takes 128 bits there
	for name, entries := range map[string]string{
		"version 1":                 "/V 1 /R 2",
		"version 2, default length": "/V 2 /R 3",
		"version 2, 64 bits":        "/V 2 /R 3 /Length 64",
		"version 2, in bytes":       "/V 2 /R 3 /Length 16",
		"RC4 for streams":           "/V 4 /R 4 /StmF /Old /StrF /StdCF " + filters,
		"RC4 for strings":           "/V 4 /R 4 /StmF /StdCF /StrF /Old " + filters,
		"version 4, 40 bits":        "/V 4 /R 4 /StmF /Short /StrF /Short " + filters,
		"Identity for streams":      "/V 4 /R 4 /StmF /Identity /StrF /StdCF " + filters,
		"no filter for strings":     "/V 4 /R 4 /StmF /StdCF " + filters,
		"plain metadata":            "/V 4 /R 4 /EncryptMetadata false /StmF /StdCF /StrF /StdCF " + filters,
		"version 5, revision 5":     "/V 5 /R 5 /StmF /C /StrF /C /CF << /C << /CFM /AESV3 >> >>",
		"version 5, revision 6":     "/V 5 /R 6 /StmF /C /StrF /C /CF << /C << /CFM /AESV3 >> >>",
	} {
		t.Run(name, func(t *testing.T) {
			content := encryptedFile(t, entries, secrets())
			wantSecrets(t, mustOpen(t, content))
			checkEncryptedUpdate(t, content)
			if slices.Contains(qpdfDisagrees, name) {
				return
			}
			if out, err := qpdfDecrypt(t, content); err != nil {
				t.Errorf("qpdf: %v\n%s", err, out)
			}
		})
	}
}

// 7.4.10: a stream may name its crypt filter, and embedded files may have one of their own.
func TestStreamsOwnCryptFilter(t *testing.T) {
	objects := secrets()
	objects[10] = streamBody("/Filter [/Crypt /ASCIIHexDecode] /DecodeParms [<< /Name /Identity >> null]", []byte("706c61696e>"))
	objects[11] = streamBody("/Filter /Crypt /DecodeParms << /Name /Old >>", []byte("old"))
	objects[12] = streamBody("/Filter /Crypt", []byte("default"))
	objects[13] = streamBody("/Type /EmbeddedFile", []byte("embedded"))
	objects[14] = streamBody("/Type /EmbeddedFile /Filter [/Crypt] /DecodeParms [<< /Name /StdCF >>]", []byte("own"))
	content := encryptedFile(t, "/V 4 /R 4 /StmF /StdCF /StrF /StdCF /EFF /Identity /CF << /StdCF << /CFM /AESV2 >> /Old << /CFM /V2 >> >>", objects)
	f := mustOpen(t, content)
	for num, want := range map[uint32]string{10: "plain", 11: "old", 12: "default", 13: "embedded", 14: "own"} {
		stream, err := f.StreamObject(Ref{Num: num})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := f.Stream(stream, 100); err != nil || string(got) != want {
			t.Errorf("stream %d: %q, %v; want %q", num, got, err, want)
		}
	}
	for plain, want := range map[string]bool{"706c61696e>": true, "\nold\n": false, "\ndefault\n": true, "\nembedded\n": true, "\nown\n": false} {
		if got := bytes.Contains(content, []byte(plain)); got != want {
			t.Errorf("%q is in the file: %v, want %v", plain, got, want)
		}
	}
}

// qpdfDecrypt returns the text of a file without encryption and compression; an error is
// one that qpdf would have to repair.
func qpdfDecrypt(t *testing.T, content []byte) ([]byte, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "encrypted.pdf")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	qpdf := testenv.Program(t, "qpdf")
	if out, err := exec.Command(qpdf, "--check", path).CombinedOutput(); err != nil {
		return out, err
	}
	return exec.Command(qpdf, "--decrypt", "--qdf", "--object-streams=disable", path, "-").CombinedOutput()
}
