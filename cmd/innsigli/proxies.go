package main

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// proxies are the [proxy] of a configuration: who passes requests on to the server, and is believed when it
// says who they are from.
type proxies struct {
	trusted []netip.Prefix
	header  string // forwardedFor or forwarded; empty: forwardedFor
}

const (
	forwardedFor = "X-Forwarded-For"
	forwarded    = "Forwarded" // RFC 7239
)

// readProxies reads a [proxy].
func readProxies(root section) (p proxies) {
	there := root.has("proxy")
	t := root.section("proxy")
	for i, text := range t.texts("trusted") {
		prefix, err := netip.ParsePrefix(text)
		if address, notPrefix := netip.ParseAddr(text); notPrefix == nil && address.Zone() == "" {
			address = address.Unmap()
			prefix, err = netip.PrefixFrom(address, address.BitLen()), nil
		}
		switch {
		case err != nil || prefix != prefix.Masked():
			t.fault(fmt.Sprintf("trusted[%d]", i), "%q is no address, nor a prefix such as 10.0.0.0/8", text)
		case prefix.Addr().Is4In6():
			t.fault(fmt.Sprintf("trusted[%d]", i), "%q is of IPv4, whose prefixes are such as 10.0.0.0/8", text)
		case prefix.Bits() == 0:
			t.fault(fmt.Sprintf("trusted[%d]", i), "%q is everybody, who could then say to be anybody", text)
		}
		p.trusted = append(p.trusted, prefix)
	}
	if there && len(p.trusted) == 0 {
		t.fault("trusted", "has no address, and without one nobody is believed")
	}
	p.header = t.oneOf("header", forwardedFor, forwarded)
	t.end()
	return p
}

func (p proxies) same(other proxies) bool {
	return p.header == other.header && slices.Equal(p.trusted, other.trusted)
}

// trusts says whether an address is that of a proxy.
func (p proxies) trusts(address netip.Addr) bool {
	return slices.ContainsFunc(p.trusted, func(known netip.Prefix) bool { return known.Contains(address) })
}

// peer is the other end of the connection; not valid when that is no address.
func peer(r *http.Request) netip.Addr {
	from, _ := netip.ParseAddrPort(r.RemoteAddr)
	return from.Addr().Unmap().WithZone("")
}

// address is who a request is from: of those that it came through, the last that is no proxy. What stands
// before that one in the header is what it said itself, and whom it made up.
func (p proxies) address(r *http.Request) netip.Addr {
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

// through are whom a request came through, as the header says.
func (p proxies) through(header http.Header) (nodes []string) {
	if p.header != forwarded {
		return strings.Split(strings.Join(header.Values(forwardedFor), ","), ",")
	}
	for _, line := range header.Values(forwarded) {
		elements, whole := outsideQuotes(line, ',')
		if !whole { // somebody has begun a quote to hide in it what the proxy says
			elements = []string{""}
		}
		for _, element := range elements {
			nodes = append(nodes, nodeOf(element))
		}
	}
	return nodes
}

// nodeOf is who an element of a Forwarded is for.
func nodeOf(element string) (node string) {
	pairs, _ := outsideQuotes(element, ';')
	for _, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		if strings.EqualFold(strings.TrimSpace(name), "for") {
			node = unquoted(strings.TrimSpace(value))
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
