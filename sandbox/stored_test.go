package sandbox

import (
	"testing"

	"github.com/innsigli/innsigli/idp/idptest"
)

// What version 1 has stored is read without loss. That it also goes on is in TestProvider.
func TestStoredStatesStayReadable(t *testing.T) {
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
