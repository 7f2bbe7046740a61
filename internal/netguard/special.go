package netguard

import (
	"net/netip"
	"strings"
)

// The lists follow IANA's registries of special-purpose addresses (RFC 6890 and its successors),
// as those of code.dny.dev/ssrf do. Where they differ, ours refuse more: documentation in
// 3fff::/20, and services of clouds that answer on addresses that look public or private. Also,
// ours judge an IPv4 address that is mapped into IPv6 as what it is, public ones included.
//
// Each prefix that translates or tunnels IPv4 is refused as a whole, whatever it leads to: NAT64
// (64:ff9b::/96 and 64:ff9b:1::/48, RFC 6052 and RFC 8215), 6to4 and Teredo. An operator whose
// network has no other way to IPv4 sends requests through a proxy.

// globalUnicast is all that IANA has given out of IPv6 for use on the Internet (RFC 4291 2.4).
// Outside of it are loopback, link-local, unique local, multicast, discard-only (100::/64), NAT64
// and segment routing (5f00::/16).
var globalUnicast = netip.MustParsePrefix("2000::/3")

// special are the rest of the registries.
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

// metadata are services by which a cloud hands out a machine's credentials. They are refused also
// where the network around them is allowed. Those on link-local and shared addresses need no
// mention.
var metadata = prefixes(
	"168.63.129.16/32",  // Azure; the address is a public one
	"fd00:ec2::254/128", // Amazon
	"fd20:ce::254/128",  // Google
)

func prefixes(list ...string) (parsed []netip.Prefix) {
	for _, text := range strings.Fields(strings.Join(list, " ")) {
		parsed = append(parsed, netip.MustParsePrefix(text))
	}
	return parsed
}
