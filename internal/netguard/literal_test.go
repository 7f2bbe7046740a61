package netguard_test

import (
	"net/netip"
	"testing"

	"github.com/innsigli/innsigli/internal/netguard"
)

// TestLiteral checks the IPv4 parser of the URL Standard, IPv6 literals and names.
func TestLiteral(t *testing.T) {
	for host, want := range map[string]string{
		"127.0.0.1": "127.0.0.1", "127.0.0.1.": "127.0.0.1", "2130706433": "127.0.0.1", "2130706433.": "127.0.0.1",
		"0x7f000001": "127.0.0.1", "0X7F000001": "127.0.0.1", "017700000001": "127.0.0.1", "0x7f.1": "127.0.0.1",
		"127.1": "127.0.0.1", "127.0.1": "127.0.0.1", "0177.0.0.1": "127.0.0.1", "0177.0x0.00.0x1": "127.0.0.1",
		"127.65535": "127.0.255.255", "1.256": "1.0.1.0", "127.0.65535": "127.0.255.255", "127.0x00ffffff": "127.255.255.255",
		"0000000000000177.0.0.0000000001": "127.0.0.1", "0x000000000000000000000000007f.1": "127.0.0.1",
		"0": "0.0.0.0", "0x": "0.0.0.0", "0.0x": "0.0.0.0", "0x.0x.0x.0x": "0.0.0.0", "1": "0.0.0.1",
		"0xa9fea9fe": "169.254.169.254", "169.16689662": "169.254.169.254", "4294967295": "255.255.255.255",
		"[::1]": "::1", "[0:0:0:0:0:0:0:1]": "::1", "[::ffff:127.0.0.1]": "::ffff:127.0.0.1", "[::FFFF:7F00:1]": "::ffff:127.0.0.1",
		"[fe80::1%eth0]": "fe80::1%eth0", "[fe80::1%25eth0]": "fe80::1%25eth0", "::1": "::1", "[::1": "::1",
	} {
		if got, is := netguard.Literal(host); !is || got != netip.MustParseAddr(want) {
			t.Errorf("%q: %v %v, want %s", host, got, is, want)
		}
	}
	for _, host := range []string{
		"4294967296", "256.1.1.1", "1.2.3.256", "1.16777216", "1.2.65536", "1.2.3.4.5", "0x100000000", "09", "1.08",
		"name.1", "name.0x1", "0xg.1", "1..1", ".1", "99999999999999999999999", "0xffffffffffffffffffffff",
		"-1.1", "+1.1", "1_0.1", "name.0x", "[", "[]", "[name]", "[1.2.3.4.5]", "a:b", "[::g]",
	} {
		if got, is := netguard.Literal(host); got.IsValid() || !is {
			t.Errorf("%q: %v %v, want no address", host, got, is)
		}
	}
	for _, host := range []string{"", ".", "name", "example.com", "example.com.", "1.2.3.4..", "1.example.com", "0xg", "99999999999999999999g", "127.0.0.1.name", "1e3", "0x7f.1.a", "1-1"} {
		if got, is := netguard.Literal(host); is {
			t.Errorf("%q: %v, want a name", host, got)
		}
	}
}

// FuzzLiteral checks that Literal returns the same address for the canonical spelling of its result, and that it
// accepts every spelling that package netip accepts.
func FuzzLiteral(f *testing.F) {
	for _, host := range []string{"127.0.0.1", "0x7f.1", "[::1]", "[fe80::1%25eth0]", "1.2.3.4.", "example.com", "0300.0250.0x1", "1.1.1.1.1", "::%]", "99999999999999999999g"} {
		f.Add(host)
	}
	f.Fuzz(func(t *testing.T, host string) {
		address, is := netguard.Literal(host)
		if address.IsValid() && !is {
			t.Fatalf("%q: %v, but reported as no literal", host, address)
		}
		if address.IsValid() {
			if again, _ := netguard.Literal(address.String()); again != address {
				t.Fatalf("%q: %v, which parses as %v", host, address, again)
			}
		}
		if parsed, err := netip.ParseAddr(host); err == nil && parsed != address {
			t.Fatalf("%q: %v, but netip parses %v", host, address, parsed)
		}
	})
}
