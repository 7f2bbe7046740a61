package admission

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var minRate = MinRate{Grace: 10 * time.Second, Rate: 1000}

// serve serves one connection, a pipe, so that it works in a synctest bubble.
func serve(t *testing.T, h http.HandlerFunc) *client {
	t.Helper()
	return serveBy(t, &http.Server{Handler: minRate.Handler(h), ReadTimeout: time.Hour, WriteTimeout: time.Hour})
}

func serveBy(t *testing.T, s *http.Server) *client {
	near, far := net.Pipe()
	l := &one{conn: make(chan net.Conn, 1), closed: make(chan struct{})}
	l.conn <- far
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	c := &client{Conn: near}
	t.Cleanup(func() {
		near.Close()
		c.Wait()
		s.Close()
		<-served
	})
	return c
}

// client is the client's end of the connection, with its goroutines.
type client struct {
	net.Conn
	sync.WaitGroup
}

// one is a listener of one connection.
type one struct {
	conn   chan net.Conn
	closed chan struct{}
}

func (l *one) Accept() (net.Conn, error) {
	select {
	case c := <-l.conn:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *one) Close() error {
	close(l.closed)
	return nil
}

func (l *one) Addr() net.Addr { return &net.TCPAddr{} }

// A body may be sent at the minimum rate without a time limit, with pauses of up to Grace, but not more slowly or
// with longer pauses.
func TestRequestBodies(t *testing.T) {
	steady := func(n, every int) func(i int) (int, time.Duration) {
		return func(int) (int, time.Duration) { return n, time.Duration(every) * time.Second }
	}
	for name, test := range map[string]struct {
		piece func(i int) (bytes int, after time.Duration) // of a body of 60,000 bytes
		cut   bool
	}{
		"at the rate, for a minute":        {steady(1000, 1), false},
		"in bursts":                        {steady(9500, 9), false},
		"a byte a second":                  {steady(1, 1), true},
		"a little too slowly":              {steady(700, 1), true},
		"fast, with a pause of 11 seconds": {func(i int) (int, time.Duration) { return 30_000, time.Duration(i) * 11 * time.Second }, true},
		"fast, with a short pause":         {func(i int) (int, time.Duration) { return 30_000, time.Duration(i) * 9 * time.Second }, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				read := make(chan error, 1)
				c := serve(t, func(_ http.ResponseWriter, r *http.Request) {
					_, err := io.Copy(io.Discard, r.Body)
					read <- err
				})
				const size = 60_000
				c.Go(func() { io.Copy(io.Discard, c) })
				c.Go(func() {
					fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n", size)
					for i, sent := 0, 0; sent < size; i++ {
						n, after := test.piece(i)
						time.Sleep(after)
						n = min(n, size-sent)
						if _, err := c.Write(make([]byte, n)); err != nil {
							return
						}
						sent += n
					}
				})
				if err := <-read; errors.Is(err, os.ErrDeadlineExceeded) != test.cut || !test.cut && err != nil {
					t.Errorf("the body ends with %v", err)
				}
			})
		})
	}
}

// A handler that refuses a request by its header is heard at once: net/http does not wait for a large body first,
// which the client may not send before it has the response.
func TestResponseBeforeTheBody(t *testing.T) {
	for name, expect := range map[string]string{"no Expect": "", "Expect": "Expect: 100-continue\r\n"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusRequestEntityTooLarge) })
				began := time.Now()
				fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: a\r\n%sContent-Length: 1000000\r\n\r\n", expect)
				received := bufio.NewReader(c)
				response, err := http.ReadResponse(received, nil)
				if err != nil {
					t.Fatal(err)
				}
				if response.StatusCode != http.StatusRequestEntityTooLarge || time.Since(began) != 0 {
					t.Errorf("status %d after %v", response.StatusCode, time.Since(began))
				}
				io.Copy(io.Discard, received) // until the server has closed the connection
			})
		})
	}
}

// The time that the server does not read or write does not count.
func TestProcessingTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := serve(t, func(w http.ResponseWriter, r *http.Request) {
			for range 3 {
				time.Sleep(time.Minute)
				if _, err := io.ReadFull(r.Body, make([]byte, 100)); err != nil {
					t.Error(err)
				}
			}
			if _, err := r.Body.Read(make([]byte, 1)); err != io.EOF {
				t.Error(err)
			}
			time.Sleep(2 * time.Hour) // an idle client is not taken for one that closed the connection
			if err := context.Cause(r.Context()); err != nil {
				t.Error(err)
			}
			for range 3 {
				if _, err := w.Write(make([]byte, 10_000)); err != nil {
					t.Error(err)
				}
				time.Sleep(time.Minute)
			}
		})
		c.Go(func() {
			fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 300\r\n\r\n%s", strings.Repeat("x", 300))
		})
		r, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, r.Body); n != 30_000 || err != nil {
			t.Errorf("%d bytes, %v", n, err)
		}
	})
}

// A client that does not read the response is disconnected, and a client that reads it at the minimum rate gets all
// of it, also if the handler writes it at once.
func TestResponses(t *testing.T) {
	for name, test := range map[string]struct {
		rate int // bytes a second
		cut  bool
	}{"nothing": {0, true}, "a byte a second": {1, true}, "at the rate": {1100, false}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const size = 300_000
				wrote := make(chan error, 1)
				c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
					_, err := w.Write(make([]byte, size))
					wrote <- err
				})
				c.Go(func() {
					fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
					for p := make([]byte, max(test.rate, 1)); test.rate > 0; time.Sleep(time.Second) {
						if _, err := io.ReadFull(c, p); err != nil {
							return
						}
					}
				})
				err := <-wrote
				if errors.Is(err, os.ErrDeadlineExceeded) != test.cut || !test.cut && err != nil {
					t.Errorf("writing ends with %v", err)
				}
			})
		})
	}
}

// The server does not wait for the part of a body that the handler does not read.
func TestUnreadBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
		c.Go(func() { fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nx") })
		began := time.Now()
		if _, err := io.Copy(io.Discard, c); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > minRate.Grace+time.Second {
			t.Errorf("the connection ends after %v", took)
		}
	})
}

// The same with HTTP/2, where a deadline ends the stream when it passes.
func TestProcessingTimeHTTP2(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		both := new(http.Protocols)
		both.SetUnencryptedHTTP2(true)
		c := serveBy(t, &http.Server{Protocols: both, ReadTimeout: minRate.Grace, Handler: minRate.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for range 3 {
				time.Sleep(2 * minRate.Grace)
				if _, err := io.CopyN(io.Discard, r.Body, 100_000); err != nil {
					t.Error(err)
				}
			}
			for range 3 {
				time.Sleep(2 * minRate.Grace)
				io.WriteString(w, "piece")
				if err := http.NewResponseController(w).Flush(); err != nil {
					t.Error(err)
				}
			}
		}))})
		transport := &http.Transport{Protocols: both, DialContext: func(context.Context, string, string) (net.Conn, error) { return c, nil }}
		response, err := (&http.Client{Transport: transport}).Post("http://server/", "text/plain", strings.NewReader(strings.Repeat("x", 300_000)))
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(response.Body)
		if err != nil || string(content) != "piecepiecepiece" || response.ProtoMajor != 2 {
			t.Errorf("%s: %q, %v", response.Proto, content, err)
		}
		response.Body.Close()
		transport.CloseIdleConnections()
	})
}
