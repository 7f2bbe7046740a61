package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/innsigli/innsigli/internal/mail"
)

// provider asks the identity provider, without a request for anybody.
func (d doctor) provider(ctx context.Context, sheet *checkSheet) {
	if d.conf.provider == nil || d.flags.Simulated {
		return
	}
	if err := (idpCheck{WithoutRequest: true}).askProvider(ctx, *d.conf.provider, sheet); err != nil {
		sheet.fault("identity-provider", plainly(err), "")
	}
}

// login asks who says who people are.
func (d doctor) login(ctx context.Context, sheet *checkSheet) {
	switch {
	case d.flags.Simulated || !d.flags.production():
	case d.conf.login == nil:
		sheet.doubt("login", "there is no [login]: nobody can open what they are invited to sign", "Whoever uses the Signing API alone needs none.")
	default:
		if err := sheet.addLogin(ctx, *d.conf.login); err != nil {
			sheet.fault("login", plainly(err), "")
		}
	}
}

// mail goes as far as a login to the mail server.
func (d doctor) mail(ctx context.Context, sheet *checkSheet) {
	out, ok := d.conf.transport.(mail.Checker)
	if !ok {
		if d.flags.production() && d.conf.transport == nil {
			sheet.doubt("mail", "there is no --mail: nobody is invited, and nobody told of trouble", "Clients have to hand over the links themselves.")
		}
		return
	}
	if err := out.Check(ctx); err != nil {
		advice := ""
		if f := new(mail.Failure); errors.As(err, &f) {
			advice = mailAdvices[f.Step]
		}
		sheet.fault("mail", plainly(err), advice)
		return
	}
	sheet.ok("mail", `can be sent, as far as is known without sending any; "innsigli mail test" does`)
}

// baseURL calls the server where clients do.
func (d doctor) baseURL(ctx context.Context, sheet *checkSheet) {
	const what = "base URL"
	dates := &datedTransport{next: http.DefaultTransport}
	client := &http.Client{Transport: dates, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.flags.base()+"/readyz", nil)
	if err != nil {
		sheet.fault(what, plainly(err), "")
		return
	}
	response, err := client.Do(r)
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &certificate):
		sheet.fault(what, plainly(certificate), "Clients refuse this certificate: see the names in it, its end, and that the ones above it are sent along.")
		return
	case errors.Is(err, syscall.ECONNREFUSED):
		sheet.doubt(what, "nobody listens at "+d.flags.base(), "Is the server, or the proxy in front of it, running?")
		return
	case err != nil:
		sheet.fault(what, plainly(unwrapURL(err)), "Clients do not come through. This machine may also be the only one that cannot call its own address.")
		return
	}
	defer response.Body.Close()
	d.answered(response, sheet)
	d.clock(r.URL.Host, dates.skew(), sheet)
}

// unwrapURL is an error without the address, which the sheet has.
func unwrapURL(err error) error {
	if u := new(url.Error); errors.As(err, &u) {
		return u.Err
	}
	return err
}

func (d doctor) answered(response *http.Response, sheet *checkSheet) {
	const what = "base URL"
	switch response.StatusCode {
	case http.StatusOK:
		sheet.ok(what, "a server answers at "+d.flags.base()+", and is ready")
	case http.StatusServiceUnavailable:
		sheet.fault(what, "the server is not ready, or stopping", "Its log says why.")
	default:
		sheet.fault(what, fmt.Sprintf("/readyz is answered %d", response.StatusCode), "The proxy in front has to pass all paths on as they are.")
	}
	if response.TLS == nil {
		return
	}
	leaf := response.TLS.PeerCertificates[0]
	if lifetime(sheet, what, "its certificate", leaf, time.Now(), soonOver, "Renew it.") {
		sheet.ok(what, "its certificate is valid until "+leaf.NotAfter.UTC().Format(time.DateOnly))
	}
}

// certificate looks at that of --tls-cert.
func (d doctor) certificate(_ context.Context, sheet *checkSheet) {
	const what = "TLS"
	if d.conf.tls == nil {
		return
	}
	leaf := d.conf.tls.leaf()
	whole := lifetime(sheet, what, d.flags.TLSCert, leaf, time.Now(), soonOver, "Renew it; the server takes the new one without a restart.")
	if u, err := url.Parse(d.flags.BaseURL); err == nil && leaf.VerifyHostname(u.Hostname()) != nil {
		sheet.fault(what, fmt.Sprintf("%s is for %s, and not for %s", d.flags.TLSCert, strings.Join(leaf.DNSNames, ", "), u.Hostname()), "Clients at --base-url refuse it.")
		whole = false
	}
	if whole {
		sheet.ok(what, fmt.Sprintf("%s is valid until %s", d.flags.TLSCert, leaf.NotAfter.UTC().Format(time.DateOnly)))
	}
}

// proxy: a server that does not know its proxy cannot tell callers apart.
func (d doctor) proxy(_ context.Context, sheet *checkSheet) {
	if d.flags.inTheClear(d.conf) {
		sheet.doubt("listen", "others than this machine can speak to the server without TLS", "Have it listen at a loopback address, give --tls-cert and --tls-key, or name the proxy that calls from elsewhere in [proxy].")
	}
	if d.flags.unknownProxy(d.conf) {
		sheet.doubt("proxy", "TLS ends before this server, and there is no [proxy]", "Callers cannot be told apart: limits by address are for all of them together, or none if the proxy is on this machine. Name it in trusted.")
	}
}

// traces sends the collector nothing.
func (d doctor) traces(ctx context.Context, sheet *checkSheet) {
	const what = "traces"
	s := d.conf.traces
	if s.endpoint == "" {
		return
	}
	if _, err := s.client().post(ctx, nil); err != nil {
		sheet.fault(what, plainly(err), "See OTEL_EXPORTER_OTLP_ENDPOINT: the port for OTLP over HTTP is usually 4318.")
		return
	}
	sheet.ok(what, "the collector at "+host(s.endpoint)+" takes them")
}

// renderer looks whether it was compiled, and if so whether it works.
func (d doctor) renderer(ctx context.Context, sheet *checkSheet) {
	const what = "renderer"
	place, err := parseStore(d.flags.Store)
	if err != nil {
		return
	}
	folder := d.flags.cacheBeside(place)
	if entries, err := os.ReadDir(folder); errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		sheet.ok(what, "is compiled at the first start, which takes a while")
		return
	}
	r := newRenderer(folder)
	defer r.Close()
	if _, err := r.Warm(ctx); err != nil {
		sheet.fault(what, plainly(err), "Without it no free places for stamps are found. See --renderer-cache.")
		return
	}
	if !r.Kept() {
		sheet.doubt(what, folder+" is no folder that this user, and nobody else, can write to", "The server compiles the renderer at each start, unless it runs as another user, whose folder this is. See --renderer-cache.")
		return
	}
	sheet.ok(what, "is ready, from "+folder)
}
