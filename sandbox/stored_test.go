package sandbox

import (
	"testing"

	"github.com/innsigli/innsigli/idp/idptest"
)

// States that version 1 stored are decoded and encoded without a change. TestProvider continues their conversations.
func TestGoldenStates(t *testing.T) {
	for _, old := range idptest.Golden(t, "testdata/state-1", nil) {
		c, err := decodeConversation(old.State)
		if err != nil {
			t.Fatal(err)
		}
		again, err := c.encode(old.State)
		if err != nil {
			t.Fatal(err)
		}
		idptest.SameState(t, old.State, again)
	}
}
