package main

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/innsigli/innsigli/ades"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/pdflint"
	"github.com/innsigli/innsigli/stamp"
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

// withStamp has a start call ask for a stamp in the first free spot from the bottom right: by
// SIM with an image, which is a document of its own until the request has ended, else the
// standard one.
func withStamp(body, method string) string {
	settings := signatureImage
	if method == "IdpSim" {
		settings = fmt.Sprintf(`{"alignment":"BottomRight","positioning":"Auto","imageB64":%q,"imageType":"Png","width":100,"height":40}`, base64.StdEncoding.EncodeToString(square()))
	}
	return `{"signatureImage":` + settings + "," + body[1:]
}

// square is an image.
func square() []byte {
	picture := image.NewNRGBA(image.Rect(0, 0, 8, 8))
	for i := range 8 {
		picture.SetNRGBA(i, i, color.NRGBA{R: 0x17, G: 0x4a, B: 0x73, A: 0xff})
	}
	var b bytes.Buffer
	png.Encode(&b, picture) // a bytes.Buffer takes everything
	return b.Bytes()
}

// checkStamp checks that page 1 of a document has a stamp in the quarter at a corner.
func checkStamp(signed []byte, c stamp.Corner) error {
	page, err := stamp.ReadPage(bytes.NewReader(signed), int64(len(signed)), 1)
	if err != nil {
		return err
	}
	if _, err := page.Place(c, 0, 0, stamp.Size{Width: page.Width / 2, Height: page.Height / 2}); !errors.Is(err, stamp.ErrOverlap) {
		return fmt.Errorf("there is no stamp: placing one there: %v", err)
	}
	return nil
}

func wantStamp(t *testing.T, signed []byte) {
	t.Helper()
	if err := checkStamp(signed, stamp.BottomRight); err != nil {
		t.Error(err)
	}
}

func scriptStamped(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: stamped FILE CORNER")
	}
	corner, ok := parseCorner(args[1])
	if !ok {
		ts.Fatalf("%q is no corner", args[1])
	}
	if err := checkStamp([]byte(ts.ReadFile(args[0])), corner); (err == nil) == neg {
		ts.Fatalf("%s: %v", args[0], err)
	}
}

// --stamp CORNER[:X,Y][@PAGE].
func TestParsePlacement(t *testing.T) {
	for text, want := range map[string]placement{
		"TopLeft":               {page: 1, corner: stamp.TopLeft},
		"TopRight@3":            {page: 3, corner: stamp.TopRight},
		"BottomLeft:0,0":        {page: 1, corner: stamp.BottomLeft, manual: true},
		"BottomRight:36,36.5@2": {page: 2, corner: stamp.BottomRight, manual: true, x: 36, y: 36.5},
		"bottomRIGHT":           {page: 1, corner: stamp.BottomRight},
	} {
		got, err := parsePlacement(text)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(placement{})); diff != "" || err != nil {
			t.Errorf("%q: %v\n%s", text, err, diff)
		}
	}
	for text, want := range map[string]string{
		"":                             `"" is not a corner`,
		"Middle":                       `"Middle" is not a corner`,
		"Top Left":                     `"Top Left" is not a corner`,
		" TopLeft":                     `" TopLeft" is not a corner`,
		"@2":                           `"" is not a corner`,
		"TopLeft:":                     `"" must be two numbers`,
		"TopLeft:36":                   `"36" must be two numbers`,
		"TopLeft:36,":                  `"36," must be two numbers`,
		"TopLeft:,36":                  `",36" must be two numbers`,
		"TopLeft:36,36,36":             `"36,36,36" must be two numbers`,
		"TopLeft:36, 36":               `"36, 36" must be two numbers`,
		"TopLeft:-1,36":                `"-1,36" must be two numbers`,
		"TopLeft:36,NaN":               `"36,NaN" must be two numbers`,
		"TopLeft:Inf,36":               `"Inf,36" must be two numbers`,
		"TopLeft:36,1e999":             `"36,1e999" must be two numbers`,
		"TopLeft:36,36:1":              `"36,36:1" must be two numbers`,
		"TopLeft@":                     `"" must be a page number`,
		"TopLeft@0":                    `"0" must be a page number`,
		"TopLeft@-1":                   `"-1" must be a page number`,
		"TopLeft@1.5":                  `"1.5" must be a page number`,
		"TopLeft@1@2":                  `"1@2" must be a page number`,
		"TopLeft@2:36,36":              `"2:36,36" must be a page number`,
		"TopLeft@99999999999999999999": `"99999999999999999999" must be a page number`,
	} {
		if _, err := parsePlacement(text); !errors.Is(err, errUsage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}
