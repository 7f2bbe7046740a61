package idptest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/idptest"
	"github.com/innsigli/innsigli/idp/simulated"
)

// The provider under test is that of package simulated.
func Example() {
	TestProvider := func(t *testing.T) { // a function of the provider's package
		idptest.RunInBubble(t, simulation)
	}
	_ = TestProvider
}

// simulation returns a backend for one test.
func simulation(t testing.TB) idptest.Backend {
	open := func(t testing.TB) idp.Provider {
		p, err := simulated.New(simulated.Options{Seed: []byte("the same in all of them"), Delay: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	digits := map[idptest.Need]string{idptest.Refuses: "401", idptest.Silent: "504", idptest.Unknown: "105"}
	people := 0
	return idptest.Backend{
		Provider: open(t),
		Methods:  []idp.Method{idp.App, idp.SIM},
		Person: func(t testing.TB, m idp.Method, n idptest.Need) idp.Person {
			last, special := digits[n]
			if !special {
				last = "239"
			}
			people++
			return idp.Person{Kennitala: fmt.Sprintf("%07d%s", people, last), Phone: fmt.Sprintf("%04d%s", people, last)}
		},
		Reopen: open,
		Lacks: map[idptest.Need]string{
			idptest.Breaks: "there is no way to it that could be faulty",
			idptest.Renews: "each conversation has a certificate of its own",
			idptest.Keeps:  "nothing was ever stored",
		},
	}
}

// TestExample runs the suite of the example.
func TestExample(t *testing.T) { idptest.RunInBubble(t, simulation) }
