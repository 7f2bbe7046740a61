package delivery

import (
	"bufio"
	"context"
	"crypto/elliptic"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	certtest "github.com/innsigli/innsigli/internal/test/cert"
)

// spec 5.5
func TestRequest(t *testing.T) {
	t.Parallel()
	type seen struct {
		Method, Target, Proto, Body string
		Length                      int64
		Header                      http.Header
	}
	var got seen
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = seen{r.Method, r.RequestURI, r.Proto, string(body), r.ContentLength, r.Header}
		w.WriteHeader(http.StatusAccepted)
	}))
	defer server.Close()
	a := trialSender(t, Endpoints{AllowPrivate: true}).post(t.Context(), messageTo(server.URL+"/þ/%41%2f?þ=%41&d"))
	if diff := cmp.Diff(answer{status: http.StatusAccepted}, untimed(a), cmp.AllowUnexported(answer{})); diff != "" || a.took <= 0 {
		t.Error(a.took, diff)
	}
	if diff := cmp.Diff(seen{
		Method: "POST", Target: "/%C3%BE/%41%2f?%C3%BE=%41&d", Proto: "HTTP/1.1", Body: `{"type":"webhook.ping"}`, Length: 23,
		Header: http.Header{
			"Content-Type":            {"application/json"},
			"Content-Length":          {"23"},
			"User-Agent":              {"Innsigli-Webhooks/1"},
			"Webhook-Id":              {"0190b4a5-0000-7000-8000-000000000001"},
			"Webhook-Timestamp":       {"1614265330"},
			"Webhook-Signature":       {"v1,AAAA v1a,BBBB"},
			"Webhook-Subscription-Id": {"0190b4a5-0000-7000-8000-000000000002"},
		},
	}, got); diff != "" {
		t.Error(diff)
	}
}

// Any status is an answer, and redirects are not followed.
func TestStatus(t *testing.T) {
	t.Parallel()
	port, elsewhere := everywhere(t)
	for _, status := range []int{200, 204, 299, 301, 302, 303, 307, 308, 401, 404, 410, 429, 500, 503, 599} {
		var arrived atomic.Int32
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			arrived.Add(1)
			w.Header().Set("Location", "http://127.0.0.1:"+port+"/")
			w.Header().Set("Refresh", "0; url=http://127.0.0.1:"+port+"/")
			w.WriteHeader(status)
		}))
		a := trialSender(t, Endpoints{AllowPrivate: true}).post(t.Context(), messageTo(server.URL))
		server.Close()
		if diff := cmp.Diff(answer{status: status}, untimed(a), cmp.AllowUnexported(answer{})); diff != "" || arrived.Load() != 1 {
			t.Errorf("%d: %d requests %s", status, arrived.Load(), diff)
		}
	}
	if n := elsewhere.Load(); n != 0 {
		t.Errorf("%d connections to where redirects lead", n)
	}
}

// A burst of requests to an endpoint uses as many connections as are busy at the same time.
func TestConnectionsAreReused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const atOnce, each = 8, 100
		var opened, arrived atomic.Int32
		s := pipeSender(t, func(c net.Conn) {
			opened.Add(1)
			for readRequest(c) {
				arrived.Add(1)
				io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 3000\r\n\r\n"+strings.Repeat("ok ", 1000)) // short bodies do not end a connection
			}
		})
		var all sync.WaitGroup
		for range each {
			for range atOnce {
				all.Go(func() {
					if a := s.post(t.Context(), messageTo("http://127.0.0.1/")); a.status != http.StatusOK {
						t.Error(a)
					}
				})
			}
			all.Wait()
			synctest.Wait() // connections are free again
		}
		if arrived.Load() != atOnce*each || opened.Load() > atOnce {
			t.Errorf("%d requests over %d connections", arrived.Load(), opened.Load())
		}
	})
}

// If an endpoint closes an idle connection while the next request is sent, the request is sent on another.
func TestConnectionThatWasClosed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var arrived atomic.Int32
		s := pipeSender(t, func(c net.Conn) {
			for readRequest(c) && arrived.Add(1) != 2 {
				io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			}
		})
		for i := range 2 {
			if a := s.post(t.Context(), messageTo("http://127.0.0.1/")); a.status != http.StatusOK {
				t.Errorf("%d: %+v", i, a)
			}
		}
		if arrived.Load() != 3 {
			t.Errorf("%d requests", arrived.Load())
		}
	})
}

