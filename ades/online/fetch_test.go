package online

import (
	"bytes"
	"context"
	"crypto"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// TestExchange checks the result of each kind of answer.
func TestExchange(t *testing.T) {
	redirect := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }
	}
	endless := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(bytes.Repeat([]byte("x"), 1<<16)); err != nil {
				return
			}
		}
	}
	slow := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for name, row := range map[string]struct {
		serve       http.HandlerFunc
		post        []byte
		want        string
		err         error
		unavailable bool
	}{
		"answer as long as the limit": {body([]byte("0123456789")), nil, "0123456789", nil, false},
		"one byte too long":           {body([]byte("0123456789A")), nil, "", errTooLarge, false},
		"endless":                     {endless, nil, "", errTooLarge, false},
		"slow":                        {slow, nil, "", context.DeadlineExceeded, true},
		"cut off":                     {cutOff(9), nil, "", io.ErrUnexpectedEOF, true},
		"404":                         {status(404), nil, "", &statusError{404}, false},
		"204":                         {status(204), nil, "", &statusError{204}, false},
		"408":                         {status(408), nil, "", &statusError{408}, true},
		"429":                         {status(429), nil, "", &statusError{429}, true},
		"503":                         {status(503), nil, "", &statusError{503}, true},
		"endless redirects":           {redirect("/"), nil, "", errRedirect, false},
		"redirect to a file":          {redirect("file:///etc/passwd"), nil, "", errRedirect, false},
		"redirect from POST to GET":   {redirectOnce(302), []byte("question"), "", errRedirect, false},
		"redirect that keeps POST":    {redirectOnce(307), []byte("question"), "question", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(row.serve)
			defer server.Close()
			timeout := shortTimeout
			if row.err == context.DeadlineExceeded {
				timeout = 50 * time.Millisecond
			}
			got, err := exchange{url: server.URL, body: row.post, limit: 10, timeout: timeout}.do(t.Context(), http.DefaultClient)
			var wanted, status *statusError
			same := errors.Is(err, row.err)
			if errors.As(row.err, &wanted) {
				same = errors.As(err, &status) && *status == *wanted
			}
			if string(got) != row.want || !same {
				t.Errorf("got %q, %v; want %q, %v", got, err, row.want, row.err)
			}
			checkUnavailable(t, err, row.unavailable)
		})
	}
}

// redirectOnce redirects the first request, and answers the second with its body.
func redirectOnce(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			http.Redirect(w, r, "/again", code)
			return
		}
		io.Copy(w, r.Body)
	}
}

// TestExchangeRefusesAddresses checks malformed addresses and those of other schemes. Errors, which are
// logged, contain neither user information nor the query.
func TestExchangeRefusesAddresses(t *testing.T) {
	for _, address := range []string{
		"", "file:///etc/passwd", "ldap://host/cn=x", "//host/", "http:///x", "http://[", "ftp://user:secret@host.test/?key=secret", "http://user:secret@[",
	} {
		_, err := (&TSA{URL: address}).Timestamp(t.Context(), crypto.SHA256, make([]byte, 32))
		if !errors.Is(err, errURL) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: got %v, want %v", address, err, errURL)
		}
		checkUnavailable(t, err, false)
	}
	for address, want := range map[string]string{
		"https://user:secret@host.test:8443/tsa?key=secret#secret": "https://host.test:8443/tsa",
		"https://secret@host.test":                                 "https://host.test",
		"http://user:secret@[":                                     "a malformed address",
	} {
		if got := redactURL(address); got != want {
			t.Errorf("%q: got %q, want %q", address, got, want)
		}
	}
}

// TestRedirectToPlainHTTP checks that a redirect from https to http is not followed.
func TestRedirectToPlainHTTP(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	secure := httptest.NewTLSServer(http.RedirectHandler(plain.URL, http.StatusFound))
	defer secure.Close()
	_, err := exchange{url: secure.URL, limit: 10, timeout: shortTimeout}.do(t.Context(), secure.Client())
	if !errors.Is(err, errRedirect) {
		t.Errorf("got %v, want %v", err, errRedirect)
	}
}

