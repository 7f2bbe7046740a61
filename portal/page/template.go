package page

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"path"
	"strings"
	"time"
	"unicode"

	"github.com/innsigli/innsigli/portal"
)

//go:embed html
var htmlFiles embed.FS

// pageData is what the layout and the templates get.
type pageData struct {
	Lang     string // "is" or "en"
	Other    string // address of this page in the other language
	Title    string // key of the catalogue
	Operator Operator
	Trial    bool
	Style    string // paths of the assets
	Theme    string
	Script   string
	Logo     string         // empty: no logo
	Refresh  int            // seconds after which the page is loaded again; 0: never
	Person   *portal.Person // the logged-in person; nil: none
	Logout   string         // path of the logout form
	View     any            // data of the page's own template
}

// T returns the text of a key in the language of the page. pairs are names and the values that replace {name}.
func (d pageData) T(key string, pairs ...any) string { return words().text(d.Lang, key, pairs...) }

// Date formats a time to the minute in the language of the page.
func (d pageData) Date(t time.Time) string { return Date(d.Lang, t) }

// Kennitala formats a kennitala with its hyphen.
func (d pageData) Kennitala(k string) string { return localKennitala(k) }

// htmlPage is a page to render.
type htmlPage struct {
	status  int            // 0: 200
	file    string         // name of the template
	title   string         // key of the catalogue
	refresh int            // seconds; 0: never
	person  *portal.Person // the logged-in person; nil: none
	data    any
}

var templateFuncs = template.FuncMap{"spaced": spaced}

const layoutFile = "layout.html"

// parsePages returns the templates of whole pages, by the file that fills the layout.
func parsePages() map[string]*template.Template {
	templates := template.Must(template.New("").Funcs(templateFuncs).ParseFS(htmlFiles, "html/*.html"))
	all := make(map[string]*template.Template)
	for _, t := range templates.Templates() {
		if name := t.Name(); path.Ext(name) == ".html" && name != layoutFile {
			whole := template.Must(templates.Clone())
			template.Must(whole.AddParseTree("content", t.Tree))
			all[name] = whole.Lookup(layoutFile)
		}
	}
	return all
}

// pageDataOf returns the data of a page that answers a request.
func (p *Page) pageDataOf(r *http.Request, v htmlPage) pageData {
	f := pageData{
		Lang: languageOf(r), Title: v.title, Operator: p.config.Operator, Trial: p.config.Trial,
		Style: p.theme.style, Theme: p.theme.colours, Script: p.theme.script, Logo: p.theme.logo,
		Refresh: v.refresh, Person: v.person, Logout: logoutPath(r), View: v.data,
	}
	if f.Person != nil {
		f.Person = withDisplayName(f.Person)
	}
	if f.Operator.Name == "" {
		f.Operator.Name = DefaultName
	}
	for _, other := range languages {
		if other != f.Lang {
			f.Other = otherLanguageURL(r, other)
		}
	}
	return f
}

// writeHeader sets the headers of an HTML answer, and writes the status if it is not 0.
func (d pageData) writeHeader(w http.ResponseWriter, status int) {
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Language", d.Lang)
	header.Add("Vary", "Accept-Language, Cookie")
	if status != 0 {
		w.WriteHeader(status)
	}
}

// render executes the page's template, and then writes the answer.
func (p *Page) render(w http.ResponseWriter, r *http.Request, v htmlPage) error {
	f := p.pageDataOf(r, v)
	var out bytes.Buffer
	if err := p.templates()[v.file].Execute(&out, f); err != nil {
		return err
	}
	f.writeHeader(w, v.status)
	out.WriteTo(w) // a failed write means that the client is gone
	return nil
}

// spaced separates the digits of a code by spaces, so that screen readers read them one by one.
func spaced(code string) string { return strings.Join(strings.Split(code, ""), " ") }

// renderStreaming writes a page as render does, but sends the HTML before each document page before that page
// is read. The browser lays out the page and requests pictures meanwhile.
func (p *Page) renderStreaming(w http.ResponseWriter, r *http.Request, v htmlPage, document documentView) error {
	f := p.pageDataOf(r, v)
	f.writeHeader(w, v.status)
	if r.Method == http.MethodHead {
		return nil
	}
	document.response.flush = func() { http.NewResponseController(w).Flush() } // a failed flush fails again in the next write
	if err := p.templates()[v.file].Execute(clientWriter{w}, f); err != nil && !errors.Is(err, errClientGone) {
		p.report(r.Context(), err) // too late for an error page: the answer has begun
	}
	return nil
}

// errClientGone reports that the client does not read the answer any more.
var errClientGone = errors.New("the client is gone")

// clientWriter wraps write errors in errClientGone.
type clientWriter struct{ io.Writer }

// Write implements [io.Writer].
func (c clientWriter) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	if err != nil {
		err = fmt.Errorf("%w: %w", errClientGone, err)
	}
	return n, err
}

// displayText returns a name on one line, without control and formatting characters, which could reverse or
// hide the text around it. Downloads use the name as it is.
func displayText(name string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, name))
}

// senderName returns the display name of the account that asks for the signatures.
func (p *Page) senderName(ctx context.Context, view *portal.ParticipantView) (string, error) {
	name, err := p.config.Sender(ctx, view.Account)
	return displayText(name), err
}

// withDisplayName returns a person with a name to show: the kennitala if the provider told no name.
func withDisplayName(person *portal.Person) *portal.Person {
	shown := *person
	shown.Name = cmp.Or(displayText(person.Name), localKennitala(person.Kennitala))
	return &shown
}
