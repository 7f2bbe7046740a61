package front

import (
	"cmp"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

func prefixes(list ...string) (all []netip.Prefix) {
	for _, text := range list {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// A request is from the address that the last trusted proxy names: the client may have made up what stands before it
// (RFC 7239 8.1).
func TestCallersBehindProxies(t *testing.T) {
	trusted := prefixes("10.0.0.0/8", "127.0.0.1/32", "2001:db8:1::/48", "192.0.2.1/32")
	for _, test := range []struct {
		name, header string // of [proxy]; "": there is no [proxy]
		peer         string
		lines        []string
		want         string
	}{
		{"no proxy is trusted", "", "10.0.0.1:99", []string{"203.0.113.7"}, "10.0.0.1"},
		{"other proxies are not trusted", ForwardedFor, "203.0.113.9:99", []string{"198.51.100.1"}, "203.0.113.9"},
		{"one proxy", ForwardedFor, "10.0.0.1:99", []string{"203.0.113.7"}, "203.0.113.7"},
		{"two of them", ForwardedFor, "10.0.0.1:99", []string{"203.0.113.7, 10.0.0.2"}, "203.0.113.7"},
		{"in lines of their own", ForwardedFor, "10.0.0.1:99", []string{"203.0.113.7", "127.0.0.1"}, "203.0.113.7"},
		{"a caller who makes up another", ForwardedFor, "10.0.0.1:99", []string{"192.0.2.66, 203.0.113.7"}, "203.0.113.7"},
		{"a caller who makes up a proxy", ForwardedFor, "10.0.0.1:99", []string{"192.0.2.66, 10.9.9.9, 203.0.113.7"}, "203.0.113.7"},
		{"a port", ForwardedFor, "10.0.0.1:99", []string{"203.0.113.7:5555"}, "203.0.113.7"},
		{"IPv6", ForwardedFor, "[2001:db8:1::5]:99", []string{"2001:db8:2::9"}, "2001:db8:2::9"},
		{"IPv6 in brackets", ForwardedFor, "10.0.0.1:99", []string{"[2001:db8:2::9]:443"}, "2001:db8:2::9"},
		{"IPv4 in IPv6", ForwardedFor, "[::ffff:10.0.0.1]:99", []string{"::ffff:203.0.113.7"}, "203.0.113.7"},
		{"a proxy that is written as IPv4 in IPv6", ForwardedFor, "192.0.2.1:99", []string{"203.0.113.7"}, "203.0.113.7"},
		{"what is no address", ForwardedFor, "10.0.0.1:99", []string{"203.0.113.7, unknown"}, "10.0.0.1"},
		{"nothing at all", ForwardedFor, "10.0.0.1:99", nil, "10.0.0.1"},
		{"all of them proxies", ForwardedFor, "10.0.0.1:99", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		{"RFC 7239", Forwarded, "10.0.0.1:99", []string{`for=192.0.2.43, For="[2001:db8:cafe::17]:4711";proto=https`}, "2001:db8:cafe::17"},
		{"RFC 7239, a proxy before", Forwarded, "10.0.0.1:99", []string{`for=203.0.113.7;by=10.0.0.2`, `for="10.0.0.2:80";host="a,b;c"`}, "203.0.113.7"},
		{"RFC 7239, hidden", Forwarded, "10.0.0.1:99", []string{`for=203.0.113.7, for=_hidden`}, "10.0.0.1"},
		{"RFC 7239, without for", Forwarded, "10.0.0.1:99", []string{`for=203.0.113.7, proto=https`}, "10.0.0.1"},
		{"RFC 7239, an escape", Forwarded, "10.0.0.1:99", []string{`for="203.0.11\3.7"`}, "203.0.113.7"},
		{"RFC 7239, a quote without an end", Forwarded, "10.0.0.1:99", []string{`for="203.0.113.7`}, "10.0.0.1"},
		{"RFC 7239, a quote around what the proxy says", Forwarded, "10.0.0.1:99", []string{`for=192.0.2.66;host=", for=203.0.113.7`}, "10.0.0.1"},
		{"RFC 7239, one that the proxy's own ends", Forwarded, "10.0.0.1:99", []string{`for=192.0.2.66;host=", for="[2001:db8::7]";proto=https`}, "10.0.0.1"},
		{"RFC 7239, one with an escape at its end", Forwarded, "10.0.0.1:99", []string{`for=192.0.2.66;host="\, for=203.0.113.7`}, "10.0.0.1"},
		{"RFC 7239, a quote in a line before the proxy's", Forwarded, "10.0.0.1:99", []string{`for=192.0.2.66;host="`, `for=203.0.113.7`}, "203.0.113.7"},
		{"the other header", Forwarded, "10.0.0.1:99", nil, "10.0.0.1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := Proxies{}
			if test.header != "" {
				p = Proxies{trusted, test.header}
			}
			r := httptest.NewRequest("GET", "/", nil)
			r.RemoteAddr = test.peer
			for _, line := range test.lines {
				r.Header.Add(cmp.Or(test.header, ForwardedFor), line)
			}
			if test.header == Forwarded {
				r.Header.Add(ForwardedFor, "198.51.100.1") // which is not asked for
			}
			if got := p.Client(r); got.String() != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// A request ID that another party sets ends in logs: a trusted proxy may, and only what means nothing there.
func TestRequestIDs(t *testing.T) {
	p := Proxies{Trusted: prefixes("10.0.0.1/32")}
	for given, taken := range map[string]bool{
		"0b6c8f0e-6c1e-4f0f-9d3e-0c9a5f7b2d11": true, "A.b_c:9": true, strings.Repeat("a", maxRequestID): true,
		strings.Repeat("a", maxRequestID+1): false, "": false, "a b": false, "a\"b": false, "{}": false, "ð": false, "a\nb": false,
	} {
		for from, trusted := range map[string]bool{"10.0.0.1:99": true, "10.0.0.2:99": false} {
			r := httptest.NewRequest("GET", "/", nil)
			r.RemoteAddr = from
			r.Header["X-Request-Id"] = []string{given}
			if got := p.requestID(r); (got == given) != (taken && trusted) || got == "" {
				t.Errorf("%q of %s: %q", given, from, got)
			}
		}
	}
	r := httptest.NewRequest("GET", "/", nil)
	r.RemoteAddr = "10.0.0.1:99"
	r.Header["X-Request-Id"] = []string{"one", "two"}
	if got := p.requestID(r); got == "one" || got == "two" {
		t.Errorf("of two: %q", got)
	}
}
