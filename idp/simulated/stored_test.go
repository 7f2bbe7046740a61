package simulated

import (
	"testing"

	"github.com/innsigli/innsigli/idp/idptest"
)

// TestGoldenStates checks that States of version 1 are read without loss. TestProvider checks that their conversations
// continue.
func TestGoldenStates(t *testing.T) {
	for _, old := range idptest.Golden(t, "testdata/state-1", nil) {
		c, err := decode(old.State)
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := c.encode(old.State, nil)
		if err != nil {
			t.Fatal(err)
		}
		idptest.SameState(t, old.State, again)
	}
}
