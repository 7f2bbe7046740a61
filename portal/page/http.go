package page

import (
	"errors"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/innsigli/innsigli/portal"
)

// securityHeaders are set on every answer.
var securityHeaders = map[string]string{
	"Cache-Control":                "no-store",
	"Content-Security-Policy":      "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Permissions-Policy":           "camera=(), geolocation=(), microphone=()",
	"Referrer-Policy":              "no-referrer",
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
	"X-Robots-Tag":                 "noindex",
}

// maxFormSize is the size limit of a form in bytes.
const maxFormSize = 16 << 10

// hstsValue has browsers use TLS only for a year (RFC 6797).
const hstsValue = "max-age=31536000"

// secure sets the security headers, limits the size of forms, and calls deny for state-changing requests from
// other origins. The origin of the base URL is accepted, since behind a proxy the Host header may have another
// name.
func secure(baseURL string, next, deny http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	base, err := url.Parse(baseURL)
	if err == nil {
		_ = protection.AddTrustedOrigin(base.Scheme + "://" + base.Host) // an invalid origin is not trusted
	}
	secure := err == nil && base.Scheme == "https"
	protection.SetDenyHandler(deny)
	protected := protection.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if secure {
			w.Header().Set("Strict-Transport-Security", hstsValue)
		}
		for name, value := range securityHeaders {
			w.Header().Set(name, value)
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxFormSize)
		protected.ServeHTTP(w, r)
	})
}

// handle returns the handler of an action. It answers requests that choose a language, and shows the action's
// error.
func (p *Page) handle(do action) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if chooseLanguage(w, r) {
			return
		}
		if err := do(w, r); err != nil {
			p.showError(w, r, err)
		}
	})
}

// fallback answers for paths that no other pattern matches, and for paths that exist for other methods only.
func fallback(mux *http.ServeMux) action {
	return func(w http.ResponseWriter, r *http.Request) error {
		var methods []string
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
			other := *r
			other.Method = method
			if _, pattern := mux.Handler(&other); pattern != r.Pattern && !strings.HasPrefix(pattern, http.MethodHead) {
				methods = append(methods, method)
			}
		}
		switch {
		case methods == nil:
			return errPageNotFound
		case r.Method == http.MethodGet || r.Method == http.MethodHead: // the path of a form's action
			return seeOther(w, r, path.Dir(r.URL.EscapedPath()))
		}
		return methodNotAllowed{strings.Join(methods, ", ")}
	}
}

// rejectHead refuses HEAD where GET changes something: showing the progress of a login moves the login on, and
// the callback from the provider completes it.
func rejectHead(http.ResponseWriter, *http.Request) error { return methodNotAllowed{http.MethodGet} }

// action answers a request. A returned error is shown as a page. An action that has begun its answer returns
// nil.
type action func(w http.ResponseWriter, r *http.Request) error

// parseForm reads a form into r.PostForm. Errors: errInvalidForm, errFormTooLarge.
func parseForm(r *http.Request) error {
	err := r.ParseForm()
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		return errFormTooLarge
	case err != nil:
		return errInvalidForm
	}
	return nil
}

// Paths of pages that others lead to.
const (
	loginPath   = "/sign/login"
	backPath    = "/sign/back"
	goodbyePath = "/sign/goodbye"
)

// linkPath returns the path of an invitation's link.
func linkPath(token string) string { return "/sign/" + url.PathEscape(token) }

// participantPath returns the path of the page of a participant.
func participantPath(process, who string) string {
	return "/sign/" + url.PathEscape(process) + "/" + url.PathEscape(who)
}

// pathOf returns the path of the page of the view's participant.
func pathOf(view *portal.ParticipantView) string {
	return participantPath(view.ID, view.Participant.ID)
}

// subjectPath returns the page that a request is about: that of a participant, of a link, or the login.
func subjectPath(r *http.Request) string {
	if process, who := r.PathValue("process"), r.PathValue("who"); process != "" && who != "" {
		return participantPath(process, who)
	}
	if token := r.PathValue("token"); token != "" {
		return linkPath(token)
	}
	return loginPath
}

// seeOther redirects the browser to another page of this server.
func seeOther(w http.ResponseWriter, r *http.Request, path string) error {
	http.Redirect(w, r, path, http.StatusSeeOther)
	return nil
}
