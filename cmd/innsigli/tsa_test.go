package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// countedServer is a timestamp authority that counts the requests it lets in.
type countedServer struct {
	*httptest.Server
	served atomic.Int32
}

func (s *countedServer) pass(to http.Handler, w http.ResponseWriter, r *http.Request) {
	s.served.Add(1)
	to.ServeHTTP(w, r)
}

// basicTSA asks for a password.
func basicTSA(t *testing.T, to http.Handler) *countedServer {
	t.Helper()
	s := new(countedServer)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if username, password, _ := r.BasicAuth(); username != "subscriber" || password != "a secret of mine" {
			http.Error(w, "who?", http.StatusUnauthorized)
			return
		}
		s.pass(to, w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// mutualTSA asks for the client certificate of root.pem's authority, and writes its own to
// tls.pem.
func mutualTSA(t *testing.T, to http.Handler, folder string) *countedServer {
	t.Helper()
	s := new(countedServer)
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := r.TLS.PeerCertificates[0].Verify(x509.VerifyOptions{
			Roots: pool(t, folder, "root.pem"), Intermediates: pool(t, folder, "chain.pem"), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
		}); err != nil {
			http.Error(w, "who?", http.StatusForbidden)
			return
		}
		s.pass(to, w, r)
	}))
	s.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	s.StartTLS()
	t.Cleanup(s.Close)
	own := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(filepath.Join(folder, "tls.pem"), own, 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

func pool(t *testing.T, folder, name string) *x509.CertPool {
	p := x509.NewCertPool()
	if !p.AppendCertsFromPEM(testenv.ReadFile(t, filepath.Join(folder, name))) {
		t.Errorf("no certificate in %s", name)
	}
	return p
}
