package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"image/png"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/semaphore"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/ades/report"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
	"github.com/innsigli/innsigli/stamp"
)

// "--online" asks for the revocation data that a file lacks, where a certificate leads to a root, and through the
// guard: without the flag for trials, no address of this machine is called.
func TestVerifyOnline(t *testing.T) {
	ca := catest.New(t)
	catest.Serve(t, ca)
	t.Chdir(t.TempDir())
	writeSigner(t, ".", ca)
	for _, name := range []string{"in.pdf", "in.xml"} {
		output(t, done, "sign", name, "--cert", "chain.pem", "--key", "key.pem", "-o", "signed-"+name)
		for _, test := range []struct {
			flags []string
			want  ades.Indication
		}{
			{nil, ades.Indeterminate},
			{[]string{"--online"}, ades.Indeterminate},
			{[]string{"--online", "--insecure-allow-private-addresses"}, ades.TotalPassed},
		} {
			var got report.Document
			args := append([]string{"verify", "signed-" + name, "--json", "--trust", "root.pem"}, test.flags...)
			if err := json.Unmarshal([]byte(output(t, done, args...)), &got); err != nil {
				t.Fatal(err)
			}
			if s := got.Signatures; len(s) != 1 || s[0].Indication != test.want {
				t.Errorf("%v: want %s: %+v", args, test.want, got)
			}
		}
	}
}

// "--timestamp-trust" has the roots of timestamp authorities, and "--trust" those of signers alone then.
func TestTimestampTrust(t *testing.T) {
	ca, stamps := catest.New(t), catest.New(t)
	catest.Serve(t, ca)
	url := catest.Serve(t, stamps) + sandboxca.PathTimestamp
	t.Chdir(t.TempDir())
	writeSigner(t, ".", ca)
	if err := os.WriteFile("stamps.pem", stamps.RootPEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"in.pdf", "in.xml"} {
		trust := []string{"--trust", "root.pem", "--timestamp-trust", "stamps.pem"}
		output(t, done, append([]string{"sign", name, "--cert", "chain.pem", "--key", "key.pem", "--level", "LT", "--tsa", url,
			"--insecure-allow-private-addresses", "-o", "signed-" + name}, trust...)...)
		for _, test := range []struct {
			trust   []string
			trusted bool
		}{
			{trust, true},
			{trust[:2], false},
			{[]string{"--trust", "root.pem", "--timestamp-trust", "root.pem"}, false},
		} {
			var got report.Document
			args := append([]string{"verify", "signed-" + name, "--json"}, test.trust...)
			if err := json.Unmarshal([]byte(output(t, done, args...)), &got); err != nil {
				t.Fatal(err)
			}
			if s := got.Signatures; len(s) != 1 || len(s[0].Timestamps) != 1 || s[0].Timestamps[0].Trusted != test.trusted {
				t.Errorf("%v: %+v", args, got)
			}
		}
	}
}

// signedTwice writes a document of two pages, with a stamp for each of its signatures on the second page.
func signedTwice(t *testing.T) {
	t.Helper()
	writeSigner(t, ".", catest.New(t))
	if err := os.WriteFile("in.pdf", pdftest.Build(pdftest.Options{Pages: 2}), 0o600); err != nil {
		t.Fatal(err)
	}
	by := []string{"--cert", "chain.pem", "--key", "key.pem"}
	output(t, done, append([]string{"sign", "in.pdf", "--stamp", "TopLeft:36,36@2", "-o", "once.pdf"}, by...)...)
	output(t, done, append([]string{"sign", "once.pdf", "--stamp", "BottomRight:36,36@2", "-o", "twice.pdf"}, by...)...)
}

// "--revisions" draws each page of each revision as it was signed: it is the picture of the file that the
// signer made, and not that of the file as it is.
func TestVerifyRevisions(t *testing.T) {
	t.Chdir(t.TempDir())
	signedTwice(t)
	output(t, done, "verify", "twice.pdf", "--trust", "root.pem", "--revisions", "pictures")
	if diff := cmp.Diff([]string{
		"twice-signature1-page1.png", "twice-signature1-page2.png", "twice-signature2-page1.png", "twice-signature2-page2.png",
	}, names(t, "pictures")); diff != "" {
		t.Fatalf("-want +got:\n%s", diff)
	}
	for path, want := range map[string]fs.FileMode{"pictures": 0o700, "pictures/twice-signature1-page1.png": 0o600} {
		if stat, err := os.Stat(path); err != nil || stat.Mode().Perm() != want {
			t.Errorf("%s: %v, want %v (%v)", path, stat.Mode(), want, err)
		}
	}
	renderer := rendererFlag{testenv.RendererCache()}.renderer()
	defer renderer.Close()
	for picture, of := range map[string]string{"twice-signature1-page2.png": "once.pdf", "twice-signature2-page2.png": "twice.pdf"} {
		got := picturedAt(t, filepath.Join("pictures", picture))
		if got.Rect.Size() != image.Pt(848, 1200) {
			t.Errorf("%s: %v", picture, got.Rect)
		}
		content := testenv.ReadFile(t, of)
		want, err := renderer.Render(t.Context(), bytes.NewReader(content), int64(len(content)), 2, 848, 1200)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Pix, want.Pix) {
			t.Errorf("%s is not the picture of %s", picture, of)
		}
	}
	if bytes.Equal(testenv.ReadFile(t, "pictures/twice-signature1-page2.png"), testenv.ReadFile(t, "pictures/twice-signature2-page2.png")) {
		t.Error("the second stamp is in neither picture, or in both")
	}
}