// The end of the caller's context is not a failure of the endpoint.
func TestContextThatEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := make(chan struct{}, 2)
		s := pipeSender(t, func(c net.Conn) {
			readRequest(c)
			begun <- struct{}{}
			io.Copy(io.Discard, c)
		})
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() { <-begun; cancel(errors.New("the server stops")) }()
		if a := s.post(ctx, messageTo("http://127.0.0.1/")); a != (answer{}) {
			t.Errorf("canceled on the way: %+v", a)
		}
		if a := s.post(ctx, messageTo("http://127.0.0.1/")); a != (answer{}) {
			t.Errorf("canceled before: %+v", a)
		}
		soon, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer stop()
		if a := s.post(soon, messageTo("http://127.0.0.1/")); a != (answer{took: 50 * time.Millisecond}) {
			t.Errorf("the caller's own time is over: %+v", a)
		}
	})
}

func messageTo(url string) signedMessage {
	return signedMessage{
		url: url, subscription: "0190b4a5-0000-7000-8000-000000000002", id: "0190b4a5-0000-7000-8000-000000000001",
		at: time.Unix(1614265330, 999), body: []byte(`{"type":"webhook.ping"}`), signatures: []string{"v1,AAAA", "v1a,BBBB"},
	}
}

// untimed returns an answer without its duration.
func untimed(a answer) answer {
	a.took = 0
	return a
}

// ample is a limit that is never reached, for senders over sockets.
const ample = time.Hour

func trialSender(t *testing.T, e Endpoints) *sender {
	s := newSenderWith(e, ample, e.dialer())
	t.Cleanup(s.close)
	return s
}

// pipeSender returns a sender with production limits, whose connections are in memory, for bubbles.
func pipeSender(t *testing.T, serve func(net.Conn)) *sender {
	s := newSender(Endpoints{AllowPrivate: true})
	var served sync.WaitGroup
	s.transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		served.Go(func() {
			defer there.Close()
			serve(there)
		})
		return here, nil
	}
	t.Cleanup(func() {
		s.close()
		served.Wait()
	})
	return s
}

// rawEndpoint serves each connection to its address, then closes it.
func rawEndpoint(t *testing.T, serve func(net.Conn)) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serveOn(t, listener, serve)
	return listener.Addr().String()
}

// serveOn serves until the test ends.
func serveOn(t *testing.T, listener net.Listener, serve func(net.Conn)) {
	var (
		mu   sync.Mutex
		open []net.Conn
		all  sync.WaitGroup
	)
	all.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, c)
			mu.Unlock()
			all.Go(func() {
				defer c.Close()
				serve(c)
			})
		}
	})
	t.Cleanup(func() {
		listener.Close()
		mu.Lock()
		for _, c := range open {
			c.Close()
		}
		mu.Unlock()
		all.Wait()
	})
}

// readRequest reads a request and reports whether there was one.
func readRequest(c net.Conn) bool {
	r, err := http.ReadRequest(bufio.NewReader(c))
	if err == nil {
		_, err = io.Copy(io.Discard, r.Body)
	}
	return err == nil
}

// authority issues the certificates of endpoints.
type authority struct {
	roots *x509.CertPool
	issue func(template x509.Certificate) tls.Certificate
}

func newAuthority(t *testing.T) authority {
	key := certtest.NewKey(t, elliptic.P256())
	root := certtest.Issue(t, x509.Certificate{
		Subject: pkix.Name{CommonName: "Test Root"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, key, nil, nil)
	roots := x509.NewCertPool()
	roots.AddCert(root)
	return authority{roots, func(template x509.Certificate) tls.Certificate {
		own := certtest.NewKey(t, elliptic.P256())
		return tls.Certificate{Certificate: [][]byte{certtest.Issue(t, template, own, root, key).Raw}, PrivateKey: own}
	}}
}
