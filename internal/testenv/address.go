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
// one of those that a system gives to whoever asks for any. A server that is started there later, or again,
// finds it as it was.
func FreeAddress() (string, error) {
	var last error
	for range 1000 {
		address := fmt.Sprintf("127.0.0.1:%d", 20_000+rand.IntN(10_000))
		listener, err := net.Listen("tcp", address)
		if err == nil {
			return address, listener.Close()
		}
		last = err
	}
	return "", last
}
