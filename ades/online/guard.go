package online

import (
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/innsigli/innsigli/internal/netguard"
)

// ErrAddress: the name leads to an address that is not a public one and was not
// allowed.
var ErrAddress = netguard.ErrAddress

// NewClient returns a client for addresses out of certificates. It connects to
// public addresses and to those in the prefixes given, and looks at the address
// that is really dialled, after the name was resolved: a name that resolves
// differently the second time gets no further. Proxies of the environment are not
// used, because behind one the address is the proxy's to judge.
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
