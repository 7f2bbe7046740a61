package online

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/cms"
)

// maxAddresses is how many addresses of one kind are followed of a certificate.
const maxAddresses = 4

// Issuers fetches the certificates that others name as their issuer's
// (caIssuers, RFC 5280 4.2.2.1): a single one or a bundle. The zero value is ready.
type Issuers struct {
	Client *http.Client // nil: one of [NewClient], public addresses only

	guarded guarded
}

// Issuers implements [ades.Issuers]. Its error is [ades.ErrUnavailable] where asking
// again may help; one address that answers is enough.
func (i *Issuers) Issuers(ctx context.Context, cert *x509.Certificate) ([]*x509.Certificate, error) {
	var failures []error
	for _, address := range firstAddresses(cert.IssuingCertificateURL) {
		found, err := i.fetch(ctx, address)
		if err == nil {
			return found, nil
		}
		failures = append(failures, fmt.Errorf("%s: %w", redacted(address), err))
	}
	if len(failures) > 0 {
		return nil, fmt.Errorf("online: issuer of %s: %w", ades.Identify(cert), errors.Join(failures...))
	}
	return nil, nil
}

func (i *Issuers) fetch(ctx context.Context, address string) ([]*x509.Certificate, error) {
	body, err := exchange{
		url:     address,
		accepts: "application/pkix-cert, application/pkcs7-mime, */*;q=0.5",
		limit:   smallAnswer,
		timeout: smallTimeout,
	}.do(ctx, i.guarded.client(i.Client))
	if err != nil {
		return nil, err
	}
	return parseCertificates(body)
}

// firstAddresses leaves out what is not fetched over HTTP, such as ldap, and all after
// the first few.
func firstAddresses(all []string) []string {
	var out []string
	for _, address := range all {
		if u, err := url.Parse(address); err == nil && overHTTP(u) && len(out) < maxAddresses {
			out = append(out, address)
		}
	}
	return out
}

// maxCertificates is how many certificates of an answer are returned.
const maxCertificates = 64

var errNoCertificate = errors.New("online: no certificate found")

// ParseBundle reads certificates as authorities publish them: in DER one alone or a
// certs-only CMS (RFC 5280 4.2.2.1, RFC 8551 3.8), often called .p7b or .p7c, or any of
// these in PEM, where other blocks and text are passed over (RFC 7468 2, 5 and 8).
//
// Of a CMS it leaves out what crypto/x509 cannot parse: bundles have certificates of all
// times. Anything else that cannot be parsed is an error, as is content without a
// certificate; the certificates that were found come with it. Work and memory are in
// proportion to the content, whose length is for the caller to limit.
func ParseBundle(content []byte) (certificates []*x509.Certificate, err error) {
	if bytes.Contains(content, []byte("-----BEGIN ")) {
		certificates, err = parsePEM(content)
	} else {
		certificates, err = parseDER(content)
	}
	if err == nil && len(certificates) == 0 {
		err = errNoCertificate
	}
	return certificates, err
}

func parsePEM(rest []byte) (certificates []*x509.Certificate, fault error) {
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return certificates, fault
		}
		switch block.Type {
		case "CERTIFICATE", "PKCS7", "CMS":
			found, err := parseDER(block.Bytes)
			certificates = append(certificates, found...)
			if fault == nil {
				fault = err
			}
		}
	}
}

func parseDER(der []byte) ([]*x509.Certificate, error) {
	c, err := x509.ParseCertificate(der)
	if err == nil {
		return []*x509.Certificate{c}, nil
	}
	if found, err := cms.Certificates(der); err == nil {
		return found, nil
	}
	return nil, err
}

// parseCertificates is [ParseBundle] for what strangers publish: some certificates are
// enough where others are broken, and the first are where there are many.
func parseCertificates(body []byte) ([]*x509.Certificate, error) {
	found, err := ParseBundle(body)
	if len(found) == 0 {
		return nil, err
	}
	return found[:min(len(found), maxCertificates)], nil
}
