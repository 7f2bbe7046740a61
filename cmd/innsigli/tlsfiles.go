package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"sync/atomic"
	"time"
)

// tlsFlags are for a server that speaks TLS itself.
type tlsFlags struct {
	TLSCert string `name:"tls-cert" placeholder:"FILE" help:"Certificate to speak TLS with, and those above it, in PEM. Without it a proxy in front does, see [proxy]. It is read again when it was changed."`
	TLSKey  string `name:"tls-key" placeholder:"FILE" help:"Key of --tls-cert in PEM, readable by its owner and at most its group."`
}

// files are the pair of the flags; nil without them.
func (f tlsFlags) files(found *faults) *tlsFiles {
	if f.TLSCert == "" && f.TLSKey == "" {
		return nil
	}
	if f.TLSCert == "" {
		found.add("--tls-cert", "is missing, and --tls-key is there")
		return nil
	}
	if f.TLSKey == "" {
		found.add("--tls-key", "is missing, and --tls-cert is there")
		return nil
	}
	t := &tlsFiles{certificate: f.TLSCert, key: f.TLSKey}
	t.load(found)
	return t
}

// tlsFiles are a certificate with its key, which others renew while the server runs.
type tlsFiles struct {
	certificate, key string
	current          atomic.Pointer[tls.Certificate]
	fileWatch
}

// load reads the pair. One that has faults changes nothing.
func (t *tlsFiles) load(found *faults) {
	before, files := len(*found), configFiles{".", make(map[string]fileVersion)}
	certificate, err := files.pem(t.certificate)
	if err != nil {
		found.add("--tls-cert", "%v", err)
	}
	key, err := files.closed(files.pem)(t.key)
	if err != nil {
		found.add("--tls-key", "%v", err)
	}
	t.seen = files.versions
	if len(*found) > before {
		return
	}
	pair, err := tls.X509KeyPair([]byte(certificate), []byte(key))
	if err != nil {
		found.add("--tls-cert", "cannot be used with --tls-key: %v", err)
		return
	}
	t.current.Store(&pair)
}

// leaf is the server's own certificate.
func (t *tlsFiles) leaf() *x509.Certificate { return t.current.Load().Leaf }

// config is of TLS 1.2 and later, and HTTP/2 where clients have it.
func (t *tlsFiles) config() *tls.Config {
	if t == nil {
		return nil
	}
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"h2", "http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return t.current.Load(), nil },
	}
}

// watch reads the pair again when it was changed.
func (t *tlsFiles) watch(ctx context.Context, log *slog.Logger) error {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			if t.changed() {
				t.reload(log)
			}
		}
	}
}

func (t *tlsFiles) reload(log *slog.Logger) {
	var found faults
	t.load(&found)
	for _, fault := range found {
		log.Error("the TLS certificate is faulty; the one before stays in force", "fault", fault)
	}
	if len(found) == 0 {
		log.Info("the TLS certificate was taken", "expires", t.leaf().NotAfter)
	}
}
