package online

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/innsigli/innsigli/ades"
)

// The special-purpose registries of RFC 6890 and later, and their neighbours.
func TestGuardAllowsPublicAddressesAlone(t *testing.T) {
	for address, want := range map[string]bool{
		"1.1.1.1": true, "172.15.255.255": true, "172.32.0.1": true, "100.63.0.1": true, "100.128.0.1": true,
		"198.17.0.1": true, "198.20.0.1": true, "223.255.255.255": true, "192.0.1.1": true,
		"0.0.0.0": false, "10.1.2.3": false, "100.64.0.1": false, "127.0.0.1": false, "127.9.9.9": false,
		"169.254.169.254": false, "172.16.0.1": false, "172.31.255.255": false, "192.0.0.1": false, "192.0.2.1": false,
		"192.88.99.1": false, "192.168.1.1": false, "198.18.0.1": false, "198.19.255.255": false, "198.51.100.1": false,
		"203.0.113.1": false, "224.0.0.1": false, "240.0.0.1": false, "255.255.255.255": false,

		"2600::1": true, "2a00:1450:4001::5": true, "2001:4860:4860::8888": true,
		"::": false, "::1": false, "fe80::1": false, "fe80::1%lo": false, "fec0::1": false, "fc00::1": false, "fd00:ec2::254": false,
		"ff02::1": false, "2001:db8::1": false, "2001::1": false, "2001:10::1": false, "2002:7f00:1::": false, "3fff::1": false,
		"64:ff9b::7f00:1": false, "64:ff9b:1::1": false, "5f00::1": false, "100::1": false,
		"::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "::ffff:1.1.1.1": true, "::127.0.0.1": false,
	} {
		if got := (guard{}).allows(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: allowed %v", address, got)
		}
	}
}

func TestGuardAllowsWhatItWasTold(t *testing.T) {
	g := guard{[]netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd00:1::/32")}}
	for address, want := range map[string]bool{
		"10.1.2.3": true, "::ffff:10.1.2.3": true, "10.2.0.1": false, "fd00:1::5": true, "fd00:2::5": false, "1.1.1.1": true,
	} {
		if got := g.allows(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: allowed %v", address, got)
		}
	}
}

func TestGuardFailsClosed(t *testing.T) {
	for _, call := range [][2]string{{"udp4", "1.1.1.1:53"}, {"unix", "/tmp/socket"}, {"tcp4", "1.1.1.1"}, {"tcp4", "name:80"}} {
		if err := (guard{}).control(call[0], call[1], nil); !errors.Is(err, ErrAddress) {
			t.Errorf("%v: %v", call, err)
		}
	}
}

// A name and a redirect lead to the same check as an address: it is the dialled one
// that counts. No request arrives.
func TestClientDoesNotReachThisMachine(t *testing.T) {
	var arrived atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived.Add(1) }))
	defer server.Close()
	port := server.URL[strings.LastIndex(server.URL, ":"):]
	for _, address := range []string{server.URL, "http://localhost" + port, "http://[::ffff:127.0.0.1]" + port, "http://0.0.0.0" + port, "http://2130706433" + port} {
		_, err := exchange{url: address, limit: 10, timeout: smallTimeout}.do(context.Background(), NewClient())
		if err == nil || !errors.Is(err, ErrAddress) && !strings.Contains(err.Error(), "no such host") && !strings.Contains(err.Error(), "lookup") {
			t.Errorf("%s: %v", address, err)
		}
		if errors.Is(err, ErrAddress) && errors.Is(err, ades.ErrUnavailable) {
			t.Errorf("%s: an address that is not allowed may come to be: %v", address, err)
		}
	}
	if n := arrived.Load(); n > 0 {
		t.Errorf("%d requests arrived", n)
	}
}

// The first server stands for a public one: 127.0.0.1 is allowed, and it redirects to
// 127.0.0.2, which is not.
func TestRedirectIsGuardedToo(t *testing.T) {
	hop := httptest.NewServer(http.RedirectHandler("http://127.0.0.2:9/", http.StatusFound))
	defer hop.Close()
	client := NewClient(netip.MustParsePrefix("127.0.0.1/32"))
	_, err := exchange{url: hop.URL, limit: 10, timeout: smallTimeout}.do(context.Background(), client)
	if !errors.Is(err, ErrAddress) || !strings.Contains(err.Error(), "127.0.0.2") {
		t.Error(err)
	}
}
