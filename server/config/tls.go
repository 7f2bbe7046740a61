package config

import (
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"sync/atomic"
)

// TLSFlags are for a server that speaks TLS itself.
type TLSFlags struct {
	TLSCert string `name:"tls-cert" placeholder:"FILE" help:"Certificate to speak TLS with, and those above it, in PEM. Without it a proxy in front does, see [proxy]. It is read again when it was changed."`
	TLSKey  string `name:"tls-key" placeholder:"FILE" help:"Key of --tls-cert in PEM, readable by its owner and at most its group."`
}

// files are the pair of the flags; nil without them.
func (f TLSFlags) files(found *Faults) *tlsFiles {
	switch {
	case f.TLSCert == "" && f.TLSKey == "":
		return nil
	case f.TLSCert == "":
		found.add("--tls-cert", "is missing, and --tls-key is there")
		return nil
	case f.TLSKey == "":
		found.add("--tls-key", "is missing, and --tls-cert is there")
		return nil
	}
	t := &tlsFiles{certificate: f.TLSCert, key: f.TLSKey}
	t.load(found)
	return t
}

// tlsFiles are a certificate with its key, which are renewed while the server runs.
type tlsFiles struct {
	certificate, key string
	current          atomic.Pointer[tls.Certificate]
	fileWatch
}

// load reads the pair. One that has faults changes nothing.
func (t *tlsFiles) load(found *Faults) {
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

// Certificate returns that of --tls-cert; nil without it.
func (c *Config) Certificate() *x509.Certificate {
	if c.tls == nil {
		return nil
	}
	return c.tls.current.Load().Leaf
}

// config is of TLS 1.2 and later, and HTTP/2 where clients have it; nil without files.
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

// reload reads the pair again.
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
