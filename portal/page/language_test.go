package page

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestPreferredLanguage(t *testing.T) {
	t.Parallel()
	for accepted, want := range map[string]string{
		"":                                   "is",
		"is":                                 "is",
		"en":                                 "en",
		"en-GB,en;q=0.9":                     "en",
		"is-IS,is;q=0.9,en;q=0.8":            "is",
		"de-DE,de;q=0.9,en;q=0.5":            "en",
		"de":                                 "is",
		"*":                                  "is",
		"is;q=0.2, EN ; q=0.7":               "en",
		"en;q=0":                             "is",
		"en;q=x, is;q=0.1":                   "is",
		"en;q=NaN":                           "is",
		";;;,,,=;q=":                         "is",
		"nn-NO, nb;q=0.9, is;q=0.3,en;q=0.2": "is",
	} {
		if got := preferredLanguage(accepted); got != want {
			t.Errorf("%q: %s, want %s", accepted, got, want)
		}
	}
}

// The language is the browser's, until somebody chooses one: at the same address.
func TestLanguageIsChosen(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	b := d.tab()
	lang := func(want string) {
		t.Helper()
		b.get(d.link(0))
		if got := b.last.Get("Content-Language"); got != want || b.last.Get("Vary") != "Accept-Language, Cookie" {
			t.Error(got, want, b.last)
		}
	}
	lang("is")
	b.header["Accept-Language"] = "en-US,en"
	lang("en")
	a := b.get(d.link(0) + "?lang=is")
	if a.status != http.StatusSeeOther || a.location != d.link(0) || b.cookies["lang"] != "is" {
		t.Error(a.status, a.location, b.cookies)
	}
	lang("is")
	if a := b.get("/sign/x/y?lang=en&from=51&attempt=a%26b"); a.location != "/sign/x/y?attempt=a%26b&from=51" {
		t.Error(a.location)
	}
	lang("en")
	for _, path := range []string{"?lang=de", "?lang=", "?lang=is%0d%0aX:y"} {
		b.get(d.link(0)+path).says(t, 200)
		lang("en")
	}
	b.get(backPath+"?lang=is&state=x").says(t, 403) // what the provider says is for it alone
	lang("en")
	b.cookies["lang"] = "<script>"
	lang("en")
	if a := b.post("/sign/logout?lang=is"); a.location != goodbyePath || b.cookies["lang"] == "is" {
		t.Error("a form chooses:", a.status, a.location)
	}
}

// The other language of a page that answers a form, or a provider, is at the page that it is about.
func TestOtherLanguageOfAnswers(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	b := d.tab()
	for want, a := range map[string]answer{
		d.link(0) + "?lang=en":                b.begin(d.link(0), "way", "app", "kennitala", "1"),
		of(d.made, 0) + "?lang=en":            b.post(of(d.made, 0, "/login"), "way", "app"),
		loginPath + "?lang=en":                b.get(backPath + "?state=x&code=y"),
		"/sign/none?a=%22%3E&amp;lang=en":     b.get("/sign/none?a=%22%3E"),
		of(d.made, 1) + "?from=1&amp;lang=en": b.get(of(d.made, 1) + "?from=1"),
	} {
		if !strings.Contains(a.body, `href="`+want+`"`) {
			t.Errorf("%s is not in %s", want, a.body)
		}
	}
}

func TestDates(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 6, 7, 9, 5, 0, 0, time.FixedZone("", 2*3600))
	for lang, want := range map[string]string{"is": "7. júní 2026 kl. 07:05", "en": "7 June 2026 at 07:05 UTC"} {
		if got := Date(lang, at); got != want {
			t.Errorf("%s: %q, want %q", lang, got, want)
		}
	}
	for k, want := range map[string]string{"0101302989": "010130-2989", "": "", "1": "1"} {
		if got := localKennitala(k); got != want {
			t.Errorf("%q: %q, want %q", k, got, want)
		}
	}
}

// Whatever a browser prefers, it gets a language that there is.
func FuzzPreferred(f *testing.F) {
	for _, seed := range []string{"", "en-GB,en;q=0.9", "*;q=1e9,is;q=-1", ",;=q", "\xff;q=Inf"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, accepted string) {
		if got := preferredLanguage(accepted); words["login.title"][got] == "" {
			t.Errorf("%q: %q", accepted, got)
		}
	})
}
