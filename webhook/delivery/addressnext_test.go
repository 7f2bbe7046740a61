package delivery

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/internal/netguard"
)

// 127.0.0.1 stands for a public address and is allowed; 127.0.0.2 is not. What the name leads to is
// judged at each connection, and so is each of the addresses of one answer.
func TestNameThatLeadsElsewhereTheNextTime(t *testing.T) {
	t.Parallel()
	public, private := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.0.0.2")
	ours := newAuthority(t)
	certificate := ours.issue(x509.Certificate{DNSNames: []string{"hooks.example.com"}})
	listener, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	connectedTo := make(chan netip.Addr, 100)
	serveOn(t, listener, func(c net.Conn) {
		connectedTo <- c.LocalAddr().(*net.TCPAddr).AddrPort().Addr().Unmap()
		secured := tls.Server(c, &tls.Config{Certificates: []tls.Certificate{certificate}})
		if readRequest(secured) {
			secured.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
		}
	})
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}

	ok := answer{status: http.StatusOK}
	refused := answer{failure: BadAddress, detail: "The host leads to an address that is not public."}
	rounds := []struct {
		answers []netip.Addr
		want    answer
	}{
		{[]netip.Addr{public}, ok},
		{[]netip.Addr{private}, refused},
		{[]netip.Addr{private, public}, ok},
		{[]netip.Addr{public, private}, ok},
		{[]netip.Addr{private}, refused},
	}
	e := Endpoints{Roots: ours.roots}
	dialer := e.dialer()
	dialer.Control = netguard.Guard{Allowed: []netip.Prefix{netip.PrefixFrom(public, 32)}}.Control
	dialer.Resolver = newNameServer(t, func(name string, asked int) []netip.Addr {
		if name != "hooks.example.com." || asked > len(rounds) {
			return nil
		}
		return rounds[asked-1].answers
	}).resolver()
	s := newSenderWith(e, ample, dialer)
	defer s.close()
	for i, round := range rounds {
		a := s.post(t.Context(), messageTo("https://hooks.example.com:"+port+"/"))
		if diff := cmp.Diff(round.want, untimed(a), cmp.AllowUnexported(answer{})); diff != "" {
			t.Errorf("round %d: %s", i, diff)
		}
	}
	for range 3 {
		if a := <-connectedTo; a != public {
			t.Errorf("a connection to %v", a)
		}
	}
	if len(connectedTo) > 0 {
		t.Errorf("one more connection, to %v", <-connectedTo)
	}
}

// The sender as it is takes a public address for one, and the private one of the next answer not.
// From the loopback interface the public one is out of reach, so that nothing leaves the machine.
func TestPublicFirstAndPrivateNext(t *testing.T) {
	t.Parallel()
	port, connections := everywhere(t)
	var e Endpoints
	dialer := e.dialer()
	dialer.LocalAddr = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}
	dialer.Resolver = newNameServer(t, func(_ string, asked int) []netip.Addr {
		return []netip.Addr{netip.MustParseAddr([]string{"1.1.1.1", "127.0.0.1"}[min(asked, 2)-1])}
	}).resolver()
	s := newSenderWith(e, ample, dialer)
	defer s.close()
	for i, want := range []Failure{NoConnection, BadAddress, BadAddress} {
		if a := s.post(t.Context(), messageTo("https://hooks.example.com:"+port+"/")); a.failure != want {
			t.Errorf("request %d: %+v, want %s", i, a, want)
		}
	}
	if n := connections.Load(); n != 0 {
		t.Errorf("%d connections", n)
	}
}

// A name server that does not answer takes no more time than there is.
func TestSilentNameServer(t *testing.T) {
	t.Parallel()
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	var e Endpoints
	dialer := e.dialer()
	dialer.Resolver = (&nameServer{address: socket.LocalAddr().String()}).resolver()
	s := newSenderWith(e, 200*time.Millisecond, dialer)
	defer s.close()
	want := answer{failure: TimedOut, detail: "There was no connection within 15 seconds."}
	if diff := cmp.Diff(want, untimed(s.post(t.Context(), messageTo("https://hooks.example.com/"))), cmp.AllowUnexported(answer{})); diff != "" {
		t.Error(diff)
	}
}

// With private addresses allowed, those of links are not.
func TestLinkLocalIsRefusedAlways(t *testing.T) {
	t.Parallel()
	e := Endpoints{AllowPrivate: true}
	dialer := e.dialer()
	names := map[string]string{"a.example.com.": "169.254.169.254", "b.example.com.": "fd00:ec2::254", "c.example.com.": "fe80::1", "d.example.com.": "0.0.0.0"}
	dialer.Resolver = newNameServer(t, func(name string, _ int) []netip.Addr {
		if a, ok := names[name]; ok {
			return []netip.Addr{netip.MustParseAddr(a)}
		}
		return nil
	}).resolver()
	s := newSenderWith(e, ample, dialer)
	defer s.close()
	for name, address := range names {
		a := s.post(t.Context(), messageTo("http://"+strings.TrimSuffix(name, ".")+"/"))
		if a.failure != BadAddress && !(netip.MustParseAddr(address).Is6() && withoutIPv6()) {
			t.Errorf("%s: %+v", address, a)
		}
	}
}
