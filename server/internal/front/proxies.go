package front

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Proxies are the proxies in front of a server, which are believed when they say who a request is from.
type Proxies struct {
	Trusted []netip.Prefix // their addresses
	Header  string         // ForwardedFor or Forwarded; empty: ForwardedFor
}

// The headers in which proxies say who a request is from.
const (
	ForwardedFor = "X-Forwarded-For"
	Forwarded    = "Forwarded" // RFC 7239
)

// trusts reports whether an address is that of a proxy.
func (p Proxies) trusts(address netip.Addr) bool {
	return slices.ContainsFunc(p.Trusted, func(known netip.Prefix) bool { return known.Contains(address) })
}

// peer is the other end of the connection; not valid when that is no address.
func peer(r *http.Request) netip.Addr {
	from, _ := netip.ParseAddrPort(r.RemoteAddr)
	return from.Addr().Unmap().WithZone("")
}

// Client returns the address of the client that a request is from: of those that it came through, the last that is
// no proxy. What the header has before that one was written by the client itself, and is not believed.
func (p Proxies) Client(r *http.Request) netip.Addr {
	from, through := peer(r), p.through(r.Header)
	for p.trusts(from) && len(through) > 0 {
		before, ok := parseNode(through[len(through)-1])
		if !ok {
			break
		}
		from, through = before, through[:len(through)-1]
	}
	return from
}

// through are the addresses that a request came through, as the header says.
func (p Proxies) through(header http.Header) (nodes []string) {
	if p.Header != Forwarded {
		return strings.Split(strings.Join(header.Values(ForwardedFor), ","), ",")
	}
	for _, line := range header.Values(Forwarded) {
		elements, whole := splitUnquoted(line, ',')
		if !whole { // a client has begun a quote to hide in it what the proxy adds
			elements = []string{""}
		}
		for _, element := range elements {
			nodes = append(nodes, forNode(element))
		}
	}
	return nodes
}

// forNode is the node that an element of a Forwarded header is for.
func forNode(element string) (node string) {
	pairs, _ := splitUnquoted(element, ';')
	for _, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		if strings.EqualFold(strings.TrimSpace(name), "for") {
			node = unquote(strings.TrimSpace(value))
		}
	}
	return node
}

// parseNode reads an address, with or without a port and the brackets of IPv6 (RFC 7239 6). One that is
// hidden or unknown is none.
func parseNode(text string) (netip.Addr, bool) {
	text = strings.TrimSpace(text)
	address, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
	if err != nil {
		var withPort netip.AddrPort
		withPort, err = netip.ParseAddrPort(text)
		address = withPort.Addr()
	}
	return address.Unmap().WithZone(""), err == nil
}

// splitUnquoted splits a header's value at separators that are in no quoted-string (RFC 9110 5.6.4), and reports whether
// each such string has an end.
func splitUnquoted(text string, separator byte) (parts []string, whole bool) {
	begin, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == separator && !quoted:
			parts, begin = append(parts, text[begin:i]), i+1
		}
	}
	return append(parts, text[begin:]), !quoted
}

// unquote returns what a quoted-string says, or the text itself where it is none.
func unquote(text string) string {
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return text
	}
	var out strings.Builder
	for i := 1; i < len(text)-1; i++ {
		if text[i] == '\\' && i+1 < len(text)-1 {
			i++
		}
		out.WriteByte(text[i])
	}
	return out.String()
}
