package signing_test

import (
	"crypto/x509"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/ades/online"
	"github.com/innsigli/innsigli/internal/pki/tsp"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
	"github.com/innsigli/innsigli/signing"
)

// Where what a signature needs is to be had.
const (
	tsa       = "tsa.test/"
	spareTSA  = "spare.test/"
	caHost    = "ca.test"
	responder = caHost + sandboxca.PathOCSP
	list      = caHost + sandboxca.PathCRL
	rootList  = caHost + sandboxca.PathRootCRL
)

// network answers requests without a socket, so that a bubble of testing/synctest holds
// all of it. The phone's authority is on it, with two timestamp authorities. Its list was
// published before anything was signed and there is no newer one, as on most days: about
// a signer, the responder alone has news.
type network struct {
	*phone
	unit  tsp.Unit             // of both timestamp authorities
	other *sandboxca.Authority // of the timestamps abroad; nil: there are none
	roots *x509.CertPool

	mu    sync.Mutex
	at    map[string]answer
	asked map[string]int
}

func newNetwork(t *testing.T) *network {
	t.Helper()
	n := &network{phone: newPhone(t), at: make(map[string]answer), asked: make(map[string]int)}
	n.roots = x509.NewCertPool()
	n.publish(caHost, n.ca)
	n.key, n.cert = n.issue(kennitala) // with the addresses
	n.unit = n.newUnit(n.ca, timestamping())
	n.restore()
	time.Sleep(2 * time.Second)
	return n
}

// restore has the timestamp authorities and the phone's authority answer as they should.
func (n *network) restore() {
	n.set(tsa, n.stamps(n.unit, nil, 0))
	n.set(spareTSA, n.stamps(n.unit, nil, 0))
	n.answersFor(caHost, n.ca)
}

// publish puts an authority at a host, and its root among those that are trusted.
func (n *network) publish(host string, ca *sandboxca.Authority) {
	n.t.Helper()
	n.roots.AddCert(ca.Root())
	ca.SetBaseURL("http://" + host)
	_, err := ca.Renew(time.Now())
	n.must(err)
	published, err := ca.CRL(time.Now())
	n.must(err)
	n.set(host+sandboxca.PathCRL, body(published))
	n.answersFor(host, ca)
}

func (n *network) answersFor(host string, ca *sandboxca.Authority) {
	n.set(host+sandboxca.PathOCSP, posted(func(request []byte) []byte { return ca.OCSP(request, time.Now()) }))
	n.set(host+sandboxca.PathRootCRL, made(func() ([]byte, error) { return ca.RootCRL(time.Now()) }))
	n.set(host+sandboxca.PathIssuers, made(ca.Issuers))
}

func (n *network) must(err error) {
	n.t.Helper()
	if err != nil {
		n.t.Fatal(err)
	}
}

func (n *network) set(at string, a answer) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.at[at] = a
}

// RoundTrip implements [http.RoundTripper].
func (n *network) RoundTrip(r *http.Request) (*http.Response, error) {
	at := r.URL.Host + r.URL.Path
	if before, _, ok := strings.Cut(at, sandboxca.PathOCSP+"/"); ok {
		at = before + sandboxca.PathOCSP // what follows is the question (RFC 6960 A.1)
	}
	n.mu.Lock()
	a := n.at[at]
	n.asked[at]++
	n.mu.Unlock()
	if a == nil {
		a = status(http.StatusNotFound)
	}
	return a(r)
}

// requests says how often an address was asked.
func (n *network) requests(at string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked[at]
}

// service is one that gets its evidence over the network, with timestamp authorities as
// an operator sets them up.
func (n *network) service(authorities ...ades.Timestamper) service {
	n.t.Helper()
	return newService(n.t, n.phone, n.options(authorities...))
}

func (n *network) options(authorities ...ades.Timestamper) signing.Options {
	client := &http.Client{Transport: n}
	sources := ades.Sources{
		Time:       online.InOrder(authorities),
		Revocation: &online.Revocation{Client: client},
		Issuers:    &online.Issuers{Client: client},
		Roots:      n.roots,
		Chains:     new(ades.Chains),
	}
	return signing.Options{Sources: func() ades.Sources { return sources }}
}

// client is one of a timestamp authority. It insists on a root of those given; nil: on
// none.
func (n *network) client(at string, roots *x509.CertPool) *online.TSA {
	return &online.TSA{URL: "http://" + at, Client: &http.Client{Transport: n}, Roots: roots}
}
