package netguard_test

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/innsigli/innsigli/internal/netguard"
)

// TestZeroGuardAllowsPublicAddresses checks the prefixes of the special-purpose registries (RFC 6890 and later)
// and the addresses next to them.
func TestZeroGuardAllowsPublicAddresses(t *testing.T) {
	for address, want := range map[string]bool{
		"1.1.1.1": true, "172.15.255.255": true, "172.32.0.1": true, "100.63.0.1": true, "100.128.0.1": true,
		"198.17.0.1": true, "198.20.0.1": true, "223.255.255.255": true, "192.0.1.1": true, "11.0.0.0": true,
		"126.255.255.255": true, "128.0.0.0": true, "169.253.0.1": true, "169.255.0.1": true, "168.63.129.15": true,
		"0.0.0.0": false, "0.1.2.3": false, "10.1.2.3": false, "10.255.255.255": false, "100.64.0.1": false,
		"100.100.100.200": false, "100.127.255.255": false, "127.0.0.1": false, "127.9.9.9": false,
		"168.63.129.16": false, "169.254.169.254": false, "169.254.0.1": false, "172.16.0.1": false,
		"172.31.255.255": false, "192.0.0.1": false, "192.0.0.192": false, "192.0.2.1": false, "192.31.196.1": false,
		"192.52.193.1": false, "192.88.99.1": false, "192.168.1.1": false, "192.175.48.1": false,
		"198.18.0.1": false, "198.19.255.255": false, "198.51.100.1": false, "203.0.113.1": false,
		"224.0.0.1": false, "239.255.255.255": false, "240.0.0.1": false, "255.255.255.255": false,

		"2600::1": true, "2a00:1450:4001::5": true, "2001:4860:4860::8888": true, "2001:200::1": true, "2003::1": true,
		"::": false, "::1": false, "fe80::1": false, "fe80::1%lo": false, "febf::1": false, "fec0::1": false,
		"fc00::1": false, "fd00:ec2::254": false, "fd20:ce::254": false, "fdff::1": false, "ff02::1": false,
		"2001:db8::1": false, "2001::1": false, "2001:10::1": false, "2001:20::1": false, "2001:2::1": false,
		"2002:7f00:1::": false, "2002:101:101::": false, "2620:4f:8000::1": false, "3fff::1": false,
		"64:ff9b::7f00:1": false, "64:ff9b::101:101": false, "64:ff9b:1::1": false, "5f00::1": false,
		"100::1": false, "100:0:0:1::1": false, "1fff::1": false, "4000::1": false,
		"::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "::ffff:169.254.169.254": false, "::ffff:1.1.1.1": true,
		"::127.0.0.1": false, "::ffff:0:127.0.0.1": false,
	} {
		if got := (netguard.Guard{}).Allows(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: allowed %v", address, got)
		}
	}
	if (netguard.Guard{}).Allows(netip.Addr{}) {
		t.Error("no address is allowed")
	}
}

func TestAllowedPrefixes(t *testing.T) {
	for _, test := range []struct {
		name    string
		allowed []netip.Prefix
		want    map[string]bool
	}{
		{"two networks", []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd00:1::/32")}, map[string]bool{
			"10.1.2.3": true, "::ffff:10.1.2.3": true, "10.2.0.1": false, "fd00:1::5": true, "fd00:2::5": false, "1.1.1.1": true,
		}},
		{"private networks", netguard.Private(), map[string]bool{
			"127.0.0.1": true, "127.1.2.3": true, "::1": true, "::ffff:127.0.0.1": true, "10.0.0.1": true, "172.16.0.1": true,
			"192.168.1.1": true, "fc00::1": true, "fd00:1::5": true, "1.1.1.1": true, "2600::1": true,
			"169.254.169.254": false, "::ffff:169.254.169.254": false, "fe80::1": false, "fe80::1%lo": false,
			"fd00:ec2::254": false, "fd20:ce::254": false, "168.63.129.16": false, "100.100.100.200": false, "192.0.0.192": false,
			"0.0.0.0": false, "::": false, "224.0.0.1": false, "255.255.255.255": false, "100.64.0.1": false,
			"64:ff9b::a00:1": false, "2002:a00:1::": false, "::10.0.0.1": false,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for address, want := range test.want {
				if got := (netguard.Guard{Allowed: test.allowed}).Allows(netip.MustParseAddr(address)); got != want {
					t.Errorf("%s: allowed %v", address, got)
				}
			}
		})
	}
}

func TestControl(t *testing.T) {
	for _, call := range [][2]string{
		{"udp4", "1.1.1.1:53"}, {"unix", "/tmp/socket"}, {"tcp4", "1.1.1.1"}, {"tcp4", "name:80"}, {"tcp", "1.1.1.1:443"},
		{"ip4", "1.1.1.1"}, {"", ""}, {"tcp4", "0177.0.0.1:443"}, {"tcp4", "127.0.0.1:443"}, {"tcp6", "[::1]:443"},
		{"tcp6", "[fe80::1%1]:443"}, {"tcp6", "[::ffff:127.0.0.1]:443"},
	} {
		if err := (netguard.Guard{}).Control(call[0], call[1], nil); !errors.Is(err, netguard.ErrAddress) {
			t.Errorf("%v: %v", call, err)
		}
	}
	for _, call := range [][2]string{{"tcp4", "1.1.1.1:443"}, {"tcp6", "[2600::1]:443"}, {"tcp6", "[::ffff:1.1.1.1]:443"}} {
		if err := (netguard.Guard{}).Control(call[0], call[1], nil); err != nil {
			t.Errorf("%v: %v", call, err)
		}
	}
}
