package config

import (
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"sync/atomic"
)

// TLSFlags are the flags of a server that serves TLS itself.
type TLSFlags struct {
	TLSCert string `name:"tls-cert" placeholder:"FILE" help:"TLS certificate of the server and its chain, in PEM. Without it the server speaks HTTP, for a proxy with TLS in front of it: see [proxy]. The file is read again when it changes."`
	TLSKey  string `name:"tls-key" placeholder:"FILE" help:"Private key of --tls-cert in PEM, readable only by its owner and group."`
}

// files reads the certificate and key of the flags; it returns nil if they are not set.
func (f TLSFlags) files(found *Faults) *tlsFiles {
	switch {
	case f.TLSCert == "" && f.TLSKey == "":
		return nil
	case f.TLSCert == "":
		found.add("--tls-cert", "is missing, but --tls-key is set")
		return nil
	case f.TLSKey == "":
		found.add("--tls-key", "is missing, but --tls-cert is set")
		return nil
	}
	t := &tlsFiles{certificate: f.TLSCert, key: f.TLSKey}
	t.load(found)
	return t
}

// tlsFiles are the files of a certificate and its key, which may be renewed while the server runs.
type tlsFiles struct {
	certificate, key string
	current          atomic.Pointer[tls.Certificate]
	fileWatch
}

// load reads the certificate and the key. If they have faults, the previous certificate stays in use.
func (t *tlsFiles) load(found *Faults) {
	before, files := len(*found), configFiles{".", make(map[string]fileVersion)}
	certificate, err := files.pem(t.certificate)
	if err != nil {
		found.add("--tls-cert", "%v", err)
	}
	key, err := files.private(files.pem)(t.key)
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

// Certificate returns the certificate of --tls-cert; nil if it is not set.
func (c *Config) Certificate() *x509.Certificate {
	if c.tls == nil {
		return nil
	}
	return c.tls.current.Load().Leaf
}

// config returns the TLS configuration of the server, with TLS 1.2 or later and HTTP/2; nil without a certificate.
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

// reload reads the certificate and the key again, and logs the result.
func (t *tlsFiles) reload(log *slog.Logger) {
	var found Faults
	t.load(&found)
	for _, fault := range found {
		log.Error("TLS certificate reload failed: the previous certificate stays in use", "fault", fault)
	}
	if len(found) == 0 {
		log.Info("TLS certificate reloaded", "expires", t.current.Load().Leaf.NotAfter)
	}
}
