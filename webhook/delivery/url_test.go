package delivery

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/innsigli/innsigli/internal/netguard"
)

// long returns a URL of n code points that are not ASCII after the host.
func long(n int) string {
	start := "https://hooks.example.com/"
	return start + strings.Repeat("þ", n-len(start))
}

func TestURLsThatAreAllowed(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"https://example.com", "https://example.com/", "https://hooks.example.com/a/b?c=d&e", "HTTPS://Hooks.Example.COM/",
		"https://example.com?at=/", "https://example.com:443/", "https://example.com:8443", "https://example.com:65535/",
		"https://example.com:80/", "https://example.com:444/",
		"https://xn--hfskir-9ya.is/", "https://1.example.com/", "https://1e100.net/", "https://a-b.c--d.is/",
		"https://example.com/@user:password", "https://example.com/%C3%BE?%20", "https://example.com/þ?þ",
		"https://example.com//http://localhost/", "https://localhost.example.com/", "https://internal.is/",
		"https://1.1.1.1/", "https://1.1.1.1:8443/", "https://[2606:4700::1111]/", "https://[2606:4700::1111]:8443/",
		"https://" + strings.Repeat(strings.Repeat("a", 61)+".", 4) + "is/", long(512),
	} {
		if fault := checkURL(text, false); fault != "" {
			t.Errorf("%s: %s", text, fault)
		}
		if fault := checkURL(text, true); fault != "" {
			t.Errorf("%s, with private ones: %s", text, fault)
		}
	}
}

// URLs that are always refused, and those that are refused unless private addresses are permitted.
func TestURLsThatAreRefused(t *testing.T) {
	t.Parallel()
	const (
		scheme     = "Must be an https URL."
		characters = "Must not contain white space or control characters."
		person     = "Must not contain a user name or password."
		percent    = "The host must not contain percent-encoded characters or a zone."
		ascii      = "The host must be in ASCII; an international name is written with xn--."
		noHost     = "Must have a host."
		port       = "The port must be a number from 1 to 65535."
		badPort    = "The port must not be one that is reserved for another protocol."
		neither    = "The host must be a name or an IP address."
		local      = "The host must not be a local, private or reserved address."
		usual      = "An IP address must be written in its usual form."
		dot        = "The host must not end in a dot."
		name       = "The host is not a valid name."
		public     = "The host must be a public name, such as hooks.example.com."
		formed     = "Must be a well-formed URL (RFC 3986)."
	)
	for fault, texts := range map[string]string{
		scheme: "http://example.com/ ftp://example.com/ //example.com/ example.com https:example.com https:/example.com " +
			"https:\\\\example.com javascript:alert(1)// file:///etc/passwd x:https://example.com https//example.com",
		person: "https://user@example.com/ https://user:password@example.com/ https://@example.com/ https://:@example.com/ " +
			"https://example.com@127.0.0.1/ https://example.com\\@evil.com/ https://a%40b@example.com/ https://user@",
		percent: "https://ex%61mple.com/ https://127%2E0.0.1/ https://%31%32%37.0.0.1/ https://[fe80::1%25eth0]/ https://example.com%00/ https://%e3%80%82.com/",
		ascii:   "https://þjónusta.is/ https://１２７.0.0.1/ https://example。com/ https://example．com/ https://①②⑦.0.0.1/ https://exam\u00adple.com/ https://ⓔxample.com/ https://example.com:８０/",
		noHost:  "https:// https:/// https://?a https://:443/ https:///example.com/",
		port: "https://example.com:/ https://example.com:0/ https://example.com:00/ https://example.com:0443/ https://example.com:65536/ " +
			"https://example.com:+443/ https://example.com:-1/ https://example.com:0x1bb/ https://example.com:https/ https://example.com:4_43/ https://[2606:4700::1111]:/",
		badPort: "https://example.com:22/ https://example.com:25/ https://example.com:6667/ https://example.com:10080/ https://1.1.1.1:53/",
		neither: "https://256.1.1.1/ https://1.2.3.4.5/ https://example.1/ https://example.0x1/ https://4294967296/ https://1..1/ https://[::g]/ https://[]/ https://[1.2.3.4.5]/ https://a:b:443/ https://[example.com]/ https://[2606:4700::1111/",
		usual: "https://16843009/ https://0x01010101/ https://1.1/ https://1.1.257/ https://01.01.01.01/ https://1.1.1.1./ https://[::ffff:1.1.1.1]/ " +
			"https://[::ffff:101:101]/ https://[2606:4700:0::1111]/ https://[2606:4700::0:1111]/ https://[2606:4700::ABCD]/ https://[1.1.1.1]/",
		dot: "https://example.com./ https://example.com.:443/ https://com./",
		name: "https://exa_mple.com/ https://-example.com/ https://example-.com/ https://example..com/ https://.example.com/ https://example.com\\evil/ " +
			"https://example.com;a/ https://exa*mple.com/ https://example.com|b/ https://" + strings.Repeat("a", 64) + ".is/ https://" + strings.Repeat("a.", 126) + "aa/",
		public: "https://example/ https://localhost/ https://LocalHost/ https://localhost:8443/ https://a.localhost/ https://printer.local/ https://metadata.google.internal/ https://router.home.arpa/ https://home.arpa/",
		formed: "https://example.com/%zz https://example.com/%",
		local: "https://127.0.0.1/ https://10.0.0.1/ https://[::1]/ https://2130706433/ https://0177.0.0.1/ https://0x7f.1/ https://127.1/ https://127.0.0.1./ " +
			"https://169.254.169.254/ https://0xa9fea9fe/ https://[::ffff:127.0.0.1]/ https://[fe80::1]/ https://[fd00:ec2::254]/ https://0/ https://0x/ https://255.255.255.255/ https://[64:ff9b::101:101]/",
	} {
		for _, text := range strings.Fields(texts) {
			if got := checkURL(text, false); got != fault {
				t.Errorf("%s: %q, want %q", text, got, fault)
			}
			if got := checkURL(text, true); got != fault && fault != scheme && fault != public && fault != local {
				t.Errorf("%s, with private ones: %q, want %q", text, got, fault)
			}
		}
	}
	for text, fault := range map[string]string{
		"":                                   scheme,
		" https://example.com/":              characters,
		"https://example.com/ ":              characters,
		"https://exam ple.com/":              characters,
		"https://example.com/\r\nHost: evil": characters,
		"https://example\t.com/":             characters,
		"https://example.com/\u00a0":         characters,
		"https://example.com/\u2028":         characters,
		"https://example.com/\x7f":           characters,
		"https://example.com/\u0085":         characters,
		"https://example.com/\xff":           characters,
		"https://example.com/#":              "Must not contain a fragment.",
		"https://example.com#@127.0.0.1/":    "Must not contain a fragment.",
		long(513):                            "Must be at most 512 characters long.",
	} {
		if got := checkURL(text, false); got != fault {
			t.Errorf("%q: %q, want %q", text, got, fault)
		}
	}
}

