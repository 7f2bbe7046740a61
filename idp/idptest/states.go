package idptest

import (
	"context"
	"crypto"
	"slices"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
)

var states = []rule{
	{name: "a State of others is refused", test: func(t testing.TB, b Backend, m idp.Method) {
		for _, state := range passed(t, b, m) {
			for name, change := range foreign {
				other := state
				change(&other)
				if other.Provider == state.Provider && other.Version != state.Version && b.reads(other.Version) {
					continue // and may take it for one
				}
				refused(t, b, other, name)
			}
		}
	}},

	{name: "a State that is cut off is refused", test: func(t testing.TB, b Backend, m idp.Method) {
		for _, state := range passed(t, b, m) {
			for i, whole := 1, state.Public; i < len(whole); i += 1 + len(whole)/16 {
				state.Public = whole[:i]
				refused(t, b, state, "that is cut off")
			}
		}
	}},

	{name: "a State that is damaged breaks nothing", test: func(t testing.TB, b Backend, m idp.Method) {
		for _, state := range passed(t, b, m) {
			for _, damaged := range unlikely {
				public, secret := state, state
				public.Public, secret.Secret = []byte(damaged), []byte(damaged)
				for _, next := range append(calls(b, public), calls(b, secret)...) {
					try(t.Context(), t, next) // that it comes back is all
				}
			}
		}
	}},
}

// unlikely are bytes that no provider has stored.
var unlikely = []string{
	"", "\x00", "null", "[]", "{}", "0", `"\ud800"`, strings.Repeat("[", 20_000), strings.Repeat(`{"a":`, 20_000),
}

// foreign are changes after which a State is not the provider's, or not one of this version.
var foreign = map[string]func(s *idp.State){
	"of nobody":             func(s *idp.State) { *s = idp.State{} },
	"of another provider":   func(s *idp.State) { s.Provider += "2" },
	"of no provider":        func(s *idp.State) { s.Provider = "" },
	"of a later version":    func(s *idp.State) { s.Version += 1000 },
	"of the version before": func(s *idp.State) { s.Version-- },
	"of version 0":          func(s *idp.State) { s.Version = 0 },
	"of an unreal version":  func(s *idp.State) { s.Version = -1 },
}

// reads says whether the provider may know States of a version.
func (b Backend) reads(version int) bool {
	return slices.ContainsFunc(b.Older, func(s Stored) bool { return s.State.Version == version })
}

// passed has a conversation, and returns the states that came by.
func passed(t testing.TB, b Backend, m idp.Method) []idp.State {
	t.Helper()
	var all []idp.State
	c := talk(t, b, m, Approves)
	for !c.over() {
		c.step()
		all = append(all, c.state())
	}
	return all
}

func refused(t testing.TB, b Backend, state idp.State, name string) {
	t.Helper()
	for _, next := range calls(b, state) {
		if _, event, err := try(t.Context(), t, next); err == nil {
			t.Errorf("a State %s is refused, but %s answers %T", name, next.name, event)
		}
	}
}

// calls are those that a State is for.
func calls(b Backend, state idp.State) []call {
	digest := ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA}.Digest(nil)
	return []call{
		{"Sign", func(ctx context.Context) (idp.State, idp.Event, error) {
			return b.Provider.Sign(ctx, state, []ades.Digest{digest})
		}},
		{"Poll", func(ctx context.Context) (idp.State, idp.Event, error) { return b.Provider.Poll(ctx, state) }},
	}
}
