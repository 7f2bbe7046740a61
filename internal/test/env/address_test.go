package env

import (
	"net"
	"testing"
)

// Address returns another address each time, although no server listens at the earlier ones yet; a server can listen
// at each of them.
func TestAddressesAreApart(t *testing.T) {
	seen := make(map[string]bool)
	t.Run("of one test", func(t *testing.T) {
		for range 300 {
			address := Address(t)
			if seen[address] {
				t.Fatalf("%s was given out twice", address)
			}
			seen[address] = true
			server, err := net.Listen("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			server.Close()
		}
	})
	address, err := FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	if claim, err := net.ListenPacket("udp", address); err == nil { // as another process would
		claim.Close()
		t.Errorf("%s can be claimed again", address)
	}
}
