package delivery

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/webhook"
)

// The time and memory for an answer are bounded.
func TestAnswersHaveBounds(t *testing.T) {
	t.Parallel()
	const (
		tooLong = "The answer is not HTTP/1.1, or its headers are longer than 32 KiB."
		late    = "There was no answer within 15 seconds."
		broke   = "The connection ended before there was an answer."
	)
	endlessly := func(start, more string) func(w io.Writer) {
		return func(w io.Writer) {
			io.WriteString(w, start)
			chunk := []byte(strings.Repeat(more, 1+4096/len(more)))
			for {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		}
	}
	slowly := func(start string) func(w io.Writer) {
		return func(w io.Writer) {
			io.WriteString(w, start)
			for {
				time.Sleep(20 * time.Millisecond) // time: in a bubble
				if _, err := io.WriteString(w, "a"); err != nil {
					return
				}
			}
		}
	}
	says := func(text string) func(w io.Writer) {
		return func(w io.Writer) { io.WriteString(w, text) }
	}
	for _, test := range []struct {
		name  string
		serve func(w io.Writer)
		want  answer
	}{
		{"a body without end", endlessly("HTTP/1.1 200 OK\r\n\r\n", "a"), answer{status: 200}},
		{"a chunk without end", endlessly("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffff\r\n", "a"), answer{status: 200}},
		{"chunks without end", endlessly("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\na\r\n"), answer{status: 200}},
		{"an extension of a chunk without end", endlessly("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", "a"), answer{status: 200}},
		{"a trailer without end", endlessly("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "A: b\r\n"), answer{status: 200}},
		{"headers without end", endlessly("HTTP/1.1 200 OK\r\n", "A: b\r\n"), answer{failure: BadAnswer, detail: tooLong}},
		{"a header without end", endlessly("HTTP/1.1 200 OK\r\nA: ", "b"), answer{failure: BadAnswer, detail: tooLong}},
		{"a status without end", endlessly("HTTP/1.1 200 ", "O"), answer{failure: BadAnswer, detail: tooLong}},
		{"interim answers without end", endlessly("", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"), answer{failure: BadAnswer, detail: tooLong}},
		{"100 without end", endlessly("", "HTTP/1.1 100 Continue\r\n\r\n"), answer{failure: BadAnswer, detail: tooLong}},
		{"some interim answers", says("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n"), answer{status: 204}},
		{"another protocol", says("HTTP/1.1 101 Switching Protocols\r\nUpgrade: a\r\nConnection: upgrade\r\n\r\n"), answer{status: 101}},
		{"zeros without end", endlessly("", "\x00"), answer{failure: BadAnswer, detail: tooLong}},
		{"what is no HTTP", says("220 mail.example.com ESMTP\r\n"), answer{failure: BadAnswer, detail: tooLong}},
		{"HTTP/2 at once", says("\x00\x00\x00\x04\x00\x00\x00\x00\x00\r\n\r\n"), answer{failure: BadAnswer, detail: tooLong}},
		{"two lengths", says("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"), answer{failure: BadAnswer, detail: tooLong}},
		{"a slow body", slowly("HTTP/1.1 200 OK\r\n\r\n"), answer{status: 200, took: bodyTimeout}},
		{"a body that stalls", func(w io.Writer) {
			io.WriteString(w, "HTTP/1.1 200 OK\r\n\r\n")
			time.Sleep(time.Hour) // time: in a bubble
		}, answer{status: 200, took: bodyTimeout}},
		{"a slow header", slowly("HTTP/1.1 200 OK\r\nA: "), answer{failure: TimedOut, detail: late, took: webhook.ResponseTimeout}},
		{"a slow status", slowly(""), answer{failure: TimedOut, detail: late, took: webhook.ResponseTimeout}},
		{"nothing", func(io.Writer) {}, answer{failure: NoConnection, detail: broke}},
		{"a status of zero", says("HTTP/1.1 000 Nothing\r\nContent-Length: 0\r\n\r\n"), answer{failure: BadAnswer, detail: tooLong}},
		{"a part of the status", says("HTTP/1.1 20"), answer{failure: BadAnswer, detail: tooLong}},
		{"a status alone", says("HTTP/1.1 200 OK\r\n"), answer{failure: NoConnection, detail: broke}},
		{"a part of the body", says("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\na"), answer{status: 200}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var sent atomic.Int64
				s := pipeSender(t, func(c net.Conn) {
					if readRequest(c) {
						test.serve(&counter{c, &sent})
					}
				})
				begun := time.Now()
				a := s.post(t.Context(), messageTo("http://127.0.0.1/"))
				if took := time.Since(begun); took != a.took {
					t.Errorf("took %v", took)
				}
				if diff := cmp.Diff(test.want, a, cmp.AllowUnexported(answer{})); diff != "" {
					t.Error(diff)
				}
				if n := sent.Load(); n > 2*headerLimit {
					t.Errorf("%d bytes were taken", n)
				}
			})
		})
	}
}

func TestResetBehindTheStatus(t *testing.T) {
	t.Parallel()
	address := rawEndpoint(t, func(c net.Conn) {
		readRequest(c)
		io.WriteString(c, "HTTP/1.1 200 OK\r\n")
		c.(*net.TCPConn).SetLinger(0)
	})
	a := trialSender(t, Endpoints{AllowPrivate: true}).post(t.Context(), messageTo("http://"+address))
	want := answer{failure: NoConnection, detail: "The connection ended before there was an answer."}
	if diff := cmp.Diff(want, untimed(a), cmp.AllowUnexported(answer{})); diff != "" {
		t.Error(diff)
	}
}

// counter counts what is written.
type counter struct {
	io.Writer
	n *atomic.Int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.n.Add(int64(n))
	return n, err
}

var loopback = []net.IP{net.IPv4(127, 0, 0, 1)}

func quietly(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNoContent) }

// secureEndpoint returns an endpoint that speaks TLS.
func secureEndpoint(t *testing.T, c *tls.Config) *httptest.Server {
	server := httptest.NewUnstartedServer(http.HandlerFunc(quietly))
	server.TLS, server.Config.ErrorLog = c, log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

func TestTLS(t *testing.T) {
	t.Parallel()
	ours, others := newAuthority(t), newAuthority(t)
	good := ours.issue(x509.Certificate{IPAddresses: loopback})
	const handshake = "The TLS handshake failed: version 1.2 or 1.3 and a trusted certificate are required."
	for _, test := range []struct {
		name string
		tls  *tls.Config
		want answer
	}{
		{"1.3", &tls.Config{Certificates: []tls.Certificate{good}}, answer{status: 204}},
		{"1.2", &tls.Config{Certificates: []tls.Certificate{good}, MaxVersion: tls.VersionTLS12}, answer{status: 204}},
		{"1.1", &tls.Config{Certificates: []tls.Certificate{good}, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}, answer{failure: BadTLS, detail: handshake}},
		{"a server of mail", &tls.Config{Certificates: []tls.Certificate{good}, NextProtos: []string{"imap"}}, answer{failure: BadTLS, detail: handshake}},
		{"self-signed", &tls.Config{}, answer{failure: BadTLS, detail: "The certificate was not issued by a trusted authority, or intermediate certificates are missing."}},
		{"another authority", &tls.Config{Certificates: []tls.Certificate{others.issue(x509.Certificate{IPAddresses: loopback})}},
			answer{failure: BadTLS, detail: "The certificate was not issued by a trusted authority, or intermediate certificates are missing."}},
		{"another host", &tls.Config{Certificates: []tls.Certificate{ours.issue(x509.Certificate{DNSNames: []string{"example.com"}})}},
			answer{failure: BadTLS, detail: "The certificate is not for this host."}},
		{"expired", &tls.Config{Certificates: []tls.Certificate{ours.issue(x509.Certificate{IPAddresses: loopback, NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(-time.Hour)})}},
			answer{failure: BadTLS, detail: "The certificate has expired, or is not valid yet."}},
		{"of a client", &tls.Config{Certificates: []tls.Certificate{ours.issue(x509.Certificate{IPAddresses: loopback, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})}},
			answer{failure: BadTLS, detail: handshake}},
		{"wants a certificate of ours", &tls.Config{Certificates: []tls.Certificate{good}, ClientAuth: tls.RequireAnyClientCert}, answer{failure: BadTLS, detail: handshake}},
		{"wants a certificate of ours, 1.2", &tls.Config{Certificates: []tls.Certificate{good}, ClientAuth: tls.RequireAnyClientCert, MaxVersion: tls.VersionTLS12},
			answer{failure: BadTLS, detail: handshake}},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := secureEndpoint(t, test.tls)
			a := trialSender(t, Endpoints{AllowPrivate: true, Roots: ours.roots}).post(t.Context(), messageTo(server.URL))
			if diff := cmp.Diff(test.want, untimed(a), cmp.AllowUnexported(answer{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Endpoints without a TLS handshake.
func TestNoHandshake(t *testing.T) {
	t.Parallel()
	plain := httptest.NewServer(http.HandlerFunc(quietly))
	defer plain.Close()
	for _, test := range []struct {
		name, address string
		want          answer
	}{
		{"no listener", testenv.Address(t), answer{failure: NoConnection, detail: "The connection was refused."}},
		{"plain HTTP", strings.TrimPrefix(plain.URL, "http://"), answer{failure: BadTLS, detail: "The endpoint does not speak TLS."}},
		{"one who hangs up", rawEndpoint(t, func(c net.Conn) { c.Read(make([]byte, 1)) }), answer{failure: NoConnection, detail: "No connection could be made."}},
		{"another protocol", rawEndpoint(t, func(c net.Conn) { io.WriteString(c, "220 mail.example.com ESMTP\r\n"); io.Copy(io.Discard, c) }),
			answer{failure: BadTLS, detail: "The endpoint does not speak TLS."}},
		{"records without end", rawEndpoint(t, func(c net.Conn) {
			for {
				if _, err := c.Write([]byte{0x15, 3, 3, 0, 2, 1, 90}); err != nil { // a warning that means nothing
					return
				}
			}
		}), answer{failure: BadTLS, detail: "The TLS handshake failed: version 1.2 or 1.3 and a trusted certificate are required."}},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := trialSender(t, Endpoints{AllowPrivate: true}).post(t.Context(), messageTo("https://"+test.address))
			if diff := cmp.Diff(test.want, untimed(a), cmp.AllowUnexported(answer{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSilentEndpoint(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := pipeSender(t, func(c net.Conn) { io.Copy(io.Discard, c) })
		want := answer{failure: TimedOut, detail: "There was no connection within 15 seconds.", took: webhook.ResponseTimeout}
		if diff := cmp.Diff(want, s.post(t.Context(), messageTo("https://127.0.0.1/")), cmp.AllowUnexported(answer{})); diff != "" {
			t.Error(diff)
		}
	})
}

// forwarder is an egress proxy, which accepts CONNECT for permitted hosts.
func forwarder(t *testing.T, refuse int) (*url.URL, *atomic.Pointer[string]) {
	var asked atomic.Pointer[string]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		line := r.Method + " " + r.RequestURI
		asked.Store(&line)
		if refuse != 0 {
			w.WriteHeader(refuse)
			return
		}
		there, err := net.Dial("tcp", r.RequestURI)
		if err != nil {
			t.Error(err)
			return
		}
		defer there.Close()
		here, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer here.Close()
		io.WriteString(here, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { defer here.Close(); io.Copy(here, there) }()
		io.Copy(there, here)
	}))
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u, &asked
}

// With a proxy, the proxy checks the addresses. The form of the URL is checked as well.
func TestProxy(t *testing.T) {
	t.Parallel()
	ours := newAuthority(t)
	server := secureEndpoint(t, &tls.Config{Certificates: []tls.Certificate{ours.issue(x509.Certificate{IPAddresses: loopback})}})
	t.Run("to an endpoint", func(t *testing.T) {
		proxy, asked := forwarder(t, 0)
		a := trialSender(t, Endpoints{AllowPrivate: true, Proxy: proxy, Roots: ours.roots}).post(t.Context(), messageTo(server.URL))
		if want := "CONNECT " + strings.TrimPrefix(server.URL, "https://"); a.status != 204 || asked.Load() == nil || *asked.Load() != want {
			t.Errorf("%+v, proxy was asked %v, want %s", a, asked.Load(), want)
		}
	})
	t.Run("to a private address", func(t *testing.T) {
		proxy, asked := forwarder(t, 0)
		a := trialSender(t, Endpoints{Proxy: proxy, Roots: ours.roots}).post(t.Context(), messageTo(server.URL))
		if a.failure != BadAddress || asked.Load() != nil {
			t.Errorf("%+v, proxy was asked %v", a, asked.Load())
		}
	})
	t.Run("that refuses", func(t *testing.T) {
		proxy, asked := forwarder(t, http.StatusForbidden)
		a := trialSender(t, Endpoints{Proxy: proxy}).post(t.Context(), messageTo("https://hooks.example.com/"))
		want := answer{failure: NoConnection, detail: "The egress proxy answered with status 403."}
		if diff := cmp.Diff(want, untimed(a), cmp.AllowUnexported(answer{})); diff != "" || *asked.Load() != "CONNECT hooks.example.com:443" {
			t.Error(diff, asked.Load())
		}
	})
	t.Run("of the environment", func(t *testing.T) { // net/http reads it once, so that it cannot be set here
		if trialSender(t, Endpoints{}).transport.Proxy != nil {
			t.Error("there may be one")
		}
	})
}
