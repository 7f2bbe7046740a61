package netguard

import (
	"net/netip"
	"strconv"
	"strings"
)

// Literal reports whether a host of a URL is an IP address instead of a name, in any spelling that
// resolvers and browsers accept: 2130706433, 0x7f.1 and 0177.0.0.1 are 127.0.0.1. An IPv6 address is in
// brackets and may have a zone. Literal follows the URL Standard (WHATWG, "host parsing"), by which a host
// that ends in a number is either an address or invalid. The address is the zero Addr for a name and for an
// invalid host.
//
// The caller must pass a host in ASCII that is not percent-encoded.
func Literal(host string) (address netip.Addr, literal bool) {
	if strings.ContainsAny(host, "[]:") {
		if bracketed, ok := strings.CutPrefix(host, "["); ok {
			host = strings.TrimSuffix(bracketed, "]")
		}
		address, _ = netip.ParseAddr(host)
		return address, true
	}
	parts := strings.Split(host, ".")
	if len(parts) > 1 && parts[len(parts)-1] == "" { // a trailing dot is ignored
		parts = parts[:len(parts)-1]
	}
	if !isNumeric(parts[len(parts)-1]) {
		return netip.Addr{}, false
	}
	return parseIPv4(parts), true
}

// isNumeric reports whether a host with this last part is an address ("ends in a number").
func isNumeric(part string) bool {
	_, ok := parseIPv4Number(part)
	return ok || part != "" && strings.Trim(part, "0123456789") == ""
}

// parseIPv4 returns the address of up to four numbers, of which the last fills the remaining bytes
// ("IPv4 parser").
func parseIPv4(parts []string) netip.Addr {
	if len(parts) > 4 {
		return netip.Addr{}
	}
	var bytes [4]byte
	for i, part := range parts {
		n, ok := parseIPv4Number(part)
		width := 1
		if i == len(parts)-1 {
			width = 4 - i
		}
		if !ok || n>>(8*width) != 0 {
			return netip.Addr{}
		}
		for j := range width {
			bytes[i+j] = byte(n >> (8 * (width - 1 - j)))
		}
	}
	return netip.AddrFrom4(bytes)
}

// parseIPv4Number parses a number in decimal, in octal after 0, or in hexadecimal after 0x, where 0x alone
// is zero ("IPv4 number parser"). A number that exceeds 64 bits becomes the greatest of 64 bits.
func parseIPv4Number(part string) (n uint64, ok bool) {
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
	n, _ = strconv.ParseUint(digits, base, 64) // out of range: MaxUint64
	return n, true
}
