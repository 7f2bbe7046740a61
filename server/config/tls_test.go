package config

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"

	"github.com/innsigli/innsigli/server/internal/front"
)

// A server speaks TLS 1.2 and later, and HTTP/2, with the certificate that is there; one that is faulty
// is not taken.
func TestTLSCertificates(t *testing.T) {
	folder := t.TempDir()
	flags := TLSFlags{filepath.Join(folder, "tls.pem"), filepath.Join(folder, "tls.key")}
	first := catest.WriteTLS(t, folder, "127.0.0.1", time.Now().Add(time.Hour))
	var found Faults
	files := flags.files(&found)
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- front.Serve(ctx, listener, files.config(), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Proto) }), slog.New(slog.DiscardHandler))
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
	second := catest.WriteTLS(t, folder, "127.0.0.1", time.Now().Add(2*time.Hour))
	files.reload(slog.New(slog.NewTextHandler(&log, nil)))
	if _, err := get(second, 0); err != nil || !strings.Contains(log.String(), "TLS certificate reloaded") {
		t.Errorf("the next one: %v\n%s", err, &log)
	}
	other := t.TempDir()
	catest.WriteTLS(t, other, "localhost", time.Now().Add(time.Hour))
	for name, content := range map[string][]byte{"no PEM": []byte("?"), "of another key": testenv.ReadFile(t, filepath.Join(other, "tls.pem"))} {
		log.Reset()
		if err := os.WriteFile(flags.TLSCert, content, 0o600); err != nil {
			t.Fatal(err)
		}
		files.reload(slog.New(slog.NewTextHandler(&log, nil)))
		if _, err := get(second, 0); err != nil || !strings.Contains(log.String(), "TLS certificate reload failed: the previous certificate stays in use") {
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
	catest.WriteTLS(t, folder, "localhost", time.Now().Add(time.Hour))
	pem, key := filepath.Join(folder, "tls.pem"), filepath.Join(folder, "tls.key")
	open := filepath.Join(folder, "open.key")
	if err := os.WriteFile(open, testenv.ReadFile(t, key), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		flags TLSFlags
		want  string
	}{
		{TLSFlags{}, ""},
		{TLSFlags{pem, key}, ""},
		{TLSFlags{pem, ""}, "--tls-key: is missing"},
		{TLSFlags{"", key}, "--tls-cert: is missing"},
		{TLSFlags{pem, pem}, "--tls-key:"},
		{TLSFlags{key, key}, "--tls-cert: cannot be used with --tls-key"},
		{TLSFlags{pem, open}, "other users can read or change"},
		{TLSFlags{pem, filepath.Join(folder, "none")}, "--tls-key: open "},
	} {
		var found Faults
		test.flags.files(&found)
		if err := found.Err(); (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: %v, want %s", test.flags, err, test.want)
		}
	}
}