func TestPrivateURLs(t *testing.T) {
	t.Parallel()
	for _, text := range strings.Fields("http://example.com/ http://localhost:8080/ https://localhost/ http://receiver/ https://receiver:8443/ " +
		"http://127.0.0.1:8080/ https://127.0.0.1/ http://[::1]:8080/ http://10.0.0.1/ http://172.16.0.1/ http://192.168.1.1/ http://[fd00:1::1]/ " +
		"http://host.docker.internal/ http://a.localhost/ http://printer.local/") {
		if fault := checkURL(text, true); fault != "" {
			t.Errorf("%s: %s", text, fault)
		}
		if checkURL(text, false) == "" {
			t.Errorf("%s: allowed also when private ones are not", text)
		}
	}
	for _, text := range strings.Fields("ftp://localhost/ //localhost/ http://169.254.169.254/ http://169.254.0.1/ http://[fe80::1]/ http://[fe80::1%25lo]/ " +
		"http://[fd00:ec2::254]/ http://[fd20:ce::254]/ http://168.63.129.16/ http://100.100.100.200/ http://100.64.0.1/ http://0.0.0.0/ http://[::]/ " +
		"http://224.0.0.1/ http://192.0.2.1/ http://255.255.255.255/ http://[64:ff9b::7f00:1]/ http://[2002:7f00:1::]/ " +
		"http://2130706433/ http://127.1/ http://0x7f.1/ http://[::ffff:127.0.0.1]/ http://127.0.0.1./ http://localhost./ http://user@localhost/ http://localhost:22/ http://localhost/#a") {
		if checkURL(text, true) == "" {
			t.Errorf("%s: allowed", text)
		}
	}
}

// An accepted URL has one interpretation: net/url and net/http find the host that is written in it.
func FuzzURL(f *testing.F) {
	for _, text := range []string{
		"https://example.com", "https://hooks.example.com:8443/a?b#c", "http://localhost:8080/", "https://1.1.1.1/", "https://[2606:4700::1111]:443/",
		"https://user:password@example.com/", "https://example.com\\@127.0.0.1/", "https://0x7f.1/", "https://2130706433", "https://[::ffff:127.0.0.1]/",
		"https://[fe80::1%25eth0]/", "https://ex%61mple.com", "https://example。com", "https://example.com?@127.0.0.1/", "https:/example.com", "https://example.com:0443/",
	} {
		f.Add(text, false)
		f.Add(text, true)
	}
	f.Fuzz(func(t *testing.T, text string, private bool) {
		fault := checkURL(text, private)
		if fault != "" {
			if !strings.HasSuffix(fault, ".") || utf8.RuneCountInString(fault) > 100 {
				t.Fatalf("%q: not a short sentence: %q", text, fault)
			}
			return
		}
		if wider := checkURL(text, true); wider != "" {
			t.Fatalf("%q: refused when more is allowed: %q", text, wider)
		}
		u, err := url.Parse(text)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		r, err := signedMessage{url: text}.request(t.Context())
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		// The host as it is written, found without a parser.
		_, there, _ := strings.Cut(text, "//")
		there = strings.FieldsFunc(there, func(r rune) bool { return r == '/' || r == '?' })[0]
		if u.Host != there || r.URL.Host != there || r.Host != there || u.User != nil || u.Fragment != "" || u.Opaque != "" {
			t.Fatalf("%q: the host is %q, %q or %q", text, there, u.Host, r.Host)
		}
		if u.Scheme != "https" && !(private && u.Scheme == "http") {
			t.Fatalf("%q: scheme %s", text, u.Scheme)
		}
		if strings.Trim(u.Host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:[]") != "" {
			t.Fatalf("%q: host %q", text, u.Host)
		}
		if address, is := netguard.Literal(u.Hostname()); is && (address.String() != u.Hostname() || address.IsLinkLocalUnicast() || address.IsUnspecified() || !private && (address.IsPrivate() || address.IsLoopback())) {
			t.Fatalf("%q: leads to %v", text, address)
		}
		var line strings.Builder
		if err := r.Write(&line); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if first, _, _ := strings.Cut(line.String(), "\r\n"); strings.Count(first, " ") != 2 || strings.ContainsFunc(first, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Fatalf("%q: request line %q", text, first)
		}
		if _, err := http.NewRequest(http.MethodPost, text, nil); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
	})
}
