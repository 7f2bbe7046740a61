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

// maxAddresses bounds the addresses of one kind that are used from one certificate.
const maxAddresses = 4

// Issuers fetches the certificates that certificates name as their issuers' (caIssuers, RFC 5280
// 4.2.2.1), singly or in a bundle. The zero value is ready to use.
type Issuers struct {
	Client *http.Client // nil: one from [NewClient], for public addresses only

	guarded guarded
}

// Issuers implements [ades.Issuers]. It returns what the first address that answers sends. The
// error is [ades.ErrUnavailable] when a later attempt may succeed.
func (i *Issuers) Issuers(ctx context.Context, cert *x509.Certificate) ([]*x509.Certificate, error) {
	var errs []error
	for _, address := range httpAddresses(cert.IssuingCertificateURL) {
		found, err := i.fetch(ctx, address)
		if err == nil {
			return found, nil
		}
		errs = append(errs, sourceError(ades.IssuerCertificate, address, err))
	}
	if len(errs) > 0 {
		return nil, fmt.Errorf("online: issuer of %s: %w", ades.Identify(cert), errors.Join(errs...))
	}
	return nil, nil
}

func (i *Issuers) fetch(ctx context.Context, address string) ([]*x509.Certificate, error) {
	body, err := exchange{
		url:     address,
		accept:  "application/pkix-cert, application/pkcs7-mime, */*;q=0.5",
		limit:   smallLimit,
		timeout: shortTimeout,
	}.do(ctx, i.guarded.client(i.Client))
	if err != nil {
		return nil, err
	}
	return parseCertificates(body)
}

// httpAddresses returns the first maxAddresses addresses with the scheme http or https. It leaves
// out others, such as ldap.
func httpAddresses(all []string) []string {
	var out []string
	for _, address := range all {
		if u, err := url.Parse(address); err == nil && overHTTP(u) && len(out) < maxAddresses {
			out = append(out, address)
		}
	}
	return out
}

// maxCertificates bounds the certificates that are returned from one response.
const maxCertificates = 64

var errNoCertificate = errors.New("online: no certificate found")

// ParseBundle reads certificates in the forms in which authorities publish them. In DER these are a
// single certificate or a certs-only CMS (RFC 5280 4.2.2.1, RFC 8551 3.8), often called .p7b or
// .p7c. In PEM they are any number of both; other blocks and text are skipped (RFC 7468 2, 5 and
// 8).
//
// In a CMS, ParseBundle skips certificates that crypto/x509 cannot parse, because bundles contain
// old ones. Any other content that cannot be parsed is an error, and so is content without a
// certificate; the certificates found are returned with the error. Work and memory are proportional
// to the length of the content, which the caller has to bound.
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

// parseCertificates is [ParseBundle] for responses of unknown servers. It ignores parts that cannot
// be parsed if it finds any certificate, and returns at most maxCertificates.
func parseCertificates(body []byte) ([]*x509.Certificate, error) {
	found, err := ParseBundle(body)
	if len(found) == 0 {
		return nil, err
	}
	return found[:min(len(found), maxCertificates)], nil
}
