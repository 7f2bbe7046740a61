package main

import (
	"bytes"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp/simulated"
	browsertest "github.com/innsigli/innsigli/internal/test/browser"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
)

// The signing page in a real browser, served by the program as anybody can try it on a laptop: with
// people who are simulated, and letters that become files. INNSIGLI_SCENE is a part of the names of the
// scenes to play; INNSIGLI_SCREENSHOTS=1 writes pictures of the pages to docs/screenshots.
func TestSigningPage(t *testing.T) {
	testenv.Slow(t, "a browser")
	t.Parallel()
	browsertest.Needed(t)
	p, base := trialOnLocalhost(t)
	past := p.past(t, base)
	stage := browsertest.Stage{
		BaseURL: base, API: p.BaseURL, Token: p.client.token, Mail: filepath.Join(p.folder, "mail"),
		Document: filepath.Join(p.folder, "sample.pdf"), Text: filepath.Join(p.folder, "text.pdf"), Scan: filepath.Join(p.folder, "scan.pdf"),
		Past: past, Only: os.Getenv("INNSIGLI_SCENE"),
	}
	if os.Getenv("INNSIGLI_SCREENSHOTS") == "1" {
		stage.Screenshots = screenshotFolder(t)
	}
	p.write(t, "sample.pdf", testenv.ReadFile(t, "sample.pdf"))
	scan := scannedPage(t)
	p.write(t, "text.pdf", bigDocument(t, scan, false))
	if testenv.Full() { // only the times of first pictures need it
		p.write(t, "scan.pdf", bigDocument(t, scan, true))
	}
	scenes := browsertest.Play(t, stage)
	t.Run("EU DSS", func(t *testing.T) { checkDownloads(t, scenes, p.root(t)) })
	t.Run("logs", func(t *testing.T) { p.checkLinks(t) })
}

// trialOnLocalhost is "innsigli serve --environment production --insecure-simulated-idp --mail dir:mail" at
// the address that its letters lead to.
func trialOnLocalhost(t *testing.T) (p *production, base string) {
	t.Helper()
	address := testenv.Address(t)
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	base = "http://localhost:" + port
	p = newProduction(t, build(t), "", "--insecure-simulated-idp", "--mail", "dir:mail", "--listen", address, "--base-url", base)
	p.keepsToItself(t)
	p.run(t)
	p.client = p.account(t, p.store)
	p.pays(t)
	return p, base
}

// checkDownloads: EU DSS passes each signature of what people downloaded.
func checkDownloads(t *testing.T, scenes map[string]browsertest.Scene, root *x509.Certificate) {
	var files []*signedFile
	for name, scene := range scenes {
		for i, file := range scene.Files {
			f := &signedFile{name: fmt.Sprint(name, " ", i), path: file.Path, level: ades.LT}
			for _, typed := range file.Signers {
				f.signers = append(f.signers, simulatedName(typed))
			}
			files = append(files, f)
		}
	}
	if len(files) == 0 {
		t.Skip("no scene in which somebody downloads was played")
	}
	slices.SortFunc(files, func(a, b *signedFile) int { return strings.Compare(a.name, b.name) })
	reports := validators.DSS(t, validators.DSSOptions{Roots: []*x509.Certificate{root}}, paths(files)...)
	for i, f := range files {
		if diff := cmp.Diff(f.inDSS(), reports[i], dssRest); diff != "" {
			t.Errorf("%s (-want +got):\n%s", f.name, diff)
			continue
		}
		checkWarnings(t, f, reports[i])
		t.Logf("figure: %s: EU DSS %s, %d times", f.name, reports[i].Signatures[0].Indication, len(f.signers))
	}
}

// simulatedName is the name in the certificate of who logged in with a kennitala or a phone number.
func simulatedName(typed string) string {
	if len(typed) < 10 {
		typed = simulated.KennitalaOf(typed)
	}
	return simulated.Name(typed)
}

var linkInLetter = regexp.MustCompile(`/sign/([0-9A-Za-z_-]{43})\b`)

// routeInLog is a pattern of paths, which has no link and no ID in it.
var routeInLog = regexp.MustCompile(`route=/sign/[a-z/{}]* `)

// checkLinks: no link of any letter is in a log, nor any path below /sign/.
func (p *production) checkLinks(t *testing.T) {
	t.Helper()
	letters, err := filepath.Glob(filepath.Join(p.folder, "mail", "*.eml"))
	if err != nil || len(letters) == 0 {
		t.Fatalf("%d letters, %v", len(letters), err)
	}
	log, tokens := []byte(p.logs()), 0
	for _, letter := range letters {
		for _, match := range linkInLetter.FindAllStringSubmatch(testenv.ReadMail(t, letter).Text, -1) {
			tokens++
			if bytes.Contains(log, []byte(match[1])) {
				t.Errorf("a link is in the log:\n%s", log)
			}
		}
	}
	if tokens == 0 || bytes.Contains(routeInLog.ReplaceAll(log, nil), []byte("/sign/")) {
		t.Errorf("%d links; the log:\n%s", tokens, log)
	}
}
