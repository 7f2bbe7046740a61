package main

import (
	"bytes"
	"crypto/x509"
	"fmt"
	"os"
	"slices"

	"github.com/innsigli/innsigli/ades/online"
)

// readCertificates reads the certificates of a file, at least one.
func readCertificates(path string) ([]*x509.Certificate, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	certificates, err := online.ParseBundle(content)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return certificates, nil
}

// readRoots reads the roots that --trust names; nil when it names no file.
func readRoots(path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil
	}
	certificates, err := readCertificates(path)
	return poolOf(certificates), err
}

func poolOf(certificates []*x509.Certificate) *x509.CertPool {
	pool := x509.NewCertPool()
	for _, c := range certificates {
		pool.AddCert(c)
	}
	return pool
}

// selfSigned are the certificates that name themselves as their issuer.
func selfSigned(certificates []*x509.Certificate) *x509.CertPool {
	return poolOf(slices.DeleteFunc(slices.Clone(certificates), func(c *x509.Certificate) bool {
		return !bytes.Equal(c.RawSubject, c.RawIssuer)
	}))
}
