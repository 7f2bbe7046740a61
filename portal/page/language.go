package page

import (
	"embed"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// languages are the languages of the page, the default first.
var languages = []string{"is", "en"}

//go:embed words
var wordFiles embed.FS

// words returns the catalogue of texts, which is read on first use.
var words = sync.OnceValue(readCatalogue)

// catalogue maps a key to its text in each language.
type catalogue map[string]map[string]string

// readCatalogue reads the embedded files, each of which has the texts of some pages.
func readCatalogue() catalogue {
	all := make(catalogue)
	files, err := wordFiles.ReadDir("words")
	if err != nil {
		panic(err)
	}
	for _, file := range files {
		text, err := wordFiles.ReadFile("words/" + file.Name())
		if err != nil {
			panic(err)
		}
		var some catalogue
		if err := json.Unmarshal(text, &some); err != nil {
			panic(fmt.Errorf("words/%s: %w", file.Name(), err))
		}
		for key, texts := range some {
			all[key] = texts
		}
	}
	return all
}

// text returns the text of a key, in which each {name} of the pairs is replaced by the value that follows. A
// value is not searched for names again.
func (c catalogue) text(lang, key string, pairs ...any) string {
	text := c[key][lang]
	var list []string
	for i := 0; i+1 < len(pairs); i += 2 {
		list = append(list, "{"+fmt.Sprint(pairs[i])+"}", fmt.Sprint(pairs[i+1]))
	}
	return strings.NewReplacer(list...).Replace(text)
}

// Date formats a time to the minute in a language, "is" or "en". The time zone is that of Iceland, which is
// UTC.
func Date(lang string, t time.Time) string {
	t = t.UTC()
	month := words().text(lang, fmt.Sprintf("month.%d", t.Month()))
	return words().text(lang, "date", "day", t.Day(), "month", month, "year", t.Year(), "time", t.Format("15:04"))
}

// localKennitala formats a kennitala with its hyphen. Other text is returned as it is.
func localKennitala(k string) string {
	if len(k) != 10 {
		return k
	}
	return k[:6] + "-" + k[6:]
}

const languageCookie = "lang"

// languageOf returns the language of a request: the chosen one, else the one that the browser prefers.
func languageOf(r *http.Request) string {
	if c, err := r.Cookie(languageCookie); err == nil && slices.Contains(languages, c.Value) {
		return c.Value
	}
	return preferredLanguage(strings.Join(r.Header.Values("Accept-Language"), ","))
}

const maxAcceptLanguage = 1000 // bytes of Accept-Language that are read

// preferredLanguage returns the supported language with the greatest weight in an Accept-Language value (RFC
// 9110 12.5.4), and the default if there is none.
func preferredLanguage(accepted string) string {
	best, most := languages[0], 0.0
	for one := range strings.SplitSeq(accepted[:min(len(accepted), maxAcceptLanguage)], ",") {
		lang, parameter, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(one, " ", "")), ";")
		lang, _, _ = strings.Cut(lang, "-")
		weight := 1.0
		if value, ok := strings.CutPrefix(parameter, "q="); ok {
			weight, _ = strconv.ParseFloat(value, 64)
		}
		if slices.Contains(languages, lang) && weight > most {
			best, most = lang, weight
		}
	}
	return best
}

// chooseLanguage reports whether a request chooses a language. It then stores the choice in a cookie and
// redirects to the same address without the parameter.
func chooseLanguage(w http.ResponseWriter, r *http.Request) bool {
	query := r.URL.Query()
	lang := query.Get("lang")
	if r.Method != http.MethodGet && r.Method != http.MethodHead || !slices.Contains(languages, lang) || r.URL.Path == backPath {
		return false
	}
	http.SetCookie(w, &http.Cookie{
		Name: languageCookie, Value: lang, Path: "/sign/", MaxAge: int(365 * 24 * time.Hour / time.Second),
		Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
	query.Del("lang")
	to := url.URL{Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: query.Encode()}
	http.Redirect(w, r, to.String(), http.StatusSeeOther)
	return true
}

// otherLanguageURL returns the address of a page in the other language. The answer to a form or to a provider's
// callback has no address of its own; the page that the request is about is used then.
func otherLanguageURL(r *http.Request, other string) string {
	query := url.Values{"lang": {other}}
	if r.Method == http.MethodPost || r.URL.Path == backPath {
		return subjectPath(r) + "?" + query.Encode()
	}
	for name, values := range r.URL.Query() {
		if name != "lang" {
			query[name] = values
		}
	}
	return r.URL.EscapedPath() + "?" + query.Encode()
}
