package main

import (
	"cmp"
	_ "embed"
	"html/template"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/innsigli/innsigli/internal/mail"
	"github.com/innsigli/innsigli/portal/page"
)

// notice is a mail that says one thing, in each of its languages.
type notice struct {
	Subject   string
	Languages []translation
	Head      letterhead
}

// letterhead is how the operator looks, in mail as on the signing page. The zero value is Innsigli's
// own.
type letterhead struct {
	Operator string
	Hex      string // the colour, "#rrggbb", which white words can be read on
	Logo     []byte // PNG
}

func (h letterhead) Name() string   { return cmp.Or(h.Operator, page.OwnName) }
func (h letterhead) Colour() string { return cmp.Or(h.Hex, page.OwnColour) }

// LogoURL is where the HTML finds the logo that comes with it; empty: there is none.
func (h letterhead) LogoURL() template.URL {
	if h.Logo == nil {
		return ""
	}
	return mail.LogoURL
}

// translation is a notice in one language. Link, if there is one, is where it leads, and Note is said
// about it.
type translation struct {
	Lang, Title, Text string
	Link, LinkText    string
	Note              string
	Facts             []fact
}

// fact is a value under a label.
type fact struct{ Label, Value string }

// wording is what a notice says in one language, with words in capitals where something is to be
// put in.
type wording struct{ title, text string }

// with puts in what comes after each of the words. That may be anybody's: it is taken for text.
func (w wording) with(pairs ...string) string {
	pairs = slices.Clone(pairs)
	for i := 1; i < len(pairs); i += 2 {
		pairs[i] = plain(pairs[i])
	}
	return strings.NewReplacer(pairs...).Replace(w.text)
}

// plain is text without what ends a line or a header, or turns the text around that it stands in.
func plain(text string) string {
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

//go:embed mails/notice.html
var noticeHTML string

var noticeTemplate = template.Must(template.New("notice").Parse(noticeHTML))

// message is the notice as text and as HTML.
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

// icelandicTime and englishTime are a time as the signing page writes it.
func icelandicTime(t time.Time) string { return page.Date("is", t) }
func englishTime(t time.Time) string   { return page.Date("en", t) }
