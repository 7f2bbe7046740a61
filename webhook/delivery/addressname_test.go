package delivery

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// nameServer answers over UDP what the test has it answer. It counts the questions for each name.
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

// resolver asks the name server and nobody else.
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
