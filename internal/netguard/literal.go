package netguard

import (
	"net/netip"
	"strconv"
	"strings"
)

// Literal says whether a host of a URL is an IP address and no name, in whatever spelling some
// resolver or browser takes for one: 2130706433, 0x7f.1 and 0177.0.0.1 are 127.0.0.1. An IPv6
// address is in brackets, which may also hold a zone. The rules are those of the URL Standard
// (WHATWG, "host parsing"): a host that ends in a number is an address or nothing at all. For
// nothing, and for a name, the address is the zero Addr.
//
// The host is in ASCII and not percent-encoded: the caller refuses others.
func Literal(host string) (address netip.Addr, literal bool) {
	if strings.ContainsAny(host, "[]:") {
		if inside, ok := strings.CutPrefix(host, "["); ok {
			host = strings.TrimSuffix(inside, "]")
		}
		address, _ = netip.ParseAddr(host)
		return address, true
	}
	parts := strings.Split(host, ".")
	if len(parts) > 1 && parts[len(parts)-1] == "" { // one dot at the end changes nothing
		parts = parts[:len(parts)-1]
	}
	if !numeric(parts[len(parts)-1]) {
		return netip.Addr{}, false
	}
	return ipv4(parts), true
}

// numeric says whether a host with this last part is an address ("ends in a number").
func numeric(part string) bool {
	_, ok := ipv4Number(part)
	return ok || part != "" && strings.Trim(part, "0123456789") == ""
}

// ipv4 is the address of up to four numbers, of which the last fills all bytes that the ones
// before it leave over ("IPv4 parser").
func ipv4(parts []string) netip.Addr {
	if len(parts) > 4 {
		return netip.Addr{}
	}
	var bytes [4]byte
	for i, part := range parts {
		n, ok := ipv4Number(part)
		rest := 1
		if i == len(parts)-1 {
			rest = 4 - i
		}
		if !ok || n>>(8*rest) != 0 {
			return netip.Addr{}
		}
		for j := range rest {
			bytes[i+j] = byte(n >> (8 * (rest - 1 - j)))
		}
	}
	return netip.AddrFrom4(bytes)
}

// ipv4Number reads a number in decimal, octal after 0, or hexadecimal after 0x, where 0x alone
// is zero ("IPv4 number parser"). What is greater than any address comes out as such.
func ipv4Number(part string) (n uint64, ok bool) {
	digits, base := strings.ToLower(part), 10
	switch {
	case strings.HasPrefix(digits, "0x"):
		digits, base = "0"+digits[2:], 16
	case len(digits) > 1 && digits[0] == '0':
		digits, base = digits[1:], 8
	}
	if digits == "" || strings.Trim(digits, "0123456789abcdef"[:base]) != "" {
		return 0, false
	}
	n, _ = strconv.ParseUint(digits, base, 64) // out of range: the greatest of 64 bits
	return n, true
}
