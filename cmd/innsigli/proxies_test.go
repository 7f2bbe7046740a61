package main

import (
	"cmp"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Who a request is from is who the last proxy that is trusted says: what stands before that is made up by
// anybody (RFC 7239 8.1).
func TestCallersBehindProxies(t *testing.T) {
	const trusted = "trusted = [\"10.0.0.0/8\", \"127.0.0.1\", \"2001:db8:1::/48\", \"::ffff:192.0.2.1\"]\n"
	for _, test := range []struct {
		name, header string // of [proxy]; "": there is no [proxy]
		peer         string
		lines        []string
		want         string
	}{
		{"no proxy is trusted", "", "10.0.0.1:99", []string{"203.0.113.7"}, "10.0.0.1"},
		{"nobody else is believed", forwardedFor, "203.0.113.9:99", []string{"198.51.100.1"}, "203.0.113.9"},
		{"one proxy", forwardedFor, "10.0.0.1:99", []string{"203.0.113.7"}, "203.0.113.7"},
		{"two of them", forwardedFor, "10.0.0.1:99", []string{"203.0.113.7, 10.0.0.2"}, "203.0.113.7"},
		{"in lines of their own", forwardedFor, "10.0.0.1:99", []string{"203.0.113.7", "127.0.0.1"}, "203.0.113.7"},
		{"a caller who makes up another", forwardedFor, "10.0.0.1:99", []string{"192.0.2.66, 203.0.113.7"}, "203.0.113.7"},
		{"a caller who makes up a proxy", forwardedFor, "10.0.0.1:99", []string{"192.0.2.66, 10.9.9.9, 203.0.113.7"}, "203.0.113.7"},
		{"a port", forwardedFor, "10.0.0.1:99", []string{"203.0.113.7:5555"}, "203.0.113.7"},
		{"IPv6", forwardedFor, "[2001:db8:1::5]:99", []string{"2001:db8:2::9"}, "2001:db8:2::9"},
		{"IPv6 in brackets", forwardedFor, "10.0.0.1:99", []string{"[2001:db8:2::9]:443"}, "2001:db8:2::9"},
		{"IPv4 in IPv6", forwardedFor, "[::ffff:10.0.0.1]:99", []string{"::ffff:203.0.113.7"}, "203.0.113.7"},
		{"a proxy that is written as IPv4 in IPv6", forwardedFor, "192.0.2.1:99", []string{"203.0.113.7"}, "203.0.113.7"},
		{"what is no address", forwardedFor, "10.0.0.1:99", []string{"203.0.113.7, unknown"}, "10.0.0.1"},
		{"nothing at all", forwardedFor, "10.0.0.1:99", nil, "10.0.0.1"},
		{"all of them proxies", forwardedFor, "10.0.0.1:99", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		{"RFC 7239", forwarded, "10.0.0.1:99", []string{`for=192.0.2.43, For="[2001:db8:cafe::17]:4711";proto=https`}, "2001:db8:cafe::17"},
		{"RFC 7239, a proxy before", forwarded, "10.0.0.1:99", []string{`for=203.0.113.7;by=10.0.0.2`, `for="10.0.0.2:80";host="a,b;c"`}, "203.0.113.7"},
		{"RFC 7239, hidden", forwarded, "10.0.0.1:99", []string{`for=203.0.113.7, for=_hidden`}, "10.0.0.1"},
		{"RFC 7239, without for", forwarded, "10.0.0.1:99", []string{`for=203.0.113.7, proto=https`}, "10.0.0.1"},
		{"RFC 7239, an escape", forwarded, "10.0.0.1:99", []string{`for="203.0.11\3.7"`}, "203.0.113.7"},
		{"RFC 7239, a quote without an end", forwarded, "10.0.0.1:99", []string{`for="203.0.113.7`}, "10.0.0.1"},
		{"RFC 7239, a quote around what the proxy says", forwarded, "10.0.0.1:99", []string{`for=192.0.2.66;host=", for=203.0.113.7`}, "10.0.0.1"},
		{"RFC 7239, one that the proxy's own ends", forwarded, "10.0.0.1:99", []string{`for=192.0.2.66;host=", for="[2001:db8::7]";proto=https`}, "10.0.0.1"},
		{"RFC 7239, one with an escape at its end", forwarded, "10.0.0.1:99", []string{`for=192.0.2.66;host="\, for=203.0.113.7`}, "10.0.0.1"},
		{"RFC 7239, a quote in a line before the proxy's", forwarded, "10.0.0.1:99", []string{`for=192.0.2.66;host="`, `for=203.0.113.7`}, "203.0.113.7"},
		{"the other header", forwarded, "10.0.0.1:99", nil, "10.0.0.1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := proxies{}
			if test.header != "" {
				p = proxiesOf(t, "[proxy]\n"+trusted+"header = \""+test.header+"\"\n")
			}
			r := httptest.NewRequest("GET", "/", nil)
			r.RemoteAddr = test.peer
			for _, line := range test.lines {
				r.Header.Add(cmp.Or(test.header, forwardedFor), line)
			}
			if test.header == forwarded {
				r.Header.Add(forwardedFor, "198.51.100.1") // which is not asked for
			}
			if got := p.address(r); got.String() != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

func proxiesOf(t *testing.T, content string) proxies {
	t.Helper()
	c, found := configurationOf(t, content)
	if err := found.err(); err != nil {
		t.Fatal(err)
	}
	return c.proxies
}

// configurationOf is that of a file.
func configurationOf(t *testing.T, content string) (configuration, faults) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "conf.toml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return readConfiguration(path)
}

func TestProxyFaults(t *testing.T) {
	for content, want := range map[string]string{
		`[proxy]`:                                                   "proxy.trusted: has no address",
		"[proxy]\ntrusted = [\"10.0.0.1/8\"]":                       `proxy.trusted[0]: "10.0.0.1/8" is no address, nor a prefix`,
		"[proxy]\ntrusted = [\"proxy.example\"]":                    `proxy.trusted[0]: "proxy.example" is no address`,
		"[proxy]\ntrusted = [\"10.0.0.1\", \"0.0.0.0/0\"]":          `proxy.trusted[1]: "0.0.0.0/0" is everybody`,
		"[proxy]\ntrusted = [\"::ffff:10.0.0.0/104\"]":              `proxy.trusted[0]: "::ffff:10.0.0.0/104" is of IPv4`,
		"[proxy]\ntrusted = [\"fe80::1%eth0\"]":                     `proxy.trusted[0]:`,
		"[proxy]\ntrusted = [\"::1\"]\nheader = \"X-Real-IP\"":      `proxy.header: "X-Real-IP" is none of X-Forwarded-For, Forwarded`,
		"[proxy]\ntrusted = [\"::1\"]\nheaders = \"X-Real-IP\"\n":   `proxy.headers: is not known`,
		"[proxy]\ntrusted = \"::1\"\n[webhooks]\nmax-subscriptions": "expected",
	} {
		_, found := configurationOf(t, content)
		if err := found.err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", content, err, want)
		}
	}
}

// An ID that somebody else gives ends in logs: a trusted proxy may, and only what means nothing there.
func TestRequestIDs(t *testing.T) {
	p := proxiesOf(t, "[proxy]\ntrusted = [\"10.0.0.1\"]\n")
	for given, taken := range map[string]bool{
		"0b6c8f0e-6c1e-4f0f-9d3e-0c9a5f7b2d11": true, "A.b_c:9": true, strings.Repeat("a", longestRequestID): true,
		strings.Repeat("a", longestRequestID+1): false, "": false, "a b": false, "a\"b": false, "{}": false, "ð": false, "a\nb": false,
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
