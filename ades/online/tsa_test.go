package online

import (
	"context"
	"crypto"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/tsp"
)

var (
	ourPolicy   = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 99999, 1}
	otherPolicy = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 99999, 2}

	imprint = sha256.Sum256([]byte("a signature value"))
)

// TestTSA checks the token or the error for each kind of response (RFC 3161 2.4.2).
func TestTSA(t *testing.T) {
	a := newAuthority(t)
	good := unit(t, a.root, time.Hour)
	between := issue(t, a.root, x509.Certificate{Subject: pkix.Name{CommonName: "Test Intermediate"}, IsCA: true, KeyUsage: x509.KeyUsageCertSign})
	below := unit(t, between, time.Hour)
	below.Chain = nil
	other := unit(t, newAuthority(t).root, time.Hour)
	responds := func(body []byte) http.HandlerFunc { return answering(func([]byte) []byte { return body }) }
	rooted, login := TSA{Roots: a.roots()}, TSA{Username: "user", Password: "secret"}
	timeNotAvailable := []byte{0x30, 10, 0x30, 8, 2, 1, 2, 3, 3, 1, 0, 2}
	slow := func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body); <-r.Context().Done() }
	for name, row := range map[string]struct {
		serve       http.HandlerFunc
		tsa         TSA    // without URL
		err         string // part of the error; "": a token
		unavailable bool
	}{
		"granted":                 {at(good, 0), TSA{}, "", false},
		"granted under the roots": {at(good, 0), rooted, "", false},
		"clock 30 seconds ahead":  {at(good, 30*time.Second), TSA{}, "", false},
		"clock 2 minutes behind":  {at(good, -2*time.Minute), TSA{}, "off", false},
		"requested policy":        {at(good, 0), TSA{Policy: ourPolicy}, "", false},
		"refused policy":          {at(good, 0), TSA{Policy: otherPolicy}, "unacceptedPolicy", false},
		"another policy":          {changing(t, good, func(r *tsp.Request) { r.Policy = ourPolicy }), TSA{Policy: otherPolicy}, "policy", false},
		"another root":            {at(other, 0), rooted, "no certificate chain", false},
		"intermediate not known":  {at(below, 0), rooted, "no certificate chain", false},
		"configured intermediate": {at(below, 0), TSA{Roots: a.roots(), Intermediates: []*x509.Certificate{between.cert}}, "", false},
		"another nonce":           {changing(t, good, func(r *tsp.Request) { r.Nonce.Add(r.Nonce, r.Nonce) }), TSA{}, "nonce", false},
		"expired certificate":     {at(unit(t, a.root, -time.Minute), 0), TSA{}, "not valid", false},
		"malformed":               {responds([]byte("<html>Under maintenance</html>")), TSA{}, "malformed", false},
		"timeNotAvailable":        {responds(timeNotAvailable), TSA{}, "timeNotAvailable", true},
		"status 503":              {status(503), TSA{}, "503", true},
		"status 404":              {status(404), TSA{}, "404", false},
		"timeout":                 {slow, TSA{Timeout: 50 * time.Millisecond}, "deadline", true},
		"login":                   {requiringLogin(at(good, 0)), login, "", false},
		"no login":                {requiringLogin(at(good, 0)), TSA{}, "401", false},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(row.serve)
			defer server.Close()
			tsa := row.tsa
			tsa.URL = server.URL
			token, err := tsa.Timestamp(t.Context(), crypto.SHA256, imprint[:])
			if row.err == "" {
				checkToken(t, token, err)
				return
			}
			if token != nil || !errors.Is(err, ades.ErrTimestamp) || !strings.Contains(err.Error(), row.err) {
				t.Errorf("got %d bytes, %v; want %q", len(token), err, row.err)
			}
			checkUnavailable(t, err, row.unavailable)
		})
	}
	_, err := (&TSA{URL: "http://127.0.0.1:1/"}).Timestamp(t.Context(), crypto.SHA256, imprint[:31])
	if !errors.Is(err, ades.ErrTimestamp) {
		t.Errorf("digest of another length: got %v, want %v", err, ades.ErrTimestamp)
	}
	checkUnavailable(t, err, false)
}

// TestTSAClientCertificate authenticates with the client certificate of the transport.
func TestTSAClientCertificate(t *testing.T) {
	a := newAuthority(t)
	client := issue(t, a.root, x509.Certificate{Subject: pkix.Name{CommonName: "Test Client"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	server := httptest.NewUnstartedServer(at(unit(t, a.root, time.Hour), 0))
	server.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: a.roots()}
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of the failing handshake
	server.StartTLS()
	defer server.Close()
	trusted := x509.NewCertPool()
	trusted.AddCert(server.Certificate())
	timestamp := func(certificates ...tls.Certificate) ([]byte, error) {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, Certificates: certificates}}
		defer transport.CloseIdleConnections()
		return (&TSA{URL: server.URL, Client: &http.Client{Transport: transport}}).Timestamp(t.Context(), crypto.SHA256, imprint[:])
	}
	token, err := timestamp(tls.Certificate{Certificate: [][]byte{client.cert.Raw}, PrivateKey: client.key})
	checkToken(t, token, err)
	if _, err := timestamp(); !errors.Is(err, ades.ErrTimestamp) {
		t.Errorf("no client certificate: got %v, want %v", err, ades.ErrTimestamp)
	}
}

