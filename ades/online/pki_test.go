package online_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"crypto/x509/pkix"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"

	"github.com/innsigli/innsigli/ades/online"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
)

// pair is a certificate with its key.
type pair struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// world is an authority, and a server at the addresses that its certificates name:
// what is registered on the mux answers.
type world struct {
	root pair
	url  string
	mu   sync.Mutex
	mux  *http.ServeMux
	seen []string // method of each request
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{mux: http.NewServeMux()}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.seen = append(w.seen, r.Method)
		mux := w.mux
		w.mu.Unlock()
		mux.ServeHTTP(rw, r)
	}))
	t.Cleanup(server.Close)
	w.url = server.URL
	w.root = issue(t, pair{}, &x509.Certificate{
		Subject:  pkix.Name{Country: []string{"IS"}, CommonName: "Test Root"},
		IsCA:     true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	})
	return w
}

// only makes the server answer at a path and below it, and nowhere else.
func (w *world) only(path string, h http.Handler) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mux = http.NewServeMux()
	w.mux.Handle(path, h)
	w.mux.Handle(path+"/", h)
}

// requests returns the methods of the requests so far.
func (w *world) requests() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.seen...)
}

// issue makes a certificate under a parent, or under itself.
func issue(t testing.TB, parent pair, template *x509.Certificate) pair {
	t.Helper()
	key := certtest.NewKey(t, elliptic.P256())
	template.BasicConstraintsValid = true
	return pair{certtest.Issue(t, *template, key, parent.cert, parent.key), key}
}

// signer issues an end-entity certificate with the addresses given, which are paths
// on the world's server.
func (w *world) signer(t testing.TB, ocsp, crl []string) pair {
	t.Helper()
	return issue(t, w.root, &x509.Certificate{
		Subject:               pkix.Name{Country: []string{"IS"}, CommonName: "Test Signer"},
		KeyUsage:              x509.KeyUsageContentCommitment,
		OCSPServer:            w.at(ocsp),
		CRLDistributionPoints: w.at(crl),
	})
}

func (w *world) at(paths []string) []string {
	var out []string
	for _, path := range paths {
		out = append(out, w.url+path)
	}
	return out
}

// local is a client that may connect to this machine, where the tests' servers are.
func local() *http.Client {
	return online.NewClient(netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128"))
}
