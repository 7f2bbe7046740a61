package delivery

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/innsigli/innsigli/internal/netguard"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// everywhere listens on all addresses of the machine and counts connections.
func everywhere(t *testing.T) (port string, connections *atomic.Int32) {
	t.Helper()
	listener, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	connections = new(atomic.Int32)
	serveOn(t, listener, func(net.Conn) { connections.Add(1) })
	_, port, err = net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port, connections
}

// refusedHosts are hosts to which no request goes, in all notations that a resolver or browser knows.
var refusedHosts = strings.Fields(`
	localhost LOCALHOST localhost. a.localhost localhost.localdomain printer.local metadata.google.internal router.home.arpa intranet
	127.0.0.1 127.0.0.1. 127.1 127.0.1 127.255.255.254 2130706433 0x7f000001 017700000001 0x7f.1 0177.0.0.1 0177.0x0.0.1 0x7F.0.0.0x1
	00000177.0.0.1 127.0.0.01 0 0x 0.0.0.0 00.0.0.0 10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1 0xc0a80001 3232235521
	100.64.0.1 100.127.255.255 100.100.100.200 169.254.169.254 0xa9fea9fe 2852039166 0251.0376.0251.0376 169.254.43518 169.254.0.1
	168.63.129.16 192.0.0.1 192.0.0.192 192.0.2.1 192.31.196.1 192.52.193.1 192.88.99.1 192.175.48.1 198.18.0.1 198.51.100.1 203.0.113.1
	224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 256.0.0.1 127.0.0.0.1 4294967296
	[::] [::1] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:169.254.169.254] [::ffff:0:127.0.0.1] [::127.0.0.1]
	[fe80::1] [fe80::1%25lo] [fec0::1] [fc00::1] [fd00:ec2::254] [fd20:ce::254] [ff02::1] [100::1] [64:ff9b::7f00:1] [64:ff9b::a9fe:a9fe]
	[64:ff9b:1::7f00:1] [2001::1] [2001:db8::1] [2002:7f00:1::] [2002:a9fe:a9fe::1] [2620:4f:8000::1] [3fff::1] [5f00::1]
	１２７.0.0.1 127。0。0。1 ①②⑦.0.0.1 127.0.0.1%00 %31%32%37.0.0.1 localhost%2eexample.com
	user@127.0.0.1 user:password@localhost @127.0.0.1 example.com@127.0.0.1 example.com\@127.0.0.1 127.0.0.1\@example.com 127.0.0.1#@example.com`)

// No request is made to these hosts. If the URL's form were not checked, the dialer would not connect either. All
// names here resolve to local addresses.
func TestRefusedAddresses(t *testing.T) {
	t.Parallel()
	if len(refusedHosts) < 60 {
		t.Fatal(len(refusedHosts), "hosts")
	}
	port, connections := everywhere(t)
	var e Endpoints
	dialer := e.dialer()
	refuseTheRest(t, dialer)
	dialer.Resolver = newNameServer(t, func(string, int) []netip.Addr {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::1")}
	}).resolver()
	s := newSenderWith(e, ample, dialer)
	defer s.close()
	for _, host := range refusedHosts {
		for _, url := range []string{"https://" + host + ":" + port + "/", "https://" + host + "/"} {
			if checkURL(url, false) == "" {
				t.Errorf("%s: allowed", url)
			}
			if a := s.post(t.Context(), messageTo(url)); a.status != 0 || a.failure != BadAddress {
				t.Errorf("%s: %+v", url, a)
			}
		}
		if c, err := s.transport.DialContext(t.Context(), "tcp", net.JoinHostPort(strings.Trim(host, "[]"), port)); err == nil {
			c.Close()
			t.Errorf("%s: connected", host)
		}
	}
	if n := connections.Load(); n != 0 {
		t.Errorf("%d connections", n)
	}
	t.Run("without a guard they would be reached", func(t *testing.T) {
		dialer.Control = nil
		for _, host := range []string{"localhost", "intranet", "127.0.0.1", "::ffff:127.0.0.1", "0.0.0.0"} {
			before := connections.Load()
			c, err := dialer.DialContext(t.Context(), "tcp", net.JoinHostPort(host, port))
			if err != nil {
				t.Errorf("%s: %v", host, err)
				continue
			}
			c.Close()
			testenv.Wait(t, "the connection to be counted", func() bool { return connections.Load() > before })
		}
	})
}

