package hashstate

import (
	"bytes"
	"crypto"
	_ "crypto/sha1"
	_ "crypto/sha256"
	_ "crypto/sha3"
	_ "crypto/sha512"
	"hash"
	"io"
	"testing"
)

// TestRestore checks that two hashes can continue from one state of each hash function, and that
// the state of another function is refused.
func TestRestore(t *testing.T) {
	for _, function := range []crypto.Hash{
		crypto.SHA1, crypto.SHA224, crypto.SHA256, crypto.SHA384, crypto.SHA512, crypto.SHA3_256, crypto.SHA3_384, crypto.SHA3_512,
	} {
		begun, want := function.New(), function.New()
		io.WriteString(begun, "first ")
		io.WriteString(want, "first second")
		state, err := Save(begun)
		if err != nil {
			t.Fatalf("%v: %v", function, err)
		}
		for range 2 {
			h, err := Restore(function, state)
			if err != nil {
				t.Fatalf("%v: %v", function, err)
			}
			io.WriteString(h, "second")
			if !bytes.Equal(h.Sum(nil), want.Sum(nil)) {
				t.Errorf("%v: got %x, want %x", function, h.Sum(nil), want.Sum(nil))
			}
		}
		other := crypto.SHA256
		if function == other {
			other = crypto.SHA224
		}
		for _, refused := range []struct {
			name     string
			function crypto.Hash
			state    []byte
		}{
			{"no state", function, nil},
			{"cut off", function, state[:len(state)-1]},
			{"another function", other, state},
		} {
			if _, err := Restore(refused.function, refused.state); err == nil {
				t.Errorf("%v: %s: got no error", function, refused.name)
			}
		}
	}
}

// TestUnsupported checks a hash without a state, and a hash function that is not available.
func TestUnsupported(t *testing.T) {
	if _, err := Save(struct{ hash.Hash }{crypto.SHA256.New()}); err == nil {
		t.Error("Save: got no error")
	}
	for _, function := range []crypto.Hash{0, crypto.MD4} {
		if _, err := Restore(function, nil); err == nil {
			t.Errorf("Restore of %d: got no error", function)
		}
	}
}