// TestNewClient checks that the client does not connect to this machine: by an address, by a name, and by
// a redirect from an allowed address to another one.
func TestNewClient(t *testing.T) {
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
	defer server.Close()
	redirect := httptest.NewServer(http.RedirectHandler("http://127.0.0.2:9/", http.StatusFound))
	defer redirect.Close()
	port := server.URL[strings.LastIndex(server.URL, ":"):]
	for _, address := range []string{
		server.URL, "http://localhost" + port, "http://[::ffff:127.0.0.1]" + port, "http://0.0.0.0" + port, "http://2130706433" + port, redirect.URL,
	} {
		client := NewClient()
		if address == redirect.URL {
			client = NewClient(netip.MustParsePrefix("127.0.0.1/32"))
		}
		_, err := exchange{url: address, limit: 10, timeout: shortTimeout}.do(t.Context(), client)
		if err == nil || !errors.Is(err, ErrAddress) && !strings.Contains(err.Error(), "no such host") && !strings.Contains(err.Error(), "lookup") {
			t.Errorf("%s: got %v, want %v", address, err, ErrAddress)
		}
		if errors.Is(err, ErrAddress) {
			checkUnavailable(t, err, false)
		}
	}
	if n := requests.Load(); n > 0 {
		t.Errorf("%d requests arrived", n)
	}
}

// TestLargeAnswersWait sends six requests at once, in virtual time. Two large answers are read at a time;
// small ones do not wait. The timeout does not count the waiting.
func TestLargeAnswersWait(t *testing.T) {
	for name, row := range map[string]struct {
		path         string
		timeout      time.Duration
		took         time.Duration // by all of them
		most, failed int32
	}{
		"large":                          {"/large", time.Minute, 3 * time.Second, 2, 0},
		"small":                          {"/small", time.Minute, 0, 0, 0},
		"large, each within the timeout": {"/large", 1500 * time.Millisecond, 3 * time.Second, 2, 0},
		"large, timeout":                 {"/large", 500 * time.Millisecond, 1500 * time.Millisecond, 2, 6},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, slots, began := new(slowServer), new(semaphore), time.Now()
				var failed atomic.Int32
				var all sync.WaitGroup
				for range 6 {
					all.Go(func() {
						e := exchange{url: "http://host" + row.path, limit: 4 * smallLimit, timeout: row.timeout, large: slots}
						if _, err := e.do(context.Background(), &http.Client{Transport: server}); err != nil {
							failed.Add(1)
							if !errors.Is(err, ades.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
								t.Error(err)
							}
						}
					})
				}
				all.Wait()
				if took := time.Since(began); took != row.took || server.most.Load() != row.most || failed.Load() != row.failed {
					t.Errorf("took %v with %d at once, %d failed; want %v, %d, %d", took, server.most.Load(), failed.Load(), row.took, row.most, row.failed)
				}
			})
		})
	}
}

