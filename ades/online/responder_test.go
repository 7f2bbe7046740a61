package online_test

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"errors"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"crypto/rand"

	"github.com/innsigli/innsigli/internal/pki/ocsp"
)

// responder is an OCSP responder over HTTP (RFC 6960 A.1); change makes its answers
// what a test needs.
type responder struct {
	pair
	change func(*ocsp.Response)
}

// delegate is a responder certified by the issuer for that (RFC 6960 4.2.2.2).
func delegate(t *testing.T, issuer pair, template x509.Certificate) pair {
	t.Helper()
	template.Subject = pkix.Name{Country: []string{"IS"}, CommonName: "Test Responder"}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtraExtensions = []pkix.Extension{{Id: asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 48, 1, 5}, Value: []byte{5, 0}}}
	return issue(t, issuer, &template)
}

func forOCSP() x509.Certificate {
	return x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageOCSPSigning}}
}

func (p responder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	der, err := readOCSP(r)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/ocsp-response")
	w.Write(p.respond(der))
}

// readOCSP reads a request in either of its two forms.
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

// respond says good, from this second on and for an hour.
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

// list makes a CRL that names serial numbers as revoked for keyCompromise.
func list(t testing.TB, issuer pair, template x509.RevocationList, revoked ...*big.Int) []byte {
	t.Helper()
	if template.Number == nil {
		template.Number = big.NewInt(1)
	}
	if template.ThisUpdate.IsZero() {
		template.ThisUpdate = time.Now().Truncate(time.Second)
	}
	if template.NextUpdate.IsZero() {
		template.NextUpdate = time.Now().Add(time.Hour)
	}
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

// revokedAt is a time within the validity of all certificates of the tests.
var revokedAt = time.Now().Add(-10 * time.Minute).UTC().Truncate(time.Second)

func body(content []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.Write(content) }
}
