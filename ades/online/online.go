// Package online gets timestamps, revocation data and missing certificates over HTTP. It implements
// the interfaces that [ades.Sources] consists of:
//
//	sources := ades.Sources{
//		Time: online.InOrder{
//			&online.TSA{URL: "https://tsa.example/"},
//			&online.TSA{URL: "https://other.example/", Username: "user", Password: password},
//		},
//		Revocation: &online.Revocation{},
//		Issuers:    &online.Issuers{},
//		Roots:      roots,
//	}
//
// It follows RFC 3161 and RFC 5816 (timestamps), RFC 6960, RFC 5019 and RFC 9654 (OCSP), and RFC
// 5280 (CRLs and the addresses in certificates).
//
// The operator configures the addresses of timestamp authorities. They are called with
// [net/http.DefaultClient] unless another client is given. All other addresses come from
// certificates, and those of issuers also from certificates that are not verified yet. They are
// called with [NewClient], which connects to public addresses only. Before it asks about
// revocation, the caller makes sure that the certificate leads to a trusted root. Every response is
// bounded in size and time, and every response is verified before it is returned, except the
// certificates that [Issuers] finds.
//
// Requests are not repeated, with one exception: if a responder does not accept GET, the OCSP
// request is sent again by POST. An error that is [ades.ErrUnavailable] may be temporary.
package online

import (
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/netguard"
)

var (
	_ ades.Timestamper = (*TSA)(nil)
	_ ades.Timestamper = InOrder(nil)
	_ ades.Revocation  = (*Revocation)(nil)
	_ ades.Issuers     = (*Issuers)(nil)
)

// ErrAddress: the host name resolves to an address that is neither public nor allowed.
var ErrAddress = netguard.ErrAddress

// NewClient returns a client for addresses from certificates. It connects to public addresses and
// to the allowed prefixes only. It checks the address that is dialled, after the name was resolved,
// so a name that resolves to another address the second time is checked again. It ignores the
// proxies of the environment, because behind a proxy the client cannot check the address.
func NewClient(allowed ...netip.Prefix) *http.Client {
	guard := netguard.Guard{Allowed: allowed}
	dialer := &net.Dialer{Timeout: 5 * time.Second, Control: guard.Control}
	return &http.Client{Transport: &http.Transport{
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    5 * time.Second,
		ResponseHeaderTimeout:  30 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		MaxIdleConns:           32,
		MaxConnsPerHost:        16,
		IdleConnTimeout:        time.Minute,
		ForceAttemptHTTP2:      true,
	}}
}

// guarded makes the HTTP client for addresses from certificates once, unless the caller gave one.
type guarded struct {
	once sync.Once
	own  *http.Client
}

func (g *guarded) client(given *http.Client) *http.Client {
	if given != nil {
		return given
	}
	g.once.Do(func() { g.own = NewClient() })
	return g.own
}
