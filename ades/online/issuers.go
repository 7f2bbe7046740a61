package online

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/innsigli/innsigli/ades"
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
