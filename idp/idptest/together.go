package idptest

import (
	"sync"
	"testing"

	"github.com/innsigli/innsigli/idp"
)

var together = []rule{
	{name: "conversations side by side do not mix", test: func(t testing.TB, b Backend, m idp.Method) {
		all := []*conversation{talk(t, b, m, Approves), talk(t, b, m, Approves), talk(t, b, m, Approves)}
		for going := true; going; {
			going = false
			for _, c := range all {
				if !c.over() {
					going = true
					c.step()
				}
			}
		}
		for _, c := range all {
			must[idp.Signed](c)
		}
	}},

	{name: "conversations go on at the same time", test: func(t testing.TB, b Backend, m idp.Method) {
		var all []*conversation
		for range 8 {
			all = append(all, talk(t, b, m, Approves))
		}
		var going sync.WaitGroup
		for _, c := range all {
			going.Go(func() {
				for !c.over() {
					c.step()
				}
			})
		}
		going.Wait()
		for _, c := range all {
			if !is[idp.Signed](c.event) {
				t.Errorf("the conversation ends in Signed, but after %q: %+v", c.seen, c.event)
			}
		}
	}},
}
