package delivery

import (
	"bufio"
	"context"
	"crypto/elliptic"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	certtest "github.com/innsigli/innsigli/internal/test/cert"
)

func messageTo(url string) message {
	return message{
		url: url, subscription: "0190b4a5-0000-7000-8000-000000000002", id: "0190b4a5-0000-7000-8000-000000000001",
		at: time.Unix(1614265330, 999), body: []byte(`{"type":"webhook.ping"}`), signatures: []string{"v1,AAAA", "v1a,BBBB"},
	}
}

// untimed is what an answer says, the time aside.
func untimed(a answer) answer {
	a.took = 0
	return a
}

// ample is a limit that no busy machine comes to, for senders over sockets.
const ample = time.Hour

func trialSender(t *testing.T, e Endpoints) *sender {
	s := newSenderWith(e, ample, e.dialer())
	t.Cleanup(s.close)
	return s
}

// pipeSender has the limits of a server. Each of its connections is in memory, served and then closed: for bubbles,
// where sockets do not work.
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

// rawEndpoint has each connection to its address served, and then closed.
func rawEndpoint(t *testing.T, serve func(net.Conn)) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serveOn(t, listener, serve)
	return listener.Addr().String()
}

// serveOn serves until the test ends, and has then ended itself.
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

// readRequest reads a request and says whether there was one.
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
