// Package notify sends mail to people: invitations to and results of signing processes to their participants, and
// alerts about webhooks to the admins of accounts. Messages are jobs, so that none is lost and no call waits for a mail
// server.
package notify

import (
	"cmp"
	"crypto/rand"
	_ "embed"
	"html/template"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/innsigli/innsigli/internal/mail"
	"github.com/innsigli/innsigli/portal/page"
)

// notice is a message with the same text in several languages.
type notice struct {
	Subject   string
	Languages []translation
	Head      Letterhead
}

// Letterhead has the name, colour and logo of the operator, as on the signing page. The zero value is that of Innsigli.
type Letterhead struct {
	Operator string
	Hex      string // colour, "#rrggbb", with enough contrast to white text
	Logo     []byte // PNG
}

// LetterheadOf returns the letterhead of an operator.
func LetterheadOf(o page.Operator) Letterhead { return Letterhead{o.Name, o.Colour, o.Logo} }

func (h Letterhead) Name() string   { return cmp.Or(h.Operator, page.DefaultName) }
func (h Letterhead) Colour() string { return cmp.Or(h.Hex, page.DefaultColour) }

// LogoURL returns the URL of the attached logo for the HTML; empty: there is none.
func (h Letterhead) LogoURL() template.URL {
	if h.Logo == nil {
		return ""
	}
	return mail.LogoURL
}

// translation is a notice in one language. List has paragraphs with labels. Link is an optional link, and Note a sentence
// about it.
type translation struct {
	Lang, Title, Text string
	List              []fact
	Link, LinkText    string
	Note              string
	Facts             []fact
}

// fact is a value with a label.
type fact struct{ Label, Value string }

// wording is the text of a notice in one language. Words in capitals are placeholders.
type wording struct{ title, text string }

// with returns the text with placeholders replaced: pairs has placeholders, each followed by its value. Values may be
// hostile, and are reduced to plain text.
func (w wording) with(pairs ...string) string {
	pairs = slices.Clone(pairs)
	for i := 1; i < len(pairs); i += 2 {
		pairs[i] = Plain(pairs[i])
	}
	return strings.NewReplacer(pairs...).Replace(w.text)
}

// Plain returns text on one line, without characters that end a header, change the direction of text or control a terminal.
func Plain(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, text))
}

//go:embed notice.html
var noticeHTML string

var noticeTemplate = template.Must(template.New("notice").Parse(noticeHTML))

// message returns the notice as text and as HTML.
func (n notice) message(id string) (mail.Message, error) {
	var texts, languages []string
	for _, t := range n.Languages {
		texts = append(texts, t.text())
		languages = append(languages, t.Lang)
	}
	var page strings.Builder
	err := noticeTemplate.Execute(&page, n)
	return mail.Message{
		ID: id, Subject: n.Subject, Text: strings.Join(texts, "\n----\n\n"), HTML: page.String(),
		Languages: languages, Logo: n.Head.Logo,
	}, err
}

func (t translation) text() string {
	out := t.Title + "\n\n" + t.Text + "\n"
	for _, one := range t.List {
		out += "\n" + one.Label + "\n" + one.Value + "\n"
	}
	if t.Link != "" {
		out += "\n" + t.Link + "\n"
	}
	if t.Note != "" {
		out += "\n" + t.Note + "\n"
	}
	for _, f := range t.Facts {
		out += "\n" + f.Label + ": " + f.Value + "\n"
	}
	return out
}

// icelandicTime and englishTime format a time as the signing page does.
func icelandicTime(t time.Time) string { return page.Date("is", t) }
func englishTime(t time.Time) string   { return page.Date("en", t) }

var (
	testWordsIS = wording{"Prófun á pósti", "HOST getur sent póst. Þessi skilaboð voru send WHEN til að prófa það. Ekki þarf að bregðast við þeim."}
	testWordsEN = wording{"Mail test", "HOST can send mail. This message was sent on WHEN as a test. You do not need to do anything."}
)

// TestMessage returns a message that tests the mail of a server; its To is empty.
func TestMessage(baseURL string, head Letterhead, now time.Time) (mail.Message, error) {
	n := notice{
		Head:    head,
		Subject: testWordsIS.title + " / " + testWordsEN.title,
		Languages: []translation{
			{Lang: "is", Title: testWordsIS.title, Text: testWordsIS.with("HOST", baseURL, "WHEN", icelandicTime(now))},
			{Lang: "en", Title: testWordsEN.title, Text: testWordsEN.with("HOST", baseURL, "WHEN", englishTime(now))},
		},
	}
	return n.message(rand.Text())
}
