package page

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"path"
	"strings"
)

// headers are those of every answer.
var headers = map[string]string{
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

// maxForm is the longest form that is read.
const maxForm = 16 << 10

// onlyTLS has browsers come over TLS alone for a year (RFC 6797).
const onlyTLS = "max-age=31536000"

// guard sets the headers, reads no long forms, and has foreign answer what comes from other sites than the
// one of the base URL, which the server may be called otherwise than by: behind a proxy that sets Host.
func guard(baseURL string, next, foreign http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	base, err := url.Parse(baseURL)
	if err == nil {
		_ = protection.AddTrustedOrigin(base.Scheme + "://" + base.Host) // what is no origin is not trusted
	}
	secure := err == nil && base.Scheme == "https"
	protection.SetDenyHandler(foreign)
	protected := protection.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if secure {
			w.Header().Set("Strict-Transport-Security", onlyTLS)
		}
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		protected.ServeHTTP(w, r)
	})
}

// serve makes a handler of an action, whose errors are shown.
func (p *Page) serve(do action) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if chooses(w, r) {
			return
		}
		if err := do(w, r); err != nil {
			p.fail(w, r, err)
		}
	})
}

// noPage answers for the paths that are left over: also of pages that are there for another method.
func noPage(mux *http.ServeMux) action {
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
			return errNoPage
		case r.Method == http.MethodGet || r.Method == http.MethodHead: // of what a form was sent to
			return seeOther(w, r, path.Dir(r.URL.EscapedPath()))
		}
		return wrongMethod{strings.Join(methods, ", ")}
	}
}

// onlyGet refuses HEAD where GET changes something: a login that is under way goes on with the pages that are shown
// of it, and ends with the answer that the browser brings from the provider.
func onlyGet(http.ResponseWriter, *http.Request) error { return wrongMethod{http.MethodGet} }

// action answers a request. What it returns is shown as a page of its own; after an answer was begun
// it returns nil.
type action func(w http.ResponseWriter, r *http.Request) error

// readForm reads a form into r.PostForm. errForm, errTooLong.
func readForm(r *http.Request) error {
	err := r.ParseForm()
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		return errTooLong
	case err != nil:
		return errForm
	}
	return nil
}

// writeNews answers a page's script.
func writeNews(w http.ResponseWriter, status int, news placeNews) error {
	content, err := json.Marshal(news)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(content) // what fails here, fails for clients that are gone
	return nil
}
