package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// writeTLS writes tls.pem and tls.key of a host, a name or an IPv4 address, until a time, to a folder.
func writeTLS(t *testing.T, folder, host string, until time.Time) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: host}, DNSNames: []string{host}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: until,
	}
	if address := net.ParseIP(host); address != nil {
		template.DNSNames, template.IPAddresses = nil, []net.IP{address}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"tls.pem": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), "tls.key": pemKey(t, key)} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certificate
}

// A server speaks TLS 1.2 and later, and HTTP/2, with the certificate that is there; one that is faulty
// is not taken.
func TestTLSCertificates(t *testing.T) {
	folder := t.TempDir()
	flags := tlsFlags{filepath.Join(folder, "tls.pem"), filepath.Join(folder, "tls.key")}
	first := writeTLS(t, folder, "127.0.0.1", time.Now().Add(time.Hour))
	var found faults
	files := flags.files(&found)
	if err := found.err(); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- serveHTTP(ctx, listener, files.config(), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Proto) }), slog.New(slog.DiscardHandler))
	}()
	get := func(root *x509.Certificate, most uint16) (string, error) {
		client := &http.Client{Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: poolOf([]*x509.Certificate{root}), MinVersion: tls.VersionTLS10, MaxVersion: most}, ForceAttemptHTTP2: true,
		}}
		defer client.CloseIdleConnections()
		response, err := client.Get("https://" + listener.Addr().String())
		if err != nil {
			return "", err
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		return string(text), err
	}
	for version, want := range map[uint16]string{tls.VersionTLS13: "HTTP/2.0", tls.VersionTLS12: "HTTP/2.0", tls.VersionTLS11: ""} {
		if got, err := get(first, version); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", tls.VersionName(version), got, err)
		}
	}

	var log bytes.Buffer
	second := writeTLS(t, folder, "127.0.0.1", time.Now().Add(2*time.Hour))
	files.reload(slog.New(slog.NewTextHandler(&log, nil)))
	if _, err := get(second, 0); err != nil || !strings.Contains(log.String(), "the TLS certificate was taken") {
		t.Errorf("the next one: %v\n%s", err, &log)
	}
	other := t.TempDir()
	writeTLS(t, other, "localhost", time.Now().Add(time.Hour))
	for name, content := range map[string][]byte{"no PEM": []byte("?"), "of another key": mustRead(t, filepath.Join(other, "tls.pem"))} {
		log.Reset()
		if err := os.WriteFile(flags.TLSCert, content, 0o600); err != nil {
			t.Fatal(err)
		}
		files.reload(slog.New(slog.NewTextHandler(&log, nil)))
		if _, err := get(second, 0); err != nil || !strings.Contains(log.String(), "the TLS certificate is faulty; the one before stays in force") {
			t.Errorf("%s: %v\n%s", name, err, &log)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestTLSFaults(t *testing.T) {
	folder := t.TempDir()
	writeTLS(t, folder, "localhost", time.Now().Add(time.Hour))
	pem, key := filepath.Join(folder, "tls.pem"), filepath.Join(folder, "tls.key")
	open := filepath.Join(folder, "open.key")
	if err := os.WriteFile(open, mustRead(t, key), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		flags tlsFlags
		want  string
	}{
		{tlsFlags{}, ""},
		{tlsFlags{pem, key}, ""},
		{tlsFlags{pem, ""}, "--tls-key: is missing"},
		{tlsFlags{"", key}, "--tls-cert: is missing"},
		{tlsFlags{pem, pem}, "--tls-key:"},
		{tlsFlags{key, key}, "--tls-cert: cannot be used with --tls-key"},
		{tlsFlags{pem, open}, "is open to others"},
		{tlsFlags{pem, filepath.Join(folder, "none")}, "--tls-key: open "},
	} {
		var found faults
		test.flags.files(&found)
		if err := found.err(); (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: %v, want %s", test.flags, err, test.want)
		}
	}
}
