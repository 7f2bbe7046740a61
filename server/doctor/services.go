package doctor

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

	"github.com/innsigli/innsigli/server/config"
	"github.com/innsigli/innsigli/stamp/pdfium"
)

// provider checks the identity provider, without an authentication request.
func (d doctor) provider(ctx context.Context, r *Results) {
	if d.conf.Provider == nil || d.conf.Flags.Simulated {
		return
	}
	if err := r.addProvider(ctx, *d.conf.Provider, false); err != nil {
		r.fault("identity-provider", oneLine(err), "")
	}
}

// login checks the provider of logins.
func (d doctor) login(ctx context.Context, r *Results) {
	switch {
	case d.conf.Flags.Simulated || !d.production():
	case d.conf.Logins == nil:
		r.doubt("login", "there is no [login]: participants cannot open their documents", "The Signing API does not need it.")
	default:
		if err := r.addLogin(ctx, *d.conf.Logins); err != nil {
			r.fault("login", oneLine(err), "")
		}
	}
}

// mail connects and logs in to the mail server.
func (d doctor) mail(ctx context.Context, r *Results) {
	known, err := d.conf.CheckMail(ctx)
	if !known {
		if d.production() && !d.conf.HasMail() {
			r.doubt("mail", "there is no --mail: no invitation and no alert is sent", "Clients have to send the links to the participants.")
		}
		return
	}
	if err != nil {
		r.fault("mail", oneLine(err), config.MailAdvice(err))
		return
	}
	r.ok("mail", `the mail server accepts the login; "innsigli mail test" sends a message`)
}

// baseURL calls the server at its base URL, as clients do.
func (d doctor) baseURL(ctx context.Context, r *Results) {
	const what = "base URL"
	dates := &datedTransport{next: http.DefaultTransport}
	client := &http.Client{Transport: dates, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.base()+"/readyz", nil)
	if err != nil {
		r.fault(what, oneLine(err), "")
		return
	}
	response, err := client.Do(request)
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &certificate):
		r.fault(what, oneLine(certificate), "Clients refuse this certificate: check its names and its expiry, and that its chain is sent with it.")
		return
	case errors.Is(err, syscall.ECONNREFUSED):
		r.doubt(what, "no server listens at "+d.base(), "Check whether the server, and the proxy in front of it, are running.")
		return
	case err != nil:
		r.fault(what, oneLine(unwrapURL(err)), "Check the address and the firewall. If other machines can call the URL, ignore this: in some networks a machine cannot call its own public address.")
		return
	}
	defer response.Body.Close()
	d.answered(response, r)
	d.clock(request.URL.Host, dates.skew(), r)
}

// unwrapURL returns an error without the URL, since the finding names it.
func unwrapURL(err error) error {
	if u := new(url.Error); errors.As(err, &u) {
		return u.Err
	}
	return err
}

func (d doctor) answered(response *http.Response, r *Results) {
	const what = "base URL"
	switch response.StatusCode {
	case http.StatusOK:
		r.ok(what, "a server answers at "+d.base()+", and is ready")
	case http.StatusServiceUnavailable:
		r.fault(what, "the server is not ready, or is stopping", "See its log.")
	default:
		r.fault(what, fmt.Sprintf("/readyz answers %d", response.StatusCode), "The proxy in front of the server must forward all paths unchanged.")
	}
	if response.TLS == nil {
		return
	}
	leaf := response.TLS.PeerCertificates[0]
	if lifetime(r, what, "its certificate", leaf, time.Now(), expiresSoon, "Renew it.") {
		r.ok(what, "its certificate is valid until "+leaf.NotAfter.UTC().Format(time.DateOnly))
	}
}

// certificate checks the certificate of --tls-cert.
func (d doctor) certificate(_ context.Context, r *Results) {
	const what = "TLS"
	leaf := d.conf.Certificate()
	if leaf == nil {
		return
	}
	valid := lifetime(r, what, d.conf.Flags.TLSCert, leaf, time.Now(), expiresSoon, "Renew it; the server loads the new one without a restart.")
	if u, err := url.Parse(d.conf.Flags.BaseURL); err == nil && leaf.VerifyHostname(u.Hostname()) != nil {
		r.fault(what, fmt.Sprintf("%s is for %s, and not for %s", d.conf.Flags.TLSCert, strings.Join(leaf.DNSNames, ", "), u.Hostname()), "Clients of --base-url refuse it: get a certificate for that name.")
		valid = false
	}
	if valid {
		r.ok(what, fmt.Sprintf("%s is valid until %s", d.conf.Flags.TLSCert, leaf.NotAfter.UTC().Format(time.DateOnly)))
	}
}

// proxy checks that the server does not listen without TLS on other addresses than loopback, and that it knows its proxy,
// without which all callers seem to have one address.
func (d doctor) proxy(_ context.Context, r *Results) {
	if d.conf.Exposed() {
		r.doubt("listen", "other machines can reach the server without TLS", "Listen on a loopback address, set --tls-cert and --tls-key, or name the proxy on the other machine in [proxy].")
	}
	if d.conf.UnknownProxy() {
		r.doubt("proxy", "TLS ends before this server, and there is no [proxy]", "The server does not know the addresses of callers: all share one rate limit, or have none if the proxy is on this machine. Name the proxy in trusted.")
	}
}

// traces checks that the collector of traces accepts spans. It sends none.
func (d doctor) traces(ctx context.Context, r *Results) {
	const what = "traces"
	endpoint, err := d.conf.CheckTraces(ctx)
	if endpoint == "" {
		return
	}
	if err != nil {
		r.fault(what, oneLine(err), "Check OTEL_EXPORTER_OTLP_ENDPOINT: the port for OTLP over HTTP is usually 4318.")
		return
	}
	r.ok(what, "the collector at "+host(endpoint)+" accepts traces")
}

// renderer checks the compiled page renderer, if there is one.
func (d doctor) renderer(ctx context.Context, r *Results) {
	const what = "renderer"
	folder := d.conf.Flags.Folder(d.conf.Store)
	if entries, err := os.ReadDir(folder); errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		r.ok(what, "is compiled at the first start, which takes some seconds")
		return
	}
	renderer := pdfium.New(pdfium.Options{Cache: folder})
	defer renderer.Close()
	if _, err := renderer.Warm(ctx); err != nil {
		r.fault(what, oneLine(err), "Without it stamps cannot be placed automatically. Check --renderer-cache.")
		return
	}
	if !renderer.IsCached() {
		r.doubt(what, folder+" is not a folder that only this user can write to", "The server compiles the renderer at each start, unless it runs as the owner of the folder. Check --renderer-cache.")
		return
	}
	r.ok(what, "is ready, from "+folder)
}

func (d doctor) production() bool { return d.conf.Flags.Environment == "production" }

// base returns the base URL without a slash at its end.
func (d doctor) base() string { return strings.TrimSuffix(d.conf.Flags.BaseURL, "/") }
