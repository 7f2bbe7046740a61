// Package ca serves an authority of sandbox/ca over HTTP: timestamps, OCSP, CRLs and issuers. Only
// tests import it, as catest.
package ca

import (
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// maxRequest is the most that is read of a request, in bytes.
const maxRequest = 64 << 10

// Serve has an authority answer on the loopback interface until the test ends, and returns
// the base URL. The authority's certificates, and those issued from now on, carry the
// addresses.
func Serve(t testing.TB, a *sandboxca.Authority) (url string) {
	t.Helper()
	return ServeThrough(t, a, time.Now(), func(next http.Handler) http.Handler { return next })
}

// ServeThrough is the same with something in front of the authority. Its certificates with the addresses are
// of the time given.
func ServeThrough(t testing.TB, a *sandboxca.Authority, at time.Time, front func(http.Handler) http.Handler) (url string) {
	t.Helper()
	server := httptest.NewServer(front(Handler(a)))
	t.Cleanup(server.Close)
	a.SetBaseURL(server.URL)
	if _, err := a.Renew(at); err != nil {
		t.Fatal(err)
	}
	return server.URL
}

// Handler answers for an authority at the paths of sandbox/ca.
func Handler(a *sandboxca.Authority) http.Handler {
	const ocspResponse = "application/ocsp-response"
	mux := http.NewServeMux()
	mux.Handle("POST "+sandboxca.PathTimestamp, answered("application/timestamp-reply", body, a.Timestamp))
	mux.Handle("POST "+sandboxca.PathOCSP, answered(ocspResponse, body, a.OCSP))
	mux.Handle("GET "+sandboxca.PathOCSP+"/{request...}", answered(ocspResponse, inPath, a.OCSP))
	mux.Handle("GET "+sandboxca.PathCRL, made("application/pkix-crl", a.CRL))
	mux.Handle("GET "+sandboxca.PathRootCRL, made("application/pkix-crl", a.RootCRL))
	mux.Handle("GET "+sandboxca.PathIssuers, made("application/pkcs7-mime", func(time.Time) ([]byte, error) { return a.Issuers() }))
	return mux
}

func body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	return io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
}

// inPath is the request of a GET (RFC 6960 A.1).
func inPath(_ http.ResponseWriter, r *http.Request) ([]byte, error) {
	return base64.StdEncoding.DecodeString(r.PathValue("request"))
}

func answered(kind string, read func(http.ResponseWriter, *http.Request) ([]byte, error), answer func(request []byte, now time.Time) []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request, err := read(w, r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", kind)
		w.Write(answer(request, time.Now()))
	})
}

func made(kind string, document func(now time.Time) ([]byte, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		der, err := document(time.Now())
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", kind)
		w.Write(der)
	})
}
