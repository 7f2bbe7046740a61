package admission

import (
	"net"
	"net/netip"
	"sync"
)

// ConnectionLimit limits the number of open connections.
type ConnectionLimit struct {
	// Max is the largest number of all connections. Further ones wait in the kernel's queue.
	Max int
	// PerAddress is the largest number of connections from one [ClientPrefix]. Further ones are closed at once.
	PerAddress int
	// Exempt, unless nil, reports whether PerAddress does not apply to an address, such as that of a proxy.
	Exempt func(netip.Addr) bool
}

// ClientPrefix returns the prefix that identifies a client: an IPv4 address itself, and the /64 of an IPv6 address,
// which one site has (RFC 6177).
func ClientPrefix(a netip.Addr) netip.Prefix {
	a = a.Unmap()
	bits := a.BitLen()
	if a.Is6() {
		bits = 64
	}
	prefix, _ := a.WithZone("").Prefix(bits) // the zero Prefix for the zero Addr
	return prefix
}

// Listener returns a listener that accepts the connections of l within the limit.
func (c ConnectionLimit) Listener(l net.Listener) net.Listener {
	return &listener{Listener: l, ConnectionLimit: c, open: make(chan struct{}, c.Max), closed: make(chan struct{}), perClient: make(map[netip.Prefix]int)}
}

type listener struct {
	net.Listener
	ConnectionLimit
	open   chan struct{} // has an element for each open connection
	closed chan struct{}
	once   sync.Once

	mu        sync.Mutex
	perClient map[netip.Prefix]int
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		select {
		case l.open <- struct{}{}:
		case <-l.closed:
			return nil, net.ErrClosed
		}
		c, err := l.Listener.Accept()
		if err != nil {
			<-l.open
			return nil, err
		}
		if client, ok := l.acquire(addressOf(c)); ok {
			return &connection{Conn: c, release: sync.OnceFunc(func() { l.release(client) })}, nil
		}
		<-l.open
		c.Close()
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// addressOf returns the client's address; the zero Addr for a connection that is not TCP.
func addressOf(c net.Conn) netip.Addr {
	from, ok := c.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return from.AddrPort().Addr().Unmap()
}

// acquire counts a connection of the client; it returns the zero Prefix for a connection that is exempt.
func (l *listener) acquire(a netip.Addr) (p netip.Prefix, ok bool) {
	if !a.IsValid() || l.Exempt != nil && l.Exempt(a) {
		return p, true
	}
	p = ClientPrefix(a)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.perClient[p] >= l.PerAddress {
		return p, false
	}
	l.perClient[p]++
	return p, true
}

func (l *listener) release(p netip.Prefix) {
	<-l.open
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.perClient[p]--; l.perClient[p] <= 0 {
		delete(l.perClient, p)
	}
}

// connection calls release when it is closed.
type connection struct {
	net.Conn
	release func()
}

func (c *connection) Close() error {
	defer c.release()
	return c.Conn.Close()
}

// CloseWrite closes the writing side. net/http calls it before it closes a connection whose request was not read
// completely, so that the client gets the whole response.
func (c *connection) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
