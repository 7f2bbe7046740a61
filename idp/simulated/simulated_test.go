package simulated_test

import (
	"bytes"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/idptest"
	"github.com/innsigli/innsigli/idp/simulated"
)

var seed = bytes.Repeat([]byte{7}, 32)

func open(t testing.TB, o simulated.Options) *simulated.Provider {
	t.Helper()
	p, err := simulated.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// golden returns the States that conversations of version 1 have stored.
func golden(t testing.TB) []idptest.Stored {
	return idptest.Golden(t, "testdata/state-1", func() []idptest.Stored {
		b := idptest.Backend{Provider: open(t, simulated.Options{Seed: seed, Delay: time.Second}), Person: people()}
		app, sim := b.Person(t, idp.App, idptest.Approves), b.Person(t, idp.SIM, idptest.Approves)
		app.Method, sim.Method = idp.App, idp.SIM
		return append(idptest.Converse(t, b, app), idptest.Converse(t, b, sim)...)
	})
}

func TestProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { golden(t) }) // made in a bubble if at all, where it is to be read
	for name, delay := range map[string]time.Duration{"at once": 0, "after a delay": 3 * time.Second} {
		t.Run(name, func(t *testing.T) {
			lacks := map[idptest.Need]string{
				idptest.Breaks: "there is no way to it that could be faulty",
				idptest.Renews: "each conversation has a certificate of its own, for the person's only key",
			}
			if delay == 0 {
				lacks[idptest.Late] = "no person is late without a delay"
			}
			idptest.RunInBubble(t, func(t testing.TB) idptest.Backend {
				o := simulated.Options{Seed: seed, Delay: delay}
				return idptest.Backend{
					Provider: open(t, o),
					Methods:  []idp.Method{idp.App, idp.SIM},
					Person:   people(),
					Older:    golden(t),
					Reopen:   func(t testing.TB) idp.Provider { return open(t, o) },
					Lacks:    lacks,
				}
			})
		})
	}
}

// people returns a function that returns another person at each call, whose digits select the needed behaviour.
func people() func(testing.TB, idp.Method, idptest.Need) idp.Person {
	n := 0
	return func(_ testing.TB, _ idp.Method, need idptest.Need) idp.Person {
		n++
		status := map[idptest.Need]string{idptest.Refuses: "401", idptest.Silent: "504", idptest.Unknown: "105"}[need]
		if status == "" {
			status = "239"
		}
		return idp.Person{Kennitala: fmt.Sprintf("%07d%s", n, status), Phone: fmt.Sprintf("%04d%s", n, status)}
	}
}
