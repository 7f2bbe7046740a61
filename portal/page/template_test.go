package page

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"unicode"

	"github.com/innsigli/innsigli/portal"
)

// Every page has the operator, the other language and the logged-in person, and says whether the server is a trial.
func TestLayout(t *testing.T) {
	t.Parallel()
	d := newInvitation(t, func(c *Config) {
		c.Trial = true
		c.Operator = Operator{Name: `Þjónusta "&" synir`, Contact: "mailto:help@example.is"}
	})
	b := d.newBrowser()
	b.get(d.link(0)).lacks(t, "/logout").contains(t,
		`<html lang="is">`, " – Þjónusta &#34;&amp;&#34; synir</title>", `<a class="skip" href="#content">`, `<main id="content"`,
		`lang="en" hreflang="en">English</a>`, words().text("is", "layout.trial"), `<a href="mailto:help@example.is">`,
		words().text("is", "layout.pin"), `data-lost="`+words().text("is", "layout.lost")+`"`, `data-opening="`+words().text("is", "layout.on")+`"`)
	a := b.follow(b.logIn(d.link(0), anna))
	a.contains(t, `<form method="post" action="`+of(d.invited, 0)+`/logout">`, "</span>Anna Jónsdóttir</span>")
	b.open(a.path+"?lang=en").contains(t, `<html lang="en">`, `hreflang="is">Íslenska</a>`)
}

func TestDisplayText(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Samningur \u202efdp.exe":       "Samningur fdp.exe",
		"\u2066Jón\u2069\u200b\ufeff":   "Jón",
		" two\u2028lines\u00a0of \tit ": "two lines of  it",
		"Þórunn \"Tóta\" <i>":           "Þórunn \"Tóta\" <i>",
		"\x1b[2J":                       "[2J",
	} {
		if got := displayText(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// A person without a visible name is shown by the kennitala.
func TestDisplayName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"Anna \u202eJóns": "Anna Jóns", "": localKennitala(annas), "\u200b": localKennitala(annas)} {
		person := portal.Person{Name: name, Kennitala: annas}
		if got := withDisplayName(&person); got.Name != want || got.Kennitala != annas || person.Name != name {
			t.Errorf("%q: %+v of %+v", name, got, person)
		}
	}
}

// No page has formatting characters from names, such as the right-to-left override. The downloaded file keeps its name.
func TestNamesWithFormattingCharacters(t *testing.T) {
	t.Parallel()
	const turned = "\u202e"
	s := newFixture(t, func(c *Config) {
		c.Sender = func(context.Context, string) (string, error) { return turned + "Example Ltd.", nil }
	})
	s.users()
	v, another := s.opened(), s.opened()
	link := s.invite(func(d *portal.Draft) {
		d.FileName, d.Participants = "Samningur <i>"+turned+".pdf", d.Participants[1:2]
		d.Participants[0].Name += turned
	}).Participants[0].Path
	s.signs(v, 1, jons)
	s.update(v, func(p *portal.Process) {
		for i := range p.Participants {
			one := &p.Participants[i]
			one.Name += turned
			one.Person.Name += turned
		}
		p.Participants[1].Signature.Name += turned
	})
	for _, one := range []portal.ProcessView{v, another} {
		s.update(one, func(p *portal.Process) { p.FileName = turned + p.FileName })
	}
	visitor, anna, vala := s.newBrowser(), s.browserOf(annas), s.browserOf(valas)
	code := s.sign(another, 0, annas).location
	for name, a := range map[string]answer{
		"link": visitor.get(link), "link after a login": anna.get(link), "document": anna.get(of(v, 0)),
		"decline": anna.get(of(v, 0, "/decline")), "code": anna.get(code), "while another signs": vala.get(of(another, 2)),
		"busy": s.browserOf(jons).get(of(another, 1)),
	} {
		if a.status != http.StatusOK || !strings.Contains(a.text(), "Samningur <i>.pdf") || strings.ContainsFunc(a.body, func(r rune) bool { return unicode.Is(unicode.Cf, r) }) {
			t.Errorf("%s: %d %q", name, a.status, a.body)
		}
	}
	if got := anna.get(of(v, 0, "/document")).header.Get("Content-Disposition"); !strings.Contains(got, "UTF-8''%E2%80%AE") {
		t.Errorf("the file is called %q", got)
	}
}