// TestAnnouncedLength checks that the memory for an answer is allocated once if its length is announced.
func TestAnnouncedLength(t *testing.T) {
	const size = 20 << 20
	answer := &http.Response{StatusCode: 200, ContentLength: size, Body: io.NopCloser(io.LimitReader(zeros{}, size))}
	client := &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) { return answer, nil })}
	allocated := testenv.Allocated(func() {
		got, err := exchange{url: "http://host/", limit: 2 * size, timeout: shortTimeout, large: new(semaphore)}.do(t.Context(), client)
		if err != nil || len(got) != size {
			t.Errorf("got %d bytes, %v; want %d", len(got), err, size)
		}
	})
	if allocated > size+4*smallLimit {
		t.Errorf("allocated %d bytes for %d", allocated, size)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// slowServer takes a second for the part of a body beyond smallLimit, and counts how many it sends at once.
type slowServer struct{ now, most atomic.Int32 }

func (s *slowServer) RoundTrip(r *http.Request) (*http.Response, error) {
	small := io.LimitReader(zeros{}, smallLimit)
	if r.URL.Path == "/small" {
		return &http.Response{StatusCode: 200, ContentLength: smallLimit, Body: io.NopCloser(small)}, nil
	}
	rest := io.MultiReader(io.LimitReader(zeros{}, 1), &slowReader{r.Context(), s}, io.LimitReader(zeros{}, smallLimit))
	return &http.Response{StatusCode: 200, ContentLength: 2*smallLimit + 1, Body: io.NopCloser(io.MultiReader(small, rest))}, nil
}

// slowReader ends after a second, or with the request.
type slowReader struct {
	ctx    context.Context
	server *slowServer
}

func (s *slowReader) Read([]byte) (int, error) {
	now := s.server.now.Add(1)
	for most := s.server.most.Load(); now > most && !s.server.most.CompareAndSwap(most, now); most = s.server.most.Load() {
	}
	defer s.server.now.Add(-1)
	select {
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	case <-time.After(time.Second): // time: the HTTP client calls it in a synctest bubble
		return 0, io.EOF
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// TestSourceError checks the kind, the address and the failure in the errors of each source.
func TestSourceError(t *testing.T) {
	refusal := []byte{0x30, 9, 0x30, 7, 2, 1, 2, 3, 2, 5, 0x20} // rejection, badRequest
	for name, row := range map[string]struct {
		serve http.HandlerFunc // nil: no server listens
		want  ades.SourceFailure
	}{
		"down":       {nil, ades.SourceUnreachable},
		"cut off":    {cutOff(9), ades.SourceUnreachable},
		"403":        {status(403), ades.SourceRefused},
		"503":        {status(503), ades.SourceRefused},
		"redirect":   {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "file:///", http.StatusFound) }, ades.SourceRefused},
		"garbage":    {body([]byte("<html>")), ades.SourceInvalid},
		"too long":   {body(make([]byte, smallLimit+1)), ades.SourceInvalid},
		"no content": {body(nil), ades.SourceInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(row.serve)
			defer server.Close()
			if row.serve == nil {
				server.Close()
			}
			address := strings.Replace(server.URL, "http://", "http://user:secret@", 1) + "/?key=secret"
			check := func(kind ades.SourceKind, want ades.SourceFailure, err error) {
				t.Helper()
				got := new(ades.SourceError)
				if !errors.As(err, &got) || got.Kind != kind || got.Failure != want || got.Address != server.URL+"/" || strings.Contains(err.Error(), "secret") {
					t.Errorf("%s: got %+v, %v, want %s", kind, got, err, want)
				}
			}
			client := http.DefaultClient
			_, err := (&TSA{URL: address}).Timestamp(t.Context(), crypto.SHA256, make([]byte, 32))
			check(ades.TimestampAuthority, row.want, err)
			cert := &x509.Certificate{SerialNumber: big.NewInt(1), IssuingCertificateURL: []string{address}}
			_, err = (&Issuers{Client: client}).Issuers(t.Context(), cert)
			check(ades.IssuerCertificate, row.want, err)
			cert = &x509.Certificate{SerialNumber: big.NewInt(1), CRLDistributionPoints: []string{address}}
			_, err = (&Revocation{Client: client}).Revocation(t.Context(), cert, cert, time.Time{})
			check(ades.CRLServer, row.want, err)
		})
	}
	server := httptest.NewServer(body(refusal))
	defer server.Close()
	_, err := (&TSA{URL: server.URL}).Timestamp(t.Context(), crypto.SHA256, make([]byte, 32))
	got := new(ades.SourceError)
	if !errors.As(err, &got) || got.Failure != ades.SourceRefused {
		t.Errorf("a refusal of the authority: %+v, %v", got, err)
	}
}