// What is not drawn is said, and the report is the same. Files of one name do not overwrite one another.
func TestVerifyRevisionsNotDrawn(t *testing.T) {
	t.Chdir(t.TempDir())
	signedTwice(t)
	broken := bytes.Replace(testenv.ReadFile(t, "once.pdf"), []byte("842"), []byte("841"), 1)
	output(t, done, "sign", "in.xml", "--cert", "chain.pem", "--key", "key.pem", "-o", "once.xml")
	if err := errors.Join(os.Mkdir("other", 0o700), os.WriteFile("other/once.pdf", testenv.ReadFile(t, "once.pdf"), 0o600), os.WriteFile("broken.pdf", broken, 0o600)); err != nil {
		t.Fatal(err)
	}
	var out, talk bytes.Buffer
	status := run(t.Context(), []string{"verify", "once.pdf", "other/once.pdf", "broken.pdf", "once.xml", "missing.pdf", "--trust", "root.pem", "--revisions", "pictures"}, &out, &talk)
	if status != failed {
		t.Errorf("exit status %d", status)
	}
	for _, said := range []string{"broken.pdf: signature 1 is not drawn: the signature is not intact", "once.xml is XML, which has no pages to draw"} {
		if strings.Count(talk.String(), said) != 1 {
			t.Errorf("%q is not said once: %s", said, &talk)
		}
	}
	if diff := cmp.Diff([]string{"once-2-signature1-page1.png", "once-2-signature1-page2.png", "once-signature1-page1.png", "once-signature1-page2.png"}, names(t, "pictures")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if strings.Count(out.String(), "Signature 1 of 1") != 4 {
		t.Errorf("reports:\n%s", &out)
	}
}

// No more than so many pages are drawn, and how many are not is said.
func TestVerifyRevisionsBound(t *testing.T) {
	t.Chdir(t.TempDir())
	signedTwice(t)
	var talk bytes.Buffer
	p, err := newRevisionPictures("pictures", rendererFlag{testenv.RendererCache()}.renderer(), streams{stderr: &talk})
	if err != nil {
		t.Fatal(err)
	}
	p.most = 3
	v := &verifier{pictures: p}
	for _, err = range v.verifyAll(t.Context(), []string{"twice.pdf"}) {
	}
	if err := v.close(err); err != nil {
		t.Fatal(err)
	}
	said := strings.TrimSpace(lateRenderer.ReplaceAllString(talk.String(), ""))
	if got := names(t, "pictures"); len(got) != 3 || said != "innsigli: pages that were not drawn: 1 (--revisions draws at most 3)" {
		t.Errorf("%q, %s", got, &talk)
	}
}

// Many files are verified at once, and reported on in their order, as if each had been verified alone.
func TestVerifyInOrder(t *testing.T) {
	t.Chdir(t.TempDir())
	writeSigner(t, ".", catest.New(t))
	for _, name := range []string{"in.pdf", "in.xml"} {
		output(t, done, "sign", name, "--cert", "chain.pem", "--key", "key.pem", "-o", "signed-"+name)
	}
	files := slices.Repeat([]string{"signed-in.pdf", "in.pdf", "missing.pdf", "signed-in.xml", "."}, maxWaiting)
	flags := []string{"verify", "--trust", "root.pem", "--at", time.Now().Add(time.Minute).Format(time.RFC3339)} // the reports state the time
	var alone []string
	for _, name := range files[:5] {
		var out bytes.Buffer
		run(t.Context(), append(slices.Clone(flags), name), &out, io.Discard)
		alone = append(alone, out.String())
	}
	var out bytes.Buffer
	status := run(t.Context(), append(flags, files...), &out, io.Discard)
	want := strings.Join(slices.Repeat(alone, maxWaiting), "\n")
	if diff := cmp.Diff(want, out.String()); diff != "" || status != failed {
		t.Errorf("status %d (-want +got):\n%.2000s", status, diff)
	}
}

// A file waits until there is memory for it. XML takes several times its size.
func TestVerifyMemory(t *testing.T) {
	t.Chdir(t.TempDir())
	signedTwice(t)
	synctest.Test(t, func(t *testing.T) {
		const others = maxVerifiedAtOnce - 1
		memory, verified := semaphore.NewWeighted(maxVerifiedAtOnce), make(chan verifiedFile, 1)
		if err := memory.Acquire(t.Context(), others); err != nil {
			t.Fatal(err)
		}
		go func() { verified <- new(verifier).verify(t.Context(), "twice.pdf", memory) }()
		synctest.Wait()
		if len(verified) > 0 {
			t.Error("verified without memory")
		}
		memory.Release(others)
		if f := <-verified; f.err != nil || len(f.report.Signatures) != 2 || !memory.TryAcquire(maxVerifiedAtOnce) {
			t.Errorf("%+v", f)
		}
	})
	for _, test := range []struct {
		kind       format
		size, want int64
	}{{formatPDF, 100, 100}, {formatPDF, math.MaxInt64, maxVerifiedAtOnce}, {formatXML, 100, 600}, {formatXML, math.MaxInt64, maxVerifiedAtOnce}} {
		if got := memoryOf(test.kind, test.size); got != test.want {
			t.Errorf("%v of %d bytes: %d, want %d", test.kind, test.size, got, test.want)
		}
	}
}

// After the command was interrupted, no other report follows, and the error is that of the context.
func TestVerifyInterrupted(t *testing.T) {
	t.Chdir(t.TempDir())
	signedTwice(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	reports := 0
	var last error
	for _, err := range new(verifier).verifyAll(ctx, slices.Repeat([]string{"twice.pdf"}, 10*maxWaiting)) {
		if last = err; err == nil {
			reports++
			cancel()
		}
	}
	if reports != 1 || !errors.Is(last, context.Canceled) {
		t.Errorf("%d reports, %v", reports, last)
	}
}

func TestPictureSides(t *testing.T) {
	for _, test := range []struct{ width, height, wantWidth, wantHeight float64 }{
		{595, 842, 848, 1200}, {842, 595, 1200, 848}, {1, 14400, 1, 1200}, {10, 10, 1200, 1200}, {0, 0, 0, 0},
	} {
		width, height := pictureSides(stamp.Size{Width: test.width, Height: test.height})
		if float64(width) != test.wantWidth || float64(height) != test.wantHeight {
			t.Errorf("%v x %v: %d x %d", test.width, test.height, width, height)
		}
	}
}

func names(t *testing.T, folder string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func picturedAt(t *testing.T, path string) *image.RGBA {
	t.Helper()
	picture, err := png.Decode(bytes.NewReader(testenv.ReadFile(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	rgba, ok := picture.(*image.RGBA)
	if !ok {
		t.Fatalf("%s: %T", path, picture)
	}
	return rgba
}

func TestFormatOf(t *testing.T) {
	for name, test := range map[string]struct {
		content string
		want    format
	}{
		"PDF":                         {"%PDF-2.0\n", formatPDF},
		"PDF behind other bytes":      {strings.Repeat("\x00", 1000) + "%PDF-1.7", formatPDF},
		"PDF too far behind them":     {strings.Repeat("\x00", 1024) + "%PDF-1.7", 0},
		"XML":                         {"<a/>", formatXML},
		"XML with a declaration":      {`<?xml version="1.0"?><a/>`, formatXML},
		"XML behind white space":      {"\r\n \t<a/>", formatXML},
		"XML with a byte order mark":  {"\xef\xbb\xbf<a/>", formatXML},
		"UTF-16, little end first":    {"\xff\xfe<\x00a\x00/\x00>\x00", formatXML},
		"UTF-16, big end first":       {"\xfe\xff\x00<\x00a\x00/\x00>", formatXML},
		"UTF-16 without a mark":       {"\x00<\x00?\x00x\x00m\x00l", formatXML},
		"UTF-16 behind a line's end":  {"\xff\xfe\n\x00<\x00a\x00", formatXML},
		"text":                        {"Not a PDF, a < b.", 0},
		"nothing":                     {"", 0},
		"a mark alone":                {"\xef\xbb\xbf", 0},
		"a file of another kind":      {"PK\x03\x04<a/>", 0},
		"a PDF's header in a comment": {"<!-- %PDF-1.7 --><a/>", formatXML},
		"a PDF's header in UTF-16":    {"\xff\xfe<\x00a\x00>\x00%PDF-1.7", formatXML},
		"XML that is not well-formed": {"<a", formatXML},
		"a PDF behind an odd byte":    {"\x01<html>\n%PDF-1.4", formatPDF},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readFormat(bytes.NewReader([]byte(test.content)))
			if got != test.want || errors.Is(err, errFormat) != (test.want == 0) {
				t.Errorf("%v, %v; want %v", got, err, test.want)
			}
		})
	}
}
