package page

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const langCookie = "lang"

// languageOf is the language of a request: the one that was chosen, else the one that the browser
// prefers.
func languageOf(r *http.Request) string {
	if c, err := r.Cookie(langCookie); err == nil && slices.Contains(languages, c.Value) {
		return c.Value
	}
	return preferred(strings.Join(r.Header.Values("Accept-Language"), ","))
}

const maxPreferences = 1000 // bytes

// preferred is the language of ours that has the greatest weight in an Accept-Language
// (RFC 9110 12.5.4); the first of ours when there is none.
func preferred(accepted string) string {
	best, most := languages[0], 0.0
	for one := range strings.SplitSeq(accepted[:min(len(accepted), maxPreferences)], ",") {
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

// chooses says whether a request chooses a language, and answers it then: by the same address without
// the choice.
func chooses(w http.ResponseWriter, r *http.Request) bool {
	query := r.URL.Query()
	lang := query.Get("lang")
	if r.Method != http.MethodGet && r.Method != http.MethodHead || !slices.Contains(languages, lang) || r.URL.Path == backPath {
		return false
	}
	http.SetCookie(w, &http.Cookie{
		Name: langCookie, Value: lang, Path: "/sign/", MaxAge: int(365 * 24 * time.Hour / time.Second),
		Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
	query.Del("lang")
	to := url.URL{Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: query.Encode()}
	http.Redirect(w, r, to.String(), http.StatusSeeOther)
	return true
}

// otherLanguage is the address of a page in the other language. What answers a form, or a provider, is
// at no address: what the request is about is.
func otherLanguage(r *http.Request, other string) string {
	query := url.Values{"lang": {other}}
	if r.Method == http.MethodPost || r.URL.Path == backPath {
		return home(r) + "?" + query.Encode()
	}
	for name, values := range r.URL.Query() {
		if name != "lang" {
			query[name] = values
		}
	}
	return r.URL.EscapedPath() + "?" + query.Encode()
}

// home is the page that a request is about: a participant's, or that of a link.
func home(r *http.Request) string {
	if process, who := r.PathValue("process"), r.PathValue("who"); process != "" && who != "" {
		return placePath(process, who)
	}
	if token := r.PathValue("token"); token != "" {
		return linkPath(token)
	}
	return loginPath
}

// The paths that pages lead to.
const (
	loginPath   = "/sign/login"
	backPath    = "/sign/back"
	goodbyePath = "/sign/goodbye"
)

func linkPath(token string) string { return "/sign/" + url.PathEscape(token) }

func placePath(process, who string) string {
	return "/sign/" + url.PathEscape(process) + "/" + url.PathEscape(who)
}
