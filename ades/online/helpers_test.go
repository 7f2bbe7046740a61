package online

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"errors"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/ocsp"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
)

// pair is a certificate with its key.
type pair struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// authority is a root, and the server at the addresses that its certificates name.
type authority struct {
	root     pair
	url      string
	mu       sync.Mutex
	mux      *http.ServeMux
	requests []string // method and path of each
}

func newAuthority(t testing.TB) *authority {
	t.Helper()
	a := &authority{mux: http.NewServeMux()}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		path, _, _ := strings.Cut(r.URL.Path[1:], "/")
		a.requests = append(a.requests, r.Method+" /"+path)
		mux := a.mux
		a.mu.Unlock()
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	a.url = server.URL
	a.root = issue(t, pair{}, x509.Certificate{
		Subject: pkix.Name{Country: []string{"IS"}, CommonName: "Test Root"}, IsCA: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	})
	return a
}

// serve answers at a path and below it, instead of an earlier handler.
func (a *authority) serve(path string, h http.Handler) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mux.Handle(path, h)
	a.mux.Handle(path+"/", h)
}

// reset removes all handlers and forgets the requests.
func (a *authority) reset() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mux, a.requests = http.NewServeMux(), nil
}

// seen returns the requests since the last call, such as "GET /ocsp".
func (a *authority) seen() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := strings.Join(a.requests, " ")
	a.requests = nil
	return all
}

// signer issues a certificate that names paths of the server: of OCSP responders, CRLs and issuers.
func (a *authority) signer(t testing.TB, ocsp, crl, issuers []string) pair {
	t.Helper()
	return issue(t, a.root, x509.Certificate{
		Subject:    pkix.Name{Country: []string{"IS"}, CommonName: "Test Signer"},
		KeyUsage:   x509.KeyUsageContentCommitment,
		OCSPServer: a.at(ocsp), CRLDistributionPoints: a.at(crl), IssuingCertificateURL: a.at(issuers),
	})
}

func (a *authority) at(paths []string) (addresses []string) {
	for _, path := range paths {
		addresses = append(addresses, a.url+path)
	}
	return addresses
}

func (a *authority) roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.root.cert)
	return pool
}

// issue makes a certificate. Without an issuer it is self-signed.
func issue(t testing.TB, issuer pair, template x509.Certificate) pair {
	t.Helper()
	key := certtest.NewKey(t, elliptic.P256())
	template.BasicConstraintsValid = true
	return pair{certtest.Issue(t, template, key, issuer.cert, issuer.key), key}
}

// local returns a client that may connect to this machine.
func local() *http.Client {
	return NewClient(netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128"))
}

// responder is an OCSP responder over HTTP (RFC 6960 A.1). change changes its responses.
type responder struct {
	pair
	change func(*ocsp.Response)
}

// delegate issues the certificate of a responder (RFC 6960 4.2.2.2).
func delegate(t *testing.T, issuer pair) pair {
	t.Helper()
	nocheck := pkix.Extension{Id: []int{1, 3, 6, 1, 5, 5, 7, 48, 1, 5}, Value: []byte{5, 0}}
	return issue(t, issuer, x509.Certificate{
		Subject:  pkix.Name{Country: []string{"IS"}, CommonName: "Test Responder"},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageOCSPSigning},
		ExtraExtensions: []pkix.Extension{nocheck},
	})
}

func (p responder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	der, err := readOCSP(r)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.Write(p.respond(der))
}

// readOCSP returns the request that was sent by GET or POST.
func readOCSP(r *http.Request) ([]byte, error) {
	if r.Method == http.MethodGet {
		escaped := r.URL.EscapedPath()
		text, err := url.QueryUnescape(escaped[strings.LastIndex(escaped, "/")+1:])
		if err != nil {
			return nil, err
		}
		return base64.StdEncoding.DecodeString(text)
	}
	if r.Header.Get("Content-Type") != "application/ocsp-request" {
		return nil, errors.New("not an OCSP request")
	}
	return io.ReadAll(r.Body)
}

// respond answers that all certificates are good from now on for an hour, in whole seconds.
func (p responder) respond(der []byte) []byte {
	request, err := ocsp.ParseRequest(der)
	if err != nil {
		return ocsp.Refuse(ocsp.MalformedRequest)
	}
	now := time.Now().Truncate(time.Second)
	response := ocsp.Response{ProducedAt: now, Nonce: request.Nonce, Certificates: []*x509.Certificate{p.cert}}
	for _, id := range request.IDs {
		response.Singles = append(response.Singles, ocsp.Single{ID: id, ThisUpdate: now, NextUpdate: now.Add(time.Hour)})
	}
	if p.change != nil {
		p.change(&response)
	}
	out, err := ocsp.Create(response, p.cert, p.key)
	if err != nil {
		return ocsp.Refuse(ocsp.InternalError)
	}
	return out
}

// revokedAt is a time within the validity of all certificates of the tests.
var revokedAt = time.Now().Add(-10 * time.Minute).UTC().Truncate(time.Second)

// list makes a CRL with serial numbers that are revoked for keyCompromise. Without times it is valid from
// now on for an hour.
func list(t testing.TB, issuer pair, from, to time.Time, revoked ...*big.Int) []byte {
	t.Helper()
	if from.IsZero() {
		from, to = time.Now().Truncate(time.Second), time.Now().Add(time.Hour)
	}
	template := x509.RevocationList{Number: big.NewInt(1), ThisUpdate: from, NextUpdate: to}
	for _, serial := range revoked {
		template.RevokedCertificateEntries = append(template.RevokedCertificateEntries,
			x509.RevocationListEntry{SerialNumber: serial, RevocationTime: revokedAt, ReasonCode: 1})
	}
	der, err := x509.CreateRevocationList(rand.Reader, &template, issuer.cert, issuer.key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func body(content []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.Write(content) }
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// cutOff announces a longer body than it sends.
func cutOff(size int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(size))
		w.Write(make([]byte, size/2))
	}
}

// checkUnavailable checks whether an error is [ades.ErrUnavailable].
func checkUnavailable(t *testing.T, err error, want bool) {
	t.Helper()
	if got := errors.Is(err, ades.ErrUnavailable); got != want {
		t.Errorf("ades.ErrUnavailable: got %t, want %t: %v", got, want, err)
	}
}
