package admission

import (
	"net"
	"net/netip"
	"sync"
)

// Connections bounds how many are open.
type Connections struct {
	// Most is how many there are in all. Further ones wait to be accepted, in the kernel's queue.
	Most int
	// PerAddress is how many one [Place] has. Further ones are closed at once.
	PerAddress int
	// Exempt says whether an address may have any number, such as a proxy that connects for others;
	// nil: none may.
	Exempt func(netip.Addr) bool
}

// Place is whose an address is: an IPv4 address stands for itself, and one of IPv6 for the /64 that
// one site has (RFC 6177).
func Place(a netip.Addr) netip.Prefix {
	a = a.Unmap()
	bits := a.BitLen()
	if a.Is6() {
		bits = 64
	}
	prefix, _ := a.WithZone("").Prefix(bits) // of no address: none
	return prefix
}

// Listener accepts connections of another one within the bounds.
func (c Connections) Listener(l net.Listener) net.Listener {
	return &listener{Listener: l, Connections: c, free: make(chan struct{}, c.Most), closed: make(chan struct{}), open: make(map[netip.Prefix]int)}
}

type listener struct {
	net.Listener
	Connections
	free   chan struct{} // has an element for each connection
	closed chan struct{}
	once   sync.Once

	mu   sync.Mutex
	open map[netip.Prefix]int
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		select {
		case l.free <- struct{}{}:
		case <-l.closed:
			return nil, net.ErrClosed
		}
		c, err := l.Listener.Accept()
		if err != nil {
			<-l.free
			return nil, err
		}
		if place, ok := l.enter(addressOf(c)); ok {
			return &connection{Conn: c, leave: sync.OnceFunc(func() { l.leave(place) })}, nil
		}
		<-l.free
		c.Close()
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// addressOf is where a connection comes from; the zero Addr when that is no IP address.
func addressOf(c net.Conn) netip.Addr {
	from, ok := c.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return from.AddrPort().Addr().Unmap()
}

// enter counts a connection for its place, the zero one when nobody counts.
func (l *listener) enter(a netip.Addr) (p netip.Prefix, ok bool) {
	if !a.IsValid() || l.Exempt != nil && l.Exempt(a) {
		return p, true
	}
	p = Place(a)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[p] >= l.PerAddress {
		return p, false
	}
	l.open[p]++
	return p, true
}

func (l *listener) leave(p netip.Prefix) {
	<-l.free
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[p]--; l.open[p] <= 0 {
		delete(l.open, p)
	}
}

// connection leaves when it is closed.
type connection struct {
	net.Conn
	leave func()
}

func (c *connection) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// CloseWrite is what net/http asks for before it closes a connection of which not all was read, so that
// the client takes the answer for whole at once.
func (c *connection) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