// TestInOrder checks that authorities are asked in order until one returns a token under the roots, or the
// context ends. The error joins those of all authorities.
func TestInOrder(t *testing.T) {
	a := newAuthority(t)
	good := unit(t, a.root, time.Hour)
	a.serve("/down", status(503))
	a.serve("/wrong", at(good, time.Hour))
	a.serve("/good", at(good, 0))
	a.serve("/untrusted", at(unit(t, newAuthority(t).root, time.Hour), 0))
	ctx, cancel := context.WithCancel(t.Context())
	a.serve("/cancel", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		cancel()
		<-r.Context().Done()
	}))
	for name, row := range map[string]struct {
		paths       []string
		ctx         context.Context
		requests    string
		fails       bool
		unavailable bool
	}{
		"the fourth returns a token": {[]string{"/down", "/wrong", "/untrusted", "/good", "/down"}, t.Context(), "POST /down POST /wrong POST /untrusted POST /good", false, false},
		"all fail":                   {[]string{"/wrong", "/down"}, t.Context(), "POST /wrong POST /down", true, true},
		"all return a wrong token":   {[]string{"/wrong"}, t.Context(), "POST /wrong", true, false},
		"context ends":               {[]string{"/cancel", "/good"}, ctx, "POST /cancel", true, true},
		"no authority":               {nil, t.Context(), "", true, false},
	} {
		var order InOrder
		for _, path := range row.paths {
			order = append(order, &TSA{URL: a.url + path, Roots: a.roots()})
		}
		token, err := order.Timestamp(row.ctx, crypto.SHA256, imprint[:])
		if got := a.seen(); got != row.requests || row.fails != errors.Is(err, ades.ErrTimestamp) {
			t.Errorf("%s: got %v by %s, want %s", name, err, got, row.requests)
		}
		if !row.fails {
			checkToken(t, token, err)
			continue
		}
		checkUnavailable(t, err, row.unavailable)
		for _, path := range row.paths {
			if row.ctx.Err() == nil && !strings.Contains(err.Error(), path) {
				t.Errorf("%s: %v does not name %s", name, err, path)
			}
		}
	}
}

// unit issues the certificate of a timestamp authority (RFC 3161 2.3), which expires after a time.
func unit(t *testing.T, issuer pair, expires time.Duration) tsp.Unit {
	t.Helper()
	usage := pkix.Extension{
		Id: asn1.ObjectIdentifier{2, 5, 29, 37}, Critical: true,
		Value: []byte{0x30, 0x0a, 0x06, 0x08, 0x2b, 6, 1, 5, 5, 7, 3, 8},
	}
	p := issue(t, issuer, x509.Certificate{
		Subject: pkix.Name{Country: []string{"IS"}, CommonName: "Test TSA"}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtraExtensions: []pkix.Extension{usage}, NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(expires),
	})
	return tsp.Unit{Certificate: p.cert, Chain: []*x509.Certificate{issuer.cert}, Key: p.key, Policy: ourPolicy}
}

// answering is a timestamp authority over HTTP (RFC 3161 3.4).
func answering(respond func(request []byte) []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		request, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/timestamp-query" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.Write(respond(request))
	}
}

// at is an authority whose clock differs by an offset.
func at(u tsp.Unit, offset time.Duration) http.HandlerFunc {
	return answering(func(request []byte) []byte { return u.Respond(request, time.Now().Add(offset)) })
}

// changing is an authority that responds to a changed request.
func changing(t *testing.T, u tsp.Unit, change func(*tsp.Request)) http.HandlerFunc {
	return answering(func(request []byte) []byte {
		r, err := tsp.ParseRequest(request)
		if err != nil {
			t.Error(err)
		}
		change(&r)
		der, err := r.Marshal()
		if err != nil {
			t.Error(err)
		}
		return u.Respond(der, time.Now())
	})
}

func requiringLogin(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if username, password, _ := r.BasicAuth(); username != "user" || password != "secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		next(w, r)
	}
}

func checkToken(t *testing.T, der []byte, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	token, err := tsp.ParseToken(der)
	if err != nil {
		t.Fatal(err)
	}
	if err := token.Verify(); err != nil || !slices.Equal(token.Sum, imprint[:]) {
		t.Errorf("token over %x: %v", token.Sum, err)
	}
}
