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

// FreeAddress is one of this machine where nothing listens, and where nothing is going to: a server that is
// started there later, or again, finds it as it was.
func FreeAddress() (string, error) {
	listener, err := Listen()
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// Listen listens at a port that is not one of those that systems give to whoever asks for any.
func Listen() (listener net.Listener, err error) {
	for range 1000 {
		if listener, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(6_000))); err == nil {
			return listener, nil
		}
	}
	return nil, err
}
