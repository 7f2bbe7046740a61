package delivery

import (
	"context"
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

// A status is an answer, whatever it is, and no redirect is followed.
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

// A burst to an endpoint goes over as many connections as are busy at once.
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

// An endpoint closes a connection that waits just when the next request is on its way: it gets the
// request on another.
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

// What ends a request from outside is no fault of the endpoint.
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
