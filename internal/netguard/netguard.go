// Package netguard limits outgoing connections, whose targets come from API clients and from
// certificates, to addresses of the public Internet.
//
// A [Guard] checks the address of each connection attempt after the host name was resolved, so that a
// name that resolves to another address the second time (DNS rebinding) cannot get around the check.
//
//	dialer := net.Dialer{Control: netguard.Guard{}.Control}
//
// [Literal] recognizes hosts of URLs that are IP addresses in any spelling, so that the server can
// refuse an address that it will never dial when it is configured.
package netguard

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"syscall"
)

// ErrAddress is returned for an address that is neither public nor in Guard.Allowed.
var ErrAddress = errors.New("address not allowed")

// Guard decides which addresses may be dialled. The zero Guard allows only public addresses.
type Guard struct {
	// Allowed lists further prefixes that may be dialled, such as those of [Private].
	Allowed []netip.Prefix
}

// Control is a function for the Control field of [net.Dialer], which calls it with the address of each
// attempt before it connects. Control returns [ErrAddress] for an address that is not allowed, for a
// network other than TCP, and for an address that it cannot parse.
func (g Guard) Control(network, address string, _ syscall.RawConn) error {
	addrPort, err := netip.ParseAddrPort(address)
	if err != nil || network != "tcp4" && network != "tcp6" {
		return fmt.Errorf("%w: %s %s", ErrAddress, network, address)
	}
	if !g.Allows(addrPort.Addr()) {
		return fmt.Errorf("%w: %s", ErrAddress, addrPort.Addr())
	}
	return nil
}

// Allows reports whether an address may be dialled.
func (g Guard) Allows(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	switch {
	case !a.IsValid() || contains(metadata, a):
		return false
	case contains(g.Allowed, a):
		return true
	case a.Is6() && !globalUnicast.Contains(a):
		return false
	}
	return !contains(special, a)
}

func contains(list []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(a) })
}

// Private returns the prefixes of the local machine and of private networks (RFC 1122 3.2.1.3, RFC 1918,
// RFC 4291 2.5.3 and RFC 4193). It does not return link-local prefixes.
func Private() []netip.Prefix {
	return prefixes("127.0.0.0/8 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 ::1/128 fc00::/7")
}

// The lists follow IANA's registries of special-purpose addresses (RFC 6890 and its successors), as those of
// code.dny.dev/ssrf do. These lists differ from the ones there in three points: they refuse documentation in
// 3fff::/20, they refuse metadata services of clouds on addresses that look public or private, and Guard
// treats an IPv4-mapped IPv6 address as the IPv4 address.
//
// Every prefix that translates or tunnels IPv4 is refused as a whole: NAT64 (64:ff9b::/96 and
// 64:ff9b:1::/48, RFC 6052 and RFC 8215), 6to4 and Teredo. An operator whose network has no other way to IPv4
// configures a proxy.

// globalUnicast is the IPv6 space that IANA has allocated for use on the Internet (RFC 4291 2.4).
// Outside it are loopback, link-local, unique local, multicast, discard-only (100::/64), NAT64 and segment
// routing (5f00::/16).
var globalUnicast = netip.MustParsePrefix("2000::/3")

// special lists the other prefixes of the registries.
var special = prefixes(
	"0.0.0.0/8",       // this network, RFC 791 3.2
	"10.0.0.0/8",      // private, RFC 1918
	"100.64.0.0/10",   // shared, RFC 6598
	"127.0.0.0/8",     // loopback, RFC 1122 3.2.1.3
	"169.254.0.0/16",  // link-local, RFC 3927
	"172.16.0.0/12",   // private
	"192.0.0.0/24",    // protocol assignments, RFC 6890 2.1
	"192.0.2.0/24",    // documentation, RFC 5737
	"192.31.196.0/24", // AS112, RFC 7535
	"192.52.193.0/24", // multicast tunnels, RFC 7450
	"192.88.99.0/24",  // 6to4 relays, RFC 7526
	"192.168.0.0/16",  // private
	"192.175.48.0/24", // AS112, RFC 7534
	"198.18.0.0/15",   // benchmarks, RFC 2544
	"198.51.100.0/24", // documentation
	"203.0.113.0/24",  // documentation
	"224.0.0.0/4",     // multicast, RFC 1112
	"240.0.0.0/4",     // reserved, and broadcast

	"2001::/23",         // protocol assignments, RFC 2928: Teredo, benchmarks, ORCHID
	"2001:db8::/32",     // documentation, RFC 3849
	"2002::/16",         // 6to4, RFC 3056
	"2620:4f:8000::/48", // AS112, RFC 7534
	"3fff::/20",         // documentation, RFC 9637
)

// metadata lists the addresses of services from which machines in a cloud get their credentials. They are
// refused even when Guard.Allowed contains them. Those on link-local and shared addresses are in special.
var metadata = prefixes(
	"168.63.129.16/32",  // Azure; the address is a public one
	"fd00:ec2::254/128", // Amazon
	"fd20:ce::254/128",  // Google
)

// prefixes parses prefixes that are separated by spaces or given one by one.
func prefixes(list ...string) (parsed []netip.Prefix) {
	for _, text := range strings.Fields(strings.Join(list, " ")) {
		parsed = append(parsed, netip.MustParsePrefix(text))
	}
	return parsed
}
