package page

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/innsigli/innsigli/portal"
)

//go:embed html
var htmlFiles embed.FS

// frame is what every page has.
type frame struct {
	Lang     string // "is" or "en"
	Other    string // the address of this page in the other language
	Title    string // key of the words
	Operator Operator
	Trial    bool
	Style    string // paths of the assets
	Theme    string
	Script   string
	Logo     string         // empty: there is none
	Refresh  int            // seconds after which the page is loaded again; 0: never
	Person   *portal.Person // who has logged in; nil: nobody
	Logout   string         // path of the form to log out
	View     any            // what the page is about
}

// T is the text of a key in the language of the page, with pairs of a name and what takes the place
// of {name}.
func (f frame) T(key string, pairs ...any) string { return words.text(f.Lang, key, pairs...) }

// Date is a time to the minute, in the form of the language.
func (f frame) Date(t time.Time) string { return Date(f.Lang, t) }

// Kennitala is a kennitala in the local form.
func (f frame) Kennitala(k string) string { return localKennitala(k) }

// view is a page before it is shown.
type view struct {
	status  int            // 0: 200
	file    string         // of the template in html
	title   string         // key of the words
	refresh int            // seconds; 0: never
	person  *portal.Person // who has logged in; nil: nobody
	data    any
}

var functions = template.FuncMap{"spaced": spaced}

var templates = template.Must(template.New("").Funcs(functions).ParseFS(htmlFiles, "html/*.html"))

const layout = "layout.html"

// pages are the templates of whole pages, by the name of the file that fills the layout.
var pages = layOut()

func layOut() map[string]*template.Template {
	all := make(map[string]*template.Template)
	for _, t := range templates.Templates() {
		if name := t.Name(); path.Ext(name) == ".html" && name != layout {
			whole := template.Must(templates.Clone())
			template.Must(whole.AddParseTree("content", t.Tree))
			all[name] = whole.Lookup(layout)
		}
	}
	return all
}

// frame is that of a page for a request.
func (p *Page) frame(r *http.Request, v view) frame {
	f := frame{
		Lang: languageOf(r), Title: v.title, Operator: p.config.Operator, Trial: p.config.Trial,
		Style: p.theme.style, Theme: p.theme.colours, Script: p.theme.script, Logo: p.theme.logo,
		Refresh: v.refresh, Person: v.person, Logout: logoutPath(r), View: v.data,
	}
	if f.Person != nil {
		f.Person = named(f.Person)
	}
	if f.Operator.Name == "" {
		f.Operator.Name = OwnName
	}
	for _, other := range languages {
		if other != f.Lang {
			f.Other = otherLanguage(r, other)
		}
	}
	return f
}

// head begins the answer with a page.
func (f frame) head(w http.ResponseWriter, status int) {
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Language", f.Lang)
	header.Add("Vary", "Accept-Language, Cookie")
	if status != 0 {
		w.WriteHeader(status)
	}
}

// show writes a page.
func (p *Page) show(w http.ResponseWriter, r *http.Request, v view) error {
	f := p.frame(r, v)
	var out bytes.Buffer
	if err := pages[v.file].Execute(&out, f); err != nil {
		return err
	}
	f.head(w, v.status)
	out.WriteTo(w) // what fails here, fails for clients that are gone
	return nil
}

// spaced has a code read aloud digit by digit.
func spaced(code string) string { return strings.Join(strings.Split(code, ""), " ") }
