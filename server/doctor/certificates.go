package doctor

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/ades/online"
)

// timestamps returns a check of each timestamp authority. It asks for a token, which must lead to the roots, and
// compares the clocks.
func (d doctor) timestamps() (checks []check) {
	for i, tsa := range d.conf.TSAs() {
		checks = append(checks, func(ctx context.Context, r *Results) {
			d.timestamp(ctx, fmt.Sprintf("timestamp[%d]", i), *tsa, r)
		})
	}
	return checks
}

func (d doctor) timestamp(ctx context.Context, what string, tsa online.TSA, r *Results) {
	if tsa.Roots == nil {
		tsa.Roots = x509.NewCertPool()
		for _, root := range d.conf.Roots {
			tsa.Roots.AddCert(root)
		}
	}
	dates := &datedTransport{next: http.DefaultTransport}
	client := http.Client{}
	if tsa.Client != nil {
		client = *tsa.Client
		if client.Transport != nil {
			dates.next = client.Transport
		}
	}
	client.Transport, tsa.Client = dates, &client
	sum := sha256.Sum256([]byte(rand.Text()))
	began := time.Now()
	if _, err := tsa.Timestamp(ctx, crypto.SHA256, sum[:]); err != nil {
		r.fault(what, oneLine(err), "Check url, username, password-file, certificate and roots of this [[timestamp]], and whether a firewall blocks the connection.")
	} else {
		r.ok(what, fmt.Sprintf("%s issued a token in %v, which leads to the roots", host(tsa.URL), time.Since(began).Round(time.Millisecond)))
	}
	d.clock(host(tsa.URL), dates.skew(), r)
}

// With a larger difference of clocks, tokens and timestamps may be refused.
const (
	doubtfulSkew = 3 * time.Second
	faultySkew   = 30 * time.Second
)

// clock adds a finding if the clock of this machine differs from that of a service.
func (d doctor) clock(of string, skew time.Duration, r *Results) {
	says := fmt.Sprintf("the clock of %s is %v", of, ahead(skew.Round(time.Second)))
	switch size := skew.Abs(); {
	case size > faultySkew:
		r.fault("clock", says, "Synchronize the clock of this machine with NTP.")
	case size > doubtfulSkew:
		r.doubt("clock", says, "Synchronize the clock of this machine with NTP.")
	}
}

// datedTransport compares the Date of each response with the clock. Dates have a precision of one second, and a response is
// created at any time during the request: a difference that this explains counts as 0.
type datedTransport struct {
	next http.RoundTripper
	last *time.Duration // difference of the last response; nil: there was none with a Date
}

func (t *datedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	began := time.Now()
	response, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if date, err := http.ParseTime(response.Header.Get("Date")); err == nil {
		skew := skewOf(date, began, time.Now())
		t.last = &skew
	}
	return response, nil
}

func (t *datedTransport) skew() time.Duration {
	if t.last == nil {
		return 0
	}
	return *t.last
}

func skewOf(date, began, ended time.Time) time.Duration {
	switch {
	case date.After(ended):
		return date.Sub(ended)
	case date.Add(time.Second).Before(began):
		return date.Add(time.Second).Sub(began)
	}
	return 0
}

// host returns the host and port of a URL, which have no secret.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "it"
	}
	return u.Host
}

const (
	expiresSoon      = 14 * 24 * time.Hour // for certificates that programs renew
	rootsExpiresSoon = 90 * 24 * time.Hour // for certificates that people renew
)

// roots checks the expiry of the configured certificates.
func (d doctor) roots(_ context.Context, r *Results) {
	now, expiring := time.Now(), 0
	for _, c := range slices.Concat(d.conf.Roots, d.conf.Intermediates) {
		if lifetime(r, "trust", c.Subject.String(), c, now, rootsExpiresSoon, "Get its successor from the authority that issued it.") {
			continue
		}
		expiring++
	}
	if expiring == 0 && len(d.conf.Roots) > 0 {
		r.ok("trust", fmt.Sprintf("%s and %s, none about to expire", counted(len(d.conf.Roots), "root"), counted(len(d.conf.Intermediates), "intermediate")))
	}
}

// lifetime reports whether a certificate is valid now and for the time soon, and adds a finding if not.
func lifetime(r *Results, what, name string, c *x509.Certificate, now time.Time, soon time.Duration, advice string) bool {
	switch until := c.NotAfter.UTC().Format(time.DateOnly); {
	case now.Before(c.NotBefore):
		r.fault(what, fmt.Sprintf("%s is not valid before %s", name, c.NotBefore.UTC().Format(time.DateTime)), "Check the clock of this machine.")
	case now.After(c.NotAfter):
		r.fault(what, fmt.Sprintf("%s has expired on %s", name, until), advice)
	case now.Add(soon).After(c.NotAfter):
		r.doubt(what, fmt.Sprintf("%s expires on %s", name, until), advice)
	default:
		return true
	}
	return false
}

// maxRevocations is the most certificates whose revocation status is checked.
const maxRevocations = 20

// revocations returns a check of the revocation status of each intermediate, with the same request as for a signature.
func (d doctor) revocations() (checks []check) {
	revocation := &online.Revocation{Client: online.NewClient(d.conf.PrivateAddresses...)}
	known := slices.Concat(d.conf.Roots, d.conf.Intermediates)
	for _, c := range d.conf.Intermediates[:min(maxRevocations, len(d.conf.Intermediates))] {
		i := slices.IndexFunc(known, func(issuer *x509.Certificate) bool { return c.CheckSignatureFrom(issuer) == nil })
		if i < 0 || c.Equal(known[i]) {
			continue
		}
		checks = append(checks, func(ctx context.Context, r *Results) { revocationOf(ctx, revocation, c, known[i], r) })
	}
	if len(checks) == 0 && len(d.conf.Roots) > 0 {
		checks = append(checks, func(_ context.Context, r *Results) {
			r.doubt("revocation", "not checked: no intermediate is configured", "Name the intermediates of the signers in trust.intermediates to have the connection to their authority checked.")
		})
	}
	return checks
}

func revocationOf(ctx context.Context, revocation *online.Revocation, c, issuer *x509.Certificate, r *Results) {
	const what = "revocation"
	_, err := revocation.Revocation(ctx, c, issuer, time.Time{})
	switch {
	case errors.Is(err, ades.ErrRevoked):
		r.fault(what, ades.Identify(c)+" was revoked", "Get its successor from the authority that issued it.")
	case err != nil:
		r.fault(what, oneLine(err), "Signatures with certificates of this authority fail with InternalError, since level Lt needs their revocation status. Check whether a firewall blocks the connection.")
	default:
		r.ok(what, "the authority confirms the status of "+ades.Identify(c))
	}
}
