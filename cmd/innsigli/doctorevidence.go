package main

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

// timestamps asks each authority for a token, which has to lead to the roots, and compares the clocks. One that does
// not answer takes no time from the others.
func (d doctor) timestamps() (checks []check) {
	for i, a := range d.conf.authorities {
		checks = append(checks, func(ctx context.Context, sheet *checkSheet) {
			d.timestamp(ctx, fmt.Sprintf("timestamp[%d]", i), *a.tsa, sheet)
		})
	}
	return checks
}

func (d doctor) timestamp(ctx context.Context, what string, tsa online.TSA, sheet *checkSheet) {
	if tsa.Roots == nil {
		tsa.Roots = poolOf(d.conf.roots)
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
		sheet.fault(what, plainly(err), "See url, username, password-file, certificate and roots of this [[timestamp]], and whether a firewall is in between.")
	} else {
		sheet.ok(what, fmt.Sprintf("%s gave a token in %v, which leads to the roots", host(tsa.URL), time.Since(began).Round(time.Millisecond)))
	}
	d.clock(host(tsa.URL), dates.skew(), sheet)
}

// A clock that is wrong by more has tokens and timestamps judged wrongly.
const (
	doubtfulSkew = 3 * time.Second
	faultySkew   = 30 * time.Second
)

// clock compares the clock of this machine with that of another.
func (d doctor) clock(of string, skew time.Duration, sheet *checkSheet) {
	says := fmt.Sprintf("that of %s is %v", of, ahead(skew.Round(time.Second)))
	switch size := skew.Abs(); {
	case size > faultySkew:
		sheet.fault("clock", says, "Keep the clock of this machine by NTP.")
	case size > doubtfulSkew:
		sheet.doubt("clock", says, "Keep the clock of this machine by NTP.")
	}
}

// datedTransport compares the dates of answers with the clock. They have no fractions of seconds, and an
// answer is made at any time while it is waited for: a difference that this explains is none.
type datedTransport struct {
	next  http.RoundTripper
	least *time.Duration
}

func (t *datedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	began := time.Now()
	response, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if date, err := http.ParseTime(response.Header.Get("Date")); err == nil {
		skew := skewOf(date, began, time.Now())
		t.least = &skew
	}
	return response, nil
}

func (t *datedTransport) skew() time.Duration {
	if t.least == nil {
		return 0
	}
	return *t.least
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

// host is the part of an address that is no secret.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "it"
	}
	return u.Host
}

const (
	soonOver  = 14 * 24 * time.Hour // of what is renewed by programs
	rootsOver = 90 * 24 * time.Hour // of what is renewed by people
)

// roots looks at how long the configured certificates last.
func (d doctor) roots(_ context.Context, sheet *checkSheet) {
	now, bad := time.Now(), 0
	for _, c := range slices.Concat(d.conf.roots, d.conf.intermediates) {
		if lifetime(sheet, "trust", c.Subject.String(), c, now, rootsOver, "Ask its authority for the next one.") {
			continue
		}
		bad++
	}
	if bad == 0 && len(d.conf.roots) > 0 {
		sheet.ok("trust", fmt.Sprintf("%s and %s, none about to expire", counted(len(d.conf.roots), "root"), counted(len(d.conf.intermediates), "intermediate")))
	}
}

// lifetime says whether a certificate is valid and stays so for a while, and enters it when not.
func lifetime(sheet *checkSheet, what, name string, c *x509.Certificate, now time.Time, soon time.Duration, advice string) bool {
	switch until := c.NotAfter.UTC().Format(time.DateOnly); {
	case now.Before(c.NotBefore):
		sheet.fault(what, fmt.Sprintf("%s is not valid before %s", name, c.NotBefore.UTC().Format(time.DateTime)), "See the clock of this machine.")
	case now.After(c.NotAfter):
		sheet.fault(what, fmt.Sprintf("%s has expired on %s", name, until), advice)
	case now.Add(soon).After(c.NotAfter):
		sheet.doubt(what, fmt.Sprintf("%s expires on %s", name, until), advice)
	default:
		return true
	}
	return false
}

// mostAsked bounds whom is asked about.
const mostAsked = 20

// standing asks whether the intermediates still stand, as is asked for each signature.
func (d doctor) standing() (checks []check) {
	revocation := &online.Revocation{Client: online.NewClient(d.conf.private...)}
	known := slices.Concat(d.conf.roots, d.conf.intermediates)
	for _, c := range d.conf.intermediates[:min(mostAsked, len(d.conf.intermediates))] {
		i := slices.IndexFunc(known, func(issuer *x509.Certificate) bool { return c.CheckSignatureFrom(issuer) == nil })
		if i < 0 || c.Equal(known[i]) {
			continue
		}
		checks = append(checks, func(ctx context.Context, sheet *checkSheet) { standingOf(ctx, revocation, c, known[i], sheet) })
	}
	if len(checks) == 0 && len(d.conf.roots) > 0 {
		checks = append(checks, func(_ context.Context, sheet *checkSheet) {
			sheet.doubt("revocation", "there is nobody to ask about: no intermediate is configured", "With trust.intermediates the way to their authority is tried here.")
		})
	}
	return checks
}

func standingOf(ctx context.Context, revocation *online.Revocation, c, issuer *x509.Certificate, sheet *checkSheet) {
	const what = "revocation"
	_, err := revocation.Revocation(ctx, c, issuer, time.Time{})
	switch {
	case errors.Is(err, ades.ErrRevoked):
		sheet.fault(what, ades.Identify(c)+" was revoked", "Ask its authority for the next one.")
	case err != nil:
		sheet.fault(what, plainly(err), "Signatures of people under it do not reach level Lt, and end with InternalError. See whether a firewall is in between.")
	default:
		sheet.ok(what, "the authority answers for "+ades.Identify(c))
	}
}