// refuseTheRest fails the test if the guard permits an address, and does not wait for a connection.
func refuseTheRest(t *testing.T, d *net.Dialer) {
	guard := d.Control
	d.Control = func(network, address string, c syscall.RawConn) error {
		if err := guard(network, address, c); err != nil {
			return err
		}
		t.Errorf("%s is dialled", address)
		return syscall.ECONNREFUSED
	}
}

// A public name may resolve to any address. The check is of the address to which the sender connects.
func TestNamesThatLeadToRefusedAddresses(t *testing.T) {
	t.Parallel()
	port, connections := everywhere(t)
	names := make(map[string]netip.Addr)
	for _, host := range refusedHosts {
		if a, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil && a.Zone() == "" {
			names[fmt.Sprintf("a%d.example.com", len(names))] = a
		}
	}
	if len(names) < 50 {
		t.Fatal(len(names), "addresses")
	}
	var e Endpoints
	dialer := e.dialer()
	refuseTheRest(t, dialer)
	dialer.Resolver = newNameServer(t, func(name string, _ int) []netip.Addr {
		if a, ok := names[strings.TrimSuffix(name, ".")]; ok {
			return []netip.Addr{a}
		}
		return nil
	}).resolver()
	s := newSenderWith(e, ample, dialer)
	defer s.close()
	want := answer{failure: BadAddress, detail: "The host resolves to an address that is not public."}
	for name, address := range names {
		a := s.post(t.Context(), messageTo("https://"+name+":"+port+"/"))
		if diff := cmp.Diff(want, untimed(a), cmp.AllowUnexported(answer{})); diff != "" && !(address.Is6() && withoutIPv6()) {
			t.Errorf("%v: %s", address, diff)
		}
	}
	if n := connections.Load(); n != 0 {
		t.Errorf("%d connections", n)
	}
	want = answer{failure: NoName, detail: "The host name was not found."}
	if diff := cmp.Diff(want, untimed(s.post(t.Context(), messageTo("https://unknown.example.com/"))), cmp.AllowUnexported(answer{})); diff != "" {
		t.Error(diff)
	}
}

// withoutIPv6 reports whether the machine has no IPv6.
func withoutIPv6() bool {
	l, err := net.Listen("tcp6", "[::1]:0")
	if err == nil {
		l.Close()
	}
	return err != nil
}

// nameServer answers over UDP as the test requires, and counts the questions for each name.
type nameServer struct {
	address string
	answers func(name string, asked int) []netip.Addr // the empty list: there is no such name

	mu    sync.Mutex
	asked map[dnsmessage.Question]int
}

func newNameServer(t *testing.T, answers func(name string, asked int) []netip.Addr) *nameServer {
	t.Helper()
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &nameServer{address: socket.LocalAddr().String(), answers: answers, asked: make(map[dnsmessage.Question]int)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for packet := make([]byte, 1<<16); ; {
			n, from, err := socket.ReadFrom(packet)
			if err != nil {
				return
			}
			if reply := s.reply(packet[:n]); reply != nil {
				socket.WriteTo(reply, from)
			}
		}
	}()
	t.Cleanup(func() {
		socket.Close()
		<-ended
	})
	return s
}

// resolver returns a resolver that asks only the name server.
func (s *nameServer) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", s.address)
	}}
}

func (s *nameServer) reply(query []byte) []byte {
	var m dnsmessage.Message
	if m.Unpack(query) != nil || len(m.Questions) != 1 {
		return nil
	}
	q := m.Questions[0]
	s.mu.Lock()
	s.asked[q]++
	found := s.answers(q.Name.String(), s.asked[q])
	s.mu.Unlock()
	m = dnsmessage.Message{Header: dnsmessage.Header{ID: m.ID, Response: true, RecursionDesired: true, RecursionAvailable: true}, Questions: m.Questions}
	if len(found) == 0 {
		m.RCode = dnsmessage.RCodeNameError
	}
	for _, a := range found {
		header := dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET}
		switch {
		case q.Type == dnsmessage.TypeA && a.Is4():
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: a.As4()}})
		case q.Type == dnsmessage.TypeAAAA && a.Is6():
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
		}
	}
	reply, err := m.Pack()
	if err != nil {
		return nil
	}
	return reply
}

// 127.0.0.1 stands for a public address, which is permitted, and 127.0.0.2 is not. The address is checked at each
// connection, and so is each address of one answer.
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
	refused := answer{failure: BadAddress, detail: "The host resolves to an address that is not public."}
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

// A name server that does not answer does not extend the time of a request.
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

// Link-local addresses are refused even if private addresses are permitted.
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
