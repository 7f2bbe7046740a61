package main

import (
	"bytes"
	"context"
	"crypto/x509"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
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
	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/server"
	"github.com/innsigli/innsigli/server/config"
	"github.com/innsigli/innsigli/storage/sealed"
)

// The signing page in a real browser, served by the program as a newcomer tries it on a laptop: with
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
		Warned: filepath.Join(p.folder, "warned.pdf"),
		Past:   past, Only: os.Getenv("INNSIGLI_SCENE"),
	}
	if os.Getenv("INNSIGLI_SCREENSHOTS") == "1" {
		stage.Screenshots = screenshotFolder(t)
	}
	p.write(t, "sample.pdf", testenv.ReadFile(t, "sample.pdf"))
	p.write(t, "warned.pdf", warnedDocument())
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
		t.Skip("no scene with a download was played")
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

// warnedDocument is one of two pages with a script and an attached file. The second page is too wide to be drawn.
func warnedDocument() []byte {
	built := pdftest.Build(pdftest.Options{
		Pages: 2, Page: "/AA << /O << /S /JavaScript /JS (a) >> >>",
		Catalog: "/Names << /EmbeddedFiles << /Names [(a) << /Type /Filespec /F (a) /EF << /F 3 0 R >> >>] >> >>",
		Objects: []string{"<< /Type /Page /Parent 2 0 R /Contents 3 0 R /MediaBox [0 0 9000000 9] >>"},
	})
	return bytes.Replace(built, []byte("[10 0 R 11 0 R ]"), []byte("[10 0 R 100 0 R]"), 1)
}

const (
	bigPages = 40
	bigSize  = 22_000_000 // bytes, at least
)

// bigDocument is one of 40 pages and 22 MB: pages of text, and between them scans of A4 at 300 dpi.
// It begins with a page of text, or with the scan.
func bigDocument(t *testing.T, scan []byte, scanFirst bool) []byte {
	t.Helper()
	leaves := make([]pdftest.Leaf, bigPages)
	for i := range leaves {
		if (i%2 == 0) == scanFirst {
			leaves[i] = pdftest.Leaf{Scan: scan, Width: scanWidth, Height: scanHeight}
			continue
		}
		for line := range 45 {
			leaves[i].Text = append(leaves[i].Text, fmt.Sprintf("%d.%d. Leigan greiðist fyrsta dag hvers mánaðar. The rent is due on the first day.", i+1, line+1))
		}
	}
	whole := pdftest.Book(leaves)
	if len(whole) < bigSize {
		t.Fatalf("the document is of %d bytes", len(whole))
	}
	return whole
}

const scanWidth, scanHeight = 2480, 3508 // A4 at 300 dpi

