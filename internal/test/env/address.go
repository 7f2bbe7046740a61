package env

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
)

// Address is [FreeAddress] of a test, until its end.
func Address(t testing.TB) string {
	t.Helper()
	address, claim, err := claimAddress()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { claim.Close() })
	return address
}

// FreeAddress is one of this machine where nothing listens, and where nothing is going to: its port is not
// one of those that systems give to listeners on port 0, and no other process that asks here gets it while this
// one runs. A server that is started there later, or again, finds it as it was.
func FreeAddress() (string, error) {
	address, claim, err := claimAddress()
	if err == nil {
		claims.Lock()
		defer claims.Unlock()
		claims.kept = append(claims.kept, claim)
	}
	return address, err
}

// claims are kept until the process ends.
var claims struct {
	sync.Mutex
	kept []net.PacketConn
}

// claimAddress returns an address that is the caller's until the claim is closed: a UDP socket of the same port, of
// which the system gives out one at a time, to whatever user, and which it takes back when the process ends. The TCP
// port itself stays free for the server.
func claimAddress() (address string, claim net.PacketConn, err error) {
	for range 10_000 {
		address = fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(6_000))
		if claim, err = net.ListenPacket("udp", address); err != nil {
			continue
		}
		var listener net.Listener
		if listener, err = net.Listen("tcp", address); err == nil {
			return address, claim, listener.Close()
		}
		claim.Close()
	}
	return "", nil, err
}
