package page

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"
	"unicode"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/portal"
)

func TestPlain(t *testing.T) {
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

// Who has logged in has a name that can be shown, whatever the provider says.
func TestNamed(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"Anna \u202eJóns": "Anna Jóns", "": localKennitala(annas), "\u200b": localKennitala(annas)} {
		person := portal.Person{Name: name, Kennitala: annas}
		if got := withDisplayName(&person); got.Name != want || got.Kennitala != annas || person.Name != name {
			t.Errorf("%q: %+v of %+v", name, got, person)
		}
	}
}

// No name turns the sentence around that it stands in, whosever it is; and the file keeps its own.
func TestNamesDoNotTurnSentencesAround(t *testing.T) {
	t.Parallel()
	const turned = "\u202e"
	s := newScene(t, func(c *Config) {
		c.Sender = func(context.Context, string) (string, error) { return turned + "Example Ltd.", nil }
	})
	s.users()
	v, another := s.process(), s.process()
	link := s.invitesTo("Samningur <i>"+turned+".pdf", "Anna"+turned)
	s.signs(v, 1, jons)
	s.change(v, func(p *portal.Process) {
		for i := range p.Participants {
			one := &p.Participants[i]
			one.Name += turned
			one.Person.Name += turned
		}
		p.Participants[1].Signature.Name += turned
	})
	for _, one := range []portal.ProcessView{v, another} {
		s.change(one, func(p *portal.Process) { p.FileName = turned + p.FileName })
	}
	stranger, anna, vala := s.browser(""), s.browser(annas), s.browser(valas)
	code := s.sign(another, 0, annas).location
	for name, a := range map[string]answer{
		"link": stranger.get(link), "link of who has logged in": anna.get(link), "place": anna.get(of(v, 0)),
		"decline": anna.get(of(v, 0, "/decline")), "code": anna.get(code), "while another signs": vala.get(of(another, 2)),
		"busy": s.browser(jons).get(of(another, 1)),
	} {
		if a.status != http.StatusOK || !strings.Contains(a.text(), "Samningur <i>.pdf") || strings.ContainsFunc(a.body, formats) {
			t.Errorf("%s: %d %q", name, a.status, a.body)
		}
	}
	if a := anna.ask(http.MethodGet, of(v, 0, "/document")); !strings.Contains(a.Header.Get("Content-Disposition"), "UTF-8''%E2%80%AE") {
		t.Errorf("the file is called %q", a.Header.Get("Content-Disposition"))
	}
}

// invitesTo invites somebody to a document, both by these names, and returns the link.
func (s *scene) invitesTo(file, name string) (link string) {
	s.t.Helper()
	document, err := s.signing.Upload(s.t.Context(), bytes.NewReader(pdftest.Build(pdftest.Options{})), 1<<20)
	s.must(err)
	v, err := s.portal.Create(s.t.Context(), portal.Draft{
		Account: s.account, Client: "a client", FileName: file, Document: document, Page: 1,
		Participants: []portal.Invitee{{Name: name, Email: "anna@example.is", Role: portal.Signer}},
	})
	s.must(err)
	return v.Participants[0].Path
}

func formats(r rune) bool { return unicode.Is(unicode.Cf, r) }
