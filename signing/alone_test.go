package signing

import (
	"fmt"
	"testing"
	"time"

	"github.com/innsigli/innsigli/idp"
)

// TestKeptAnswersAreBounded checks that as many answers are kept as may be, that those are dropped whose time is over, and
// that the answer of a request whose lease is held stays.
func TestKeptAnswersAreBounded(t *testing.T) {
	now := time.Now()
	var a alone
	keep := func(id string, at time.Time) bool {
		t.Helper()
		return a.keep(&Request{ID: id, Expires: at.Add(time.Minute), State: idp.State{Key: "kept"}}, at)
	}
	kept := func(id string) bool {
		r := Request{ID: id}
		a.complement(&r)
		return r.State.Key == "kept"
	}
	if _, ok := a.acquire("held"); !ok {
		t.Fatal("held")
	}
	for _, id := range []string{"held", "free"} {
		if !keep(id, now) {
			t.Fatal("no room")
		}
	}
	later := now.Add(2 * time.Minute)
	for n := range maxWaits - 2 {
		if !keep(fmt.Sprint(n), later) {
			t.Fatalf("no room after %d", n)
		}
	}
	if !keep("one", later) || keep("another", later) || len(a.waits) != maxWaits {
		t.Errorf("%d are kept", len(a.waits))
	}
	if !kept("held") || kept("free") || !kept("0") || !kept("one") {
		t.Error("the answer of a request whose lease is held is dropped, or another one is not")
	}
	if !keep("0", later) {
		t.Error("an answer is not replaced")
	}
}
