package online

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"syscall"
	"time"
)

// ErrAddress: the name leads to an address that is not a public one and was not
// allowed.
var ErrAddress = errors.New("online: address not allowed")

// NewClient returns a client for addresses out of certificates. It connects to
// public addresses and to those in the prefixes given, and looks at the address
// that is really dialled, after the name was resolved: a name that resolves
// differently the second time gets no further. Proxies of the environment are not
// used, because behind one the address is the proxy's to judge.
func NewClient(allowed ...netip.Prefix) *http.Client {
	g := guard{allowed}
	dialer := &net.Dialer{Timeout: 5 * time.Second, Control: g.control}
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

// guard says which addresses may be dialled.
type guard struct{ allowed []netip.Prefix }

// control is called with the address of each attempt, between socket and connect.
func (g guard) control(network, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || network != "tcp4" && network != "tcp6" {
		return fmt.Errorf("%w: %s %s", ErrAddress, network, address)
	}
	if !g.allows(at.Addr()) {
		return fmt.Errorf("%w: %s", ErrAddress, at.Addr())
	}
	return nil
}

func (g guard) allows(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	within := func(p netip.Prefix) bool { return p.Contains(a) }
	if slices.ContainsFunc(g.allowed, within) {
		return true
	}
	if a.Is6() && !globalUnicast.Contains(a) {
		return false
	}
	return a.IsValid() && !slices.ContainsFunc(special, within)
}

// globalUnicast is all that IANA has given out of IPv6 for use on the Internet
// (RFC 4291 2.4). Outside of it are loopback, link-local, unique local, multicast,
// NAT64 and segment routing.
var globalUnicast = netip.MustParsePrefix("2000::/3")

// special are the rest of the special-purpose registries (RFC 6890 and its
// successors). Tunnels are among them, since they lead to an IPv4 address.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),       // this network
	netip.MustParsePrefix("10.0.0.0/8"),      // private, RFC 1918
	netip.MustParsePrefix("100.64.0.0/10"),   // shared, RFC 6598
	netip.MustParsePrefix("127.0.0.0/8"),     // loopback
	netip.MustParsePrefix("169.254.0.0/16"),  // link-local, RFC 3927
	netip.MustParsePrefix("172.16.0.0/12"),   // private
	netip.MustParsePrefix("192.0.0.0/24"),    // protocol assignments
	netip.MustParsePrefix("192.0.2.0/24"),    // documentation, RFC 5737
	netip.MustParsePrefix("192.88.99.0/24"),  // 6to4 relays, RFC 7526
	netip.MustParsePrefix("192.168.0.0/16"),  // private
	netip.MustParsePrefix("198.18.0.0/15"),   // benchmarks, RFC 2544
	netip.MustParsePrefix("198.51.100.0/24"), // documentation
	netip.MustParsePrefix("203.0.113.0/24"),  // documentation
	netip.MustParsePrefix("224.0.0.0/4"),     // multicast
	netip.MustParsePrefix("240.0.0.0/4"),     // reserved, and broadcast
	netip.MustParsePrefix("2001::/23"),       // protocol assignments, Teredo
	netip.MustParsePrefix("2001:db8::/32"),   // documentation, RFC 3849
	netip.MustParsePrefix("2002::/16"),       // 6to4, RFC 3056
	netip.MustParsePrefix("3fff::/20"),       // documentation, RFC 9637
}
