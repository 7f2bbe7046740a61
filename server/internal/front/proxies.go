package front

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Proxies are the trusted proxies in front of a server, whose header has the address of a request's client.
type Proxies struct {
	Trusted []netip.Prefix // their addresses
	Header  string         // ForwardedFor or Forwarded; empty: ForwardedFor
}

// Headers in which proxies add the address that a request came from.
const (
	ForwardedFor = "X-Forwarded-For"
	Forwarded    = "Forwarded" // RFC 7239
)

// trusts reports whether an address is that of a trusted proxy.
func (p Proxies) trusts(address netip.Addr) bool {
	return slices.ContainsFunc(p.Trusted, func(known netip.Prefix) bool { return known.Contains(address) })
}

// peer returns the address of the other end of the connection; an invalid one if it is unknown.
func peer(r *http.Request) netip.Addr {
	from, _ := netip.ParseAddrPort(r.RemoteAddr)
	return from.Addr().Unmap().WithZone("")
}

// Client returns the address of a request's client: the last address on its way that is not a trusted proxy. The client may
// have written the earlier entries of the header itself, so Client ignores them.
func (p Proxies) Client(r *http.Request) netip.Addr {
	from, nodes := peer(r), p.forwardedFor(r.Header)
	for p.trusts(from) && len(nodes) > 0 {
		before, ok := parseNode(nodes[len(nodes)-1])
		if !ok {
			break
		}
		from, nodes = before, nodes[:len(nodes)-1]
	}
	return from
}

// forwardedFor returns the nodes that the header of a request lists.
func (p Proxies) forwardedFor(header http.Header) (nodes []string) {
	if p.Header != Forwarded {
		return strings.Split(strings.Join(header.Values(ForwardedFor), ","), ",")
	}
	for _, line := range header.Values(Forwarded) {
		elements, closed := splitUnquoted(line, ',')
		if !closed { // the client began a quoted-string, to hide what the proxy appends
			elements = []string{""}
		}
		for _, element := range elements {
			nodes = append(nodes, forNode(element))
		}
	}
	return nodes
}

// forNode returns the value of "for" in an element of a Forwarded header.
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

// parseNode parses an address, with or without a port and the brackets of IPv6 (RFC 7239 6). It reports false for an
// obfuscated or unknown node.
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

// splitUnquoted splits a header value at separators outside of quoted-strings (RFC 9110 5.6.4), and reports whether each
// quoted-string is closed.
func splitUnquoted(text string, separator byte) (parts []string, closed bool) {
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

// unquote returns the content of a quoted-string, or a text that is not a quoted-string as it is.
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
