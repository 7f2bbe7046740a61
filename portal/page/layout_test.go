package page

import (
	"bytes"
	"image"
	"image/png"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// largestLogo is a picture that is as large as a logo may be.
func largestLogo(t *testing.T) []byte {
	t.Helper()
	random := rand.NewChaCha8([32]byte{})
	for height := 90; ; height-- {
		noise := image.NewGray(image.Rect(0, 0, 360, height))
		random.Read(noise.Pix)
		var out bytes.Buffer
		if err := png.Encode(&out, noise); err != nil {
			t.Fatal(err)
		}
		if out.Len() <= maxLogo {
			return out.Bytes()
		}
	}
}

var loaded = regexp.MustCompile(`(?:src|href)="(/sign/assets/[^"]+)"`)

// The first page is there soon on a phone: all of it has less than 50 kB, with the largest logo that
// there may be.
func TestFirstPageIsSmall(t *testing.T) {
	t.Parallel()
	picture := largestLogo(t)
	d := newDoor(t, func(c *Config) { c.Operator = Operator{Name: "Þjónusta ehf.", Logo: picture, Colour: "#0a5c36"} })
	b := d.tab()
	b.header["Accept-Encoding"] = "gzip, deflate, br"
	first := b.get(d.link(0))
	total, files := len(first.body), loaded.FindAllStringSubmatch(first.body, -1)
	if first.status != 200 || len(files) != 5 {
		t.Fatalf("status %d, files %q", first.status, files)
	}
	for _, file := range files {
		a := b.get(file[1])
		if a.status != 200 {
			t.Errorf("%s: status %d", file[1], a.status)
		}
		total += len(a.body)
	}
	t.Logf("%d bytes, %d of them the logo", total, len(picture))
	if total >= 50_000 {
		t.Errorf("%d bytes", total)
	}
}

// A file that there is not is a page that says so, and is not kept.
func TestNoSuchAsset(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	b := d.tab()
	for _, file := range []string{"style-0000000000000000.css", "style.css", "..%2fpage.js", "logo.png"} {
		a := b.get(assetPath + file)
		if a.status != 404 || b.last.Get("Cache-Control") != "no-store" || !strings.HasPrefix(b.last.Get("Content-Type"), "text/html") {
			t.Errorf("%s: status %d, %v", file, a.status, b.last)
		}
	}
}

// What all pages have: the operator, the other language, who is logged in, and a trial says so.
func TestLayout(t *testing.T) {
	t.Parallel()
	d := newDoor(t, func(c *Config) {
		c.Trial = true
		c.Operator = Operator{Name: `Þjónusta "&" synir`, Contact: "mailto:help@example.is"}
	})
	b := d.tab()
	stranger := b.get(d.link(0)).body
	for _, want := range []string{
		`<html lang="is">`, " – Þjónusta &#34;&amp;&#34; synir</title>", `<a class="skip" href="#content">`, `<main id="content"`,
		`lang="en" hreflang="en">English</a>`, words.text("is", "layout.trial"), `<a href="mailto:help@example.is">`,
		words.text("is", "layout.pin"), `data-lost="` + words.text("is", "layout.lost") + `"`, `data-opening="` + words.text("is", "layout.on") + `"`,
	} {
		if !strings.Contains(stranger, want) {
			t.Errorf("no %q in\n%s", want, stranger)
		}
	}
	if strings.Contains(stranger, "/logout") {
		t.Error("a stranger can log out")
	}
	view := b.follow(b.login(d.link(0), anna)).body
	for _, want := range []string{`<form method="post" action="` + of(d.made, 0) + `/logout">`, "</span>Anna Jónsdóttir</span>"} {
		if !strings.Contains(view, want) {
			t.Errorf("no %q in\n%s", want, view)
		}
	}
	if english := b.open(b.at + "?lang=en").body; !strings.Contains(english, `<html lang="en">`) || !strings.Contains(english, `hreflang="is">Íslenska</a>`) {
		t.Error("not in English:", english)
	}
}
