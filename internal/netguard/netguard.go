// Package netguard keeps connections that strangers ask for on the public Internet.
//
// A [Guard] judges the address that is dialled, at each connection, after the name was
// resolved: a name that resolves differently the second time gets no further.
//
//	dialer := net.Dialer{Control: netguard.Guard{}.Control}
//
// [Literal] says which hosts of URLs are IP addresses, however they are spelled, so that
// those that can never be dialled are refused when they are given.
package netguard

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"syscall"
)

// ErrAddress: the address is not a public one and was not allowed.
var ErrAddress = errors.New("address not allowed")

// Guard says which addresses may be dialled. The zero Guard allows public addresses alone.
type Guard struct {
	// Allowed are prefixes that may be dialled too, such as those of [Private].
	Allowed []netip.Prefix
}

// Control is for [net.Dialer]: it is called with the address of each attempt, between socket
// and connect. What it does not understand it refuses with [ErrAddress].
func (g Guard) Control(network, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || network != "tcp4" && network != "tcp6" {
		return fmt.Errorf("%w: %s %s", ErrAddress, network, address)
	}
	if !g.Allows(at.Addr()) {
		return fmt.Errorf("%w: %s", ErrAddress, at.Addr())
	}
	return nil
}

// Allows says whether an address may be dialled.
func (g Guard) Allows(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	switch {
	case !a.IsValid() || contains(metadata, a):
		return false
	case contains(g.Allowed, a):
		return true
	case a.Is6() && !globalUnicast.Contains(a):
		return false
	}
	return !contains(special, a)
}

func contains(list []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(a) })
}

// Private are the prefixes of this machine and of private networks (RFC 1122 3.2.1.3, RFC 1918,
// RFC 4291 2.5.3 and RFC 4193). Link-local addresses are not among them.
func Private() []netip.Prefix {
	return prefixes("127.0.0.0/8 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 ::1/128 fc00::/7")
}
