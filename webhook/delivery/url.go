package delivery

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/innsigli/innsigli/internal/netguard"
)

// MaxURL is the longest URL in code points (spec 5.2).
const MaxURL = 512

// checkURL checks the literal form of an endpoint's URL (spec 5.2). fault is a sentence about a field, or "". With
// allowPrivate, the URL may be http, and its host may be this machine or in a private network. A URL that it accepts has
// only one interpretation: net/url, browsers and resolvers agree on its host.
func checkURL(text string, allowPrivate bool) (fault string) {
	scheme, rest, _ := strings.Cut(text, "://")
	switch {
	case utf8.RuneCountInString(text) > MaxURL:
		return fmt.Sprintf("Must be at most %d characters long.", MaxURL)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, isBlank):
		return "Must not contain white space or control characters."
	case !strings.EqualFold(scheme, "https") && !allowPrivate:
		return "Must be an https URL."
	case !strings.EqualFold(scheme, "https") && !strings.EqualFold(scheme, "http"):
		return "Must be an https or http URL."
	case strings.Contains(rest, "#"):
		return "Must not contain a fragment."
	}
	authority := rest
	if end := strings.IndexAny(rest, "/?"); end >= 0 {
		authority = rest[:end]
	}
	if fault := checkAuthority(authority, allowPrivate); fault != "" {
		return fault
	}
	if u, err := url.Parse(text); err != nil || u.Host != authority {
		return "Must be a well-formed URL (RFC 3986)."
	}
	return ""
}

func isBlank(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// checkAuthority checks the authority of a URL (RFC 3986 3.2).
func checkAuthority(authority string, allowPrivate bool) (fault string) {
	host, port, hasPort := authority, "", false
	if colon := strings.LastIndexByte(authority, ':'); colon > strings.LastIndexByte(authority, ']') {
		host, port, hasPort = authority[:colon], authority[colon+1:], true
	}
	switch {
	case strings.Contains(authority, "@"):
		return "Must not contain a user name or password."
	case strings.Contains(authority, "%"):
		return "The host must not contain percent-encoded characters or a zone."
	case strings.ContainsFunc(authority, func(r rune) bool { return r > unicode.MaxASCII }):
		return "The host must be in ASCII; an international name is written with xn--."
	case host == "":
		return "Must have a host."
	case hasPort && !isPort(port):
		return "The port must be a number from 1 to 65535."
	case hasPort && slices.Contains(strings.Fields(badPorts), port):
		return "The port must not be one that is reserved for another protocol."
	}
	if address, is := netguard.Literal(host); is {
		return checkAddress(host, address, allowPrivate)
	}
	return checkName(strings.ToLower(host), allowPrivate)
}

func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0 && text == strconv.FormatUint(n, 10)
}

// checkAddress checks a host that is an IP address.
func checkAddress(host string, address netip.Addr, allowPrivate bool) (fault string) {
	plain := address.String()
	if address.Is6() {
		plain = "[" + plain + "]"
	}
	switch {
	case !address.IsValid():
		return "The host must be a name or an IP address."
	case !guard(allowPrivate).Allows(address):
		return "The host must not be a local, private or reserved address."
	case host != plain || address.Is4In6():
		return "An IP address must be written in its usual form."
	}
	return ""
}

// guard returns which addresses endpoints may have.
func guard(allowPrivate bool) netguard.Guard {
	if allowPrivate {
		return netguard.Guard{Allowed: netguard.Private()}
	}
	return netguard.Guard{}
}

// checkName checks a host that is a name in lower case.
func checkName(name string, allowPrivate bool) (fault string) {
	labels := strings.Split(name, ".")
	switch {
	case strings.HasSuffix(name, "."):
		return "The host must not end in a dot."
	case len(name) > 253 || slices.ContainsFunc(labels, isBadLabel):
		return "The host is not a valid name."
	case !allowPrivate && (len(labels) == 1 || slices.ContainsFunc(localNames, func(s string) bool { return strings.HasSuffix("."+name, s) })):
		return "The host must be a public name, such as hooks.example.com."
	}
	return ""
}

// isBadLabel reports whether a label is not one of a host name (RFC 1123 2.1).
func isBadLabel(label string) bool {
	return label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' ||
		strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-") != ""
}

// localNames are suffixes of names that no public name server has (RFC 6761 6.3, RFC 6762, SAC113 and RFC 8375; the
// last one is customary in /etc/hosts).
var localNames = []string{".localhost", ".local", ".internal", ".home.arpa", ".localdomain"}

// badPorts are the ports to which browsers do not connect, because a service that listens there may take the lines
// of a request for its own protocol (WHATWG Fetch, "bad port").
const badPorts = `
	1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113
	115 117 119 123 135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554
	556 563 587 601 636 989 990 993 995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665
	6666 6667 6668 6669 6679 6697 10080`
