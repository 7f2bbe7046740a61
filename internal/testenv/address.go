package testenv

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// Address is [FreeAddress] of a test.
func Address(t testing.TB) string {
	t.Helper()
	address, err := FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// FreeAddress is one of this machine where nothing listens, and where nothing is going to: its port is not
// one of those that systems give to whoever asks for any. A server that is started there later, or again,
// finds it as it was.
func FreeAddress() (address string, err error) {
	for range 1000 {
		address = fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(6_000))
		var listener net.Listener
		if listener, err = net.Listen("tcp", address); err == nil {
			return address, listener.Close()
		}
	}
	return "", err
}
