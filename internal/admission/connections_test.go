package admission

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// queue is a listener whose connections have addresses that the test chooses.
type queue chan net.Conn

func (q queue) Accept() (net.Conn, error) {
	c, ok := <-q
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (q queue) Close() error   { return nil }
func (q queue) Addr() net.Addr { return &net.TCPAddr{} }

type clientConn struct {
	net.Conn
	from   net.Addr
	closed *bool
}

func (c clientConn) RemoteAddr() net.Addr { return c.from }

func (c clientConn) Close() error {
	*c.closed = true
	return nil
}

// connect adds a connection from the address.
func (q queue) connect(address string) (closed *bool) {
	closed = new(bool)
	q <- clientConn{from: net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(address), 1)), closed: closed}
	return closed
}

func TestConnectionLimit(t *testing.T) {
	q := make(queue, 20)
	l := ConnectionLimit{Max: 7, PerAddress: 2, Exempt: func(a netip.Addr) bool { return a == netip.MustParseAddr("192.0.2.9") }}.Listener(q)
	want := []string{
		"192.0.2.1", "192.0.2.1", // the maximum
		"2001:db8:0:1::1", "2001:db8:0:1:ffff::2", // one site
		"192.0.2.9", "192.0.2.9", "192.0.2.9", // a proxy
	}
	for _, from := range want {
		q.connect(from)
	}
	more := []*bool{q.connect("192.0.2.1"), q.connect("::ffff:192.0.2.1"), q.connect("2001:db8:0:1::3")}
	last := q.connect("2001:db8:0:2::1")
	var got []string
	var open []net.Conn
	for range want {
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		open, got = append(open, c), append(got, c.RemoteAddr().(*net.TCPAddr).IP.String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	next := make(chan net.Conn)
	go func() {
		c, err := l.Accept()
		if err != nil {
			t.Error(err)
		}
		next <- c
	}()
	select {
	case c := <-next:
		t.Fatalf("a connection above the maximum, from %v", c.RemoteAddr())
	default:
	}
	open[6].Close()
	open[6].Close() // counts once
	if c := <-next; c.RemoteAddr().String() != "[2001:db8:0:2::1]:1" {
		t.Errorf("from %v", c.RemoteAddr())
	}
	for i, closed := range more {
		if !*closed {
			t.Errorf("the excess connection %d was not closed", i)
		}
	}
	if *last {
		t.Error("a permitted connection was closed")
	}
}

// Close ends an Accept that waits for the end of another connection.
func TestCloseAtTheLimit(t *testing.T) {
	q := make(queue, 2)
	l := ConnectionLimit{Max: 1, PerAddress: 1}.Listener(q)
	q.connect("192.0.2.1")
	if _, err := l.Accept(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		_, err := l.Accept()
		ended <- err
	}()
	l.Close()
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

// A counted connection supports CloseWrite like other TCP connections.
func TestCloseWrite(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := ConnectionLimit{Max: 1, PerAddress: 1}.Listener(inner)
	defer l.Close()
	near, err := net.Dial("tcp", inner.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	if err := far.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if n, err := near.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("%d bytes, %v", n, err)
	}
	if _, err := near.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if n, err := far.Read(make([]byte, 1)); n != 1 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}

func TestClientPrefix(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.1": "192.0.2.1/32", "::ffff:192.0.2.1": "192.0.2.1/32", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64", "fe80::1%eth0": "fe80::/64",
	} {
		if got := ClientPrefix(netip.MustParseAddr(address)).String(); got != want {
			t.Errorf("%s has the prefix %s, want %s", address, got, want)
		}
	}
	if ClientPrefix(netip.Addr{}).IsValid() {
		t.Error("the zero Addr has a prefix")
	}
}