// scannedPage is a picture of a twentieth of the document: lines on paper that is not quite white.
func scannedPage(t *testing.T) []byte {
	t.Helper()
	page := image.NewYCbCr(image.Rect(0, 0, scanWidth, scanHeight), image.YCbCrSubsampleRatio420)
	for i := range page.Cb {
		page.Cb[i], page.Cr[i] = 128, 128
	}
	noise := rand.New(rand.NewPCG(1, 2))
	for i := range page.Y {
		shade := 225 + noise.IntN(30)
		if x, y := i%scanWidth, i/scanWidth; y%60 < 24 && x > 200 && x < 2200 && (x/18+y/60)%5 > 0 {
			shade -= 180
		}
		page.Y[i] = uint8(shade)
	}
	var out bytes.Buffer
	for quality := 40; out.Len() < bigSize*2/bigPages; quality++ {
		out.Reset()
		if err := jpeg.Encode(&out, page, &jpeg.Options{Quality: quality}); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// past makes a process whose links expired yesterday, one of them after a person had logged in with it.
// For that the server is stopped, and started again.
func (p *production) past(t *testing.T, base string) browsertest.Past {
	t.Helper()
	made := p.client.createProcess(t, inviteText(t, testenv.ReadFile(t, "sample.pdf"),
		invitee{Name: "Anna Prufudóttir", Email: "anna@example.is", Role: "Signer"},
		invitee{Name: "Jón Prufuson", Email: "jon@example.is", Role: "Signer"},
	)).processReply
	link, place := made.link(1), "/sign/"+made.ProcessID+"/"+made.Participants[0].ID
	if _, err := p.stop(); err != nil {
		t.Fatal(err)
	}
	p.makeOlder(t, made.ProcessID)
	p.run(t)
	if !strings.HasPrefix(link, base) {
		t.Fatalf("the link is %s", link)
	}
	return browsertest.Past{Link: link, Place: place, Kennitala: people[0].kennitala}
}

// makeOlder has the invitations of a process be of eight days ago, and the first person have logged in.
func (p *production) makeOlder(t *testing.T, process string) {
	t.Helper()
	store, err := config.ParseStore(p.store, config.DatabaseFlag{})
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	keys, err := sealed.ReadFile(filepath.Join(p.folder, "master.key"))
	if err != nil {
		t.Fatal(err)
	}
	processes := sealed.Processes(db.Processes(), keys)
	err = db.InTx(t.Context(), func(ctx context.Context) error {
		older, err := processes.Process(ctx, process)
		if err != nil {
			return err
		}
		for i := range older.Participants {
			link := &older.Participants[i].Link
			link.InvitedAt = link.InvitedAt.AddDate(0, 0, -8)
		}
		first := &older.Participants[0]
		first.Person = &portal.Person{Name: people[0].name, Kennitala: people[0].kennitala, At: first.Link.InvitedAt}
		first.Link = portal.Link{InvitedAt: first.Link.InvitedAt, Was: first.Link.Hash}
		return processes.UpdateProcess(ctx, older)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Each picture of a page is in its documentation, wide enough to read and not too large to load.
func TestPicturesOfPagesAreShown(t *testing.T) {
	testenv.Slow(t, "a browser")
	shown := string(testenv.ReadFile(t, filepath.Join("..", "..", "docs", "signing-page.md")))
	pictures, err := os.ReadDir(screenshotFolder(t))
	if err != nil || len(pictures) == 0 {
		t.Fatalf("%d pictures, %v", len(pictures), err)
	}
	for _, one := range pictures {
		content := testenv.ReadFile(t, filepath.Join(screenshotFolder(t), one.Name()))
		looks, err := png.DecodeConfig(bytes.NewReader(content))
		if err != nil || looks.Width < 640 || looks.Width > 1000 || len(content) > 150<<10 {
			t.Errorf("%s: %d pixels wide, %d bytes, %v", one.Name(), looks.Width, len(content), err)
		}
		if !strings.Contains(shown, "screenshots/"+one.Name()) {
			t.Errorf("docs/signing-page.md does not show %s", one.Name())
		}
	}
}

// screenshotFolder is where pictures of the pages are kept.
func screenshotFolder(t *testing.T) string {
	t.Helper()
	folder, err := filepath.Abs(filepath.Join("..", "..", "docs", "screenshots"))
	if err == nil {
		err = os.MkdirAll(folder, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// In a real browser people log in on the pages of an OpenID provider, which is another site: it takes a
// cookie that comes back from there, and a way there that the page's own policy does not forbid. To
// their phones the provider does not get.
func TestSigningPageWithAProvider(t *testing.T) {
	testenv.Slow(t, "a browser")
	t.Parallel()
	browsertest.Needed(t)
	address := testenv.Address(t)
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	base := "http://localhost:" + port
	p := newProduction(t, build(t), "", "--config", "innsigli.toml", "--listen", address, "--base-url", base)
	p.ca = catest.New(t)
	p.provider = openidtest.Start(t, openidtest.Options{Redirects: []string{base + server.LoginPath}})
	p.keepsToItself(t)
	p.configure(t, productionOptions{})
	phones := "key = \"idp-key.pem\"\nkey-id = \"test-2026\"\n[login.phone]\n"
	p.write(t, "innsigli.toml", append(testenv.ReadFile(t, filepath.Join(p.folder, "innsigli.toml")), phones...))
	p.run(t)
	p.client = p.account(t, p.store)
	p.write(t, "sample.pdf", testenv.ReadFile(t, "sample.pdf"))

	who := people[0]
	p.person(t, who, openidtest.Answer{})
	p.provider.Login(who.kennitala)
	p.provider.Fault(openidtest.Fault{Endpoint: openidtest.Backchannel, Times: 100, Status: http.StatusInternalServerError})
	origin, err := url.Parse(p.provider.URL(openidtest.Authorization))
	if err != nil {
		t.Fatal(err)
	}
	browsertest.Play(t, browsertest.Stage{
		BaseURL: base, API: p.BaseURL, Token: p.client.token, Document: filepath.Join(p.folder, "sample.pdf"),
		Provider: "http://" + origin.Host, Person: browsertest.Person{Name: who.name, Kennitala: who.kennitala, Phone: who.phone},
	})
}

// TestReferencePage opens /reference in a real browser: the page has all that the document describes, sends requests
// to the server alone, gets a token and makes a call.
func TestReferencePage(t *testing.T) {
	testenv.Slow(t, "a browser")
	t.Parallel()
	browsertest.Needed(t)
	p := startSandbox(t, installed(t), "bolt:"+filepath.Join(shortFolder(t), "store.db"), nil)
	stage := browsertest.Stage{BaseURL: p.BaseURL, API: p.BaseURL, Client: browsertest.Client{ID: clientID, Secret: clientSecret}}
	if os.Getenv("INNSIGLI_SCREENSHOTS") == "1" {
		stage.Screenshots = screenshotFolder(t)
	}
	browsertest.Play(t, stage)
}
