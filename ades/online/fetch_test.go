package online

import (
	"bytes"
	"context"
	"crypto"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
)

// One exchange: what comes of an answer, and whether asking again may help.
func TestExchange(t *testing.T) {
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	redirect := func(to string, code int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, code) }
	}
	for name, test := range map[string]struct {
		serve       http.HandlerFunc
		body        []byte
		want        string // the body; else the errors below
		err         error
		unavailable bool
	}{
		"answer":                 {serve: func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "0123456789") }, want: "0123456789"},
		"one byte too long":      {serve: func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "0123456789A") }, err: errTooLarge},
		"endless":                {serve: endless, err: errTooLarge},
		"slow":                   {serve: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, err: context.DeadlineExceeded, unavailable: true},
		"cut off":                {serve: cutOff, err: io.ErrUnexpectedEOF, unavailable: true},
		"404":                    {serve: status(404), err: &statusError{404}},
		"401":                    {serve: status(401), err: &statusError{401}},
		"204":                    {serve: status(204), err: &statusError{204}},
		"429":                    {serve: status(429), err: &statusError{429}, unavailable: true},
		"503":                    {serve: status(503), err: &statusError{503}, unavailable: true},
		"redirects without end":  {serve: redirect("/", 302), err: errRedirect},
		"redirect to a file":     {serve: redirect("file:///etc/passwd", 302), err: errRedirect},
		"redirect makes it GET":  {serve: once(302), body: []byte("question"), err: errRedirect},
		"redirect keeps it POST": {serve: once(307), body: []byte("question"), want: "question"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(test.serve)
			defer server.Close()
			timeout := shortTimeout
			if errors.Is(test.err, context.DeadlineExceeded) {
				timeout = 50 * time.Millisecond
			}
			got, err := exchange{url: server.URL, body: test.body, limit: 10, timeout: timeout}.do(context.Background(), http.DefaultClient)
			if string(got) != test.want || (test.err == nil) != (err == nil) {
				t.Fatalf("%q, %v", got, err)
			}
			var want, status *statusError
			if errors.As(test.err, &want) {
				if !errors.As(err, &status) || *status != *want {
					t.Errorf("not %v: %v", want, err)
				}
			} else if !errors.Is(err, test.err) {
				t.Errorf("not %v: %v", test.err, err)
			}
			if errors.Is(err, ades.ErrUnavailable) != test.unavailable {
				t.Errorf("whether it may help to ask again is wrong: %v", err)
			}
		})
	}
}

func endless(w http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		if _, err := w.Write(bytes.Repeat([]byte("x"), 1<<16)); err != nil {
			return
		}
	}
}

func cutOff(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "9")
	io.WriteString(w, "half")
}

// once redirects the first request and answers the second with what was sent.
func once(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			http.Redirect(w, r, "/again", code)
			return
		}
		io.Copy(w, r.Body)
	}
}

func TestExchangeRefusesOtherAddresses(t *testing.T) {
	for _, address := range []string{"", "file:///etc/passwd", "ldap://host/cn=x", "ftp://host/", "//host/", "http:///x", "http://[", "gopher://host"} {
		_, err := exchange{url: address, limit: 10, timeout: shortTimeout}.do(context.Background(), http.DefaultClient)
		if !errors.Is(err, errURL) || errors.Is(err, ades.ErrUnavailable) {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// Errors are logged: neither who logs in nor what is asked is in them.
func TestErrorsTellNoSecretOfAnAddress(t *testing.T) {
	for address, want := range map[string]string{
		"https://user:secret@host.test:8443/tsa?key=secret#secret": "https://host.test:8443/tsa",
		"https://secret@host.test":                                 "https://host.test",
		"http://user:secret@[":                                     "a malformed address",
	} {
		if got := redactURL(address); got != want {
			t.Errorf("%q is said to be %q, want %q", address, got, want)
		}
	}
	for _, address := range []string{"ftp://user:secret@host.test/?key=secret", "http://user:secret@["} {
		_, err := (&TSA{URL: address}).Timestamp(t.Context(), crypto.SHA256, make([]byte, 32))
		if !errors.Is(err, errURL) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestRedirectDoesNotLeaveTLS(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	secure := httptest.NewTLSServer(http.RedirectHandler(plain.URL, http.StatusFound))
	defer secure.Close()
	_, err := exchange{url: secure.URL, limit: 10, timeout: shortTimeout}.do(context.Background(), secure.Client())
	if !errors.Is(err, errRedirect) {
		t.Error(err)
	}
}
