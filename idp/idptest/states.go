package idptest

import (
	"context"
	"crypto"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
)

var states = []rule{
	{name: "a foreign State is refused", test: func(t testing.TB, b Backend, m idp.Method) {
		for _, state := range allStates(t, b, m) {
			for name, change := range foreign {
				other := state
				change(&other)
				if other.Provider == state.Provider && other.Version != state.Version && b.reads(other.Version) {
					continue // the provider may read it as one of that version
				}
				mustRefuse(t, b, other, name)
			}
		}
	}},

	{name: "a truncated State is refused", test: func(t testing.TB, b Backend, m idp.Method) {
		for _, state := range allStates(t, b, m) {
			for i, whole := 1, state.Public; i < len(whole); i += 1 + len(whole)/16 {
				state.Public = whole[:i]
				mustRefuse(t, b, state, "that is cut off")
			}
		}
	}},

	{name: "a damaged State does not panic", test: func(t testing.TB, b Backend, m idp.Method) {
		for _, state := range allStates(t, b, m) {
			for _, damaged := range malformed {
				public, secret := state, state
				public.Public, secret.Secret = []byte(damaged), []byte(damaged)
				for _, next := range append(calls(b, public), calls(b, secret)...) {
					try(t.Context(), t, next) // it must not panic
				}
			}
		}
	}},
}

// malformed are bytes that no provider has stored.
var malformed = []string{
	"", "\x00", "null", "[]", "{}", "0", `"\ud800"`, strings.Repeat("[", 20_000), strings.Repeat(`{"a":`, 20_000),
}

// foreign has changes after which a State is not one of the provider, or not one of its version.
var foreign = map[string]func(s *idp.State){
	"that is empty":         func(s *idp.State) { *s = idp.State{} },
	"of another provider":   func(s *idp.State) { s.Provider += "2" },
	"of no provider":        func(s *idp.State) { s.Provider = "" },
	"of a later version":    func(s *idp.State) { s.Version += 1000 },
	"of the version before": func(s *idp.State) { s.Version-- },
	"of version 0":          func(s *idp.State) { s.Version = 0 },
	"of an unreal version":  func(s *idp.State) { s.Version = -1 },
}

// reads reports whether the provider may read States of a version.
func (b Backend) reads(version int) bool {
	return slices.ContainsFunc(b.Older, func(s Stored) bool { return s.State.Version == version })
}

// allStates has a conversation and returns the State after each call.
func allStates(t testing.TB, b Backend, m idp.Method) []idp.State {
	t.Helper()
	var all []idp.State
	c := begin(t, b, m, Approves)
	for !c.over() {
		c.step()
		all = append(all, c.state())
	}
	return all
}

// mustRefuse checks that Sign and Poll return an error for a State.
func mustRefuse(t testing.TB, b Backend, state idp.State, name string) {
	t.Helper()
	for _, next := range calls(b, state) {
		if _, event, err := try(t.Context(), t, next); err == nil {
			t.Errorf("a State %s is refused, but %s answers %T", name, next.name, event)
		}
	}
}

// calls returns the calls that take a State.
func calls(b Backend, state idp.State) []call {
	digest := ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA}.Digest(nil)
	return []call{
		{"Sign", func(ctx context.Context) (idp.State, idp.Event, error) {
			return b.Provider.Sign(ctx, state, []ades.Digest{digest})
		}},
		{"Poll", func(ctx context.Context) (idp.State, idp.Event, error) { return b.Provider.Poll(ctx, state) }},
	}
}

// Stored is a conversation as stored after one of its calls.
type Stored struct {
	Name        string        `json:"-"` // of the file, without extension
	State       idp.State     `json:"state"`
	Person      idp.Person    `json:"person"`                // of Begin
	Code        string        `json:"code,omitempty"`        // the code that was shown
	Certificate []byte        `json:"certificate,omitempty"` // of the last NeedDigest, DER
	Signs       []ades.Digest `json:"signs,omitempty"`       // of the last Sign
}

// Golden reads the files of a folder, each of which is a Stored in JSON. If the folder does not exist and the
// environment variable INNSIGLI_GOLDEN is "1", Golden first writes what make returns. The author does this once for
// each Version of the States.
func Golden(t testing.TB, folder string, make func() []Stored) []Stored {
	t.Helper()
	if _, err := os.Stat(folder); os.IsNotExist(err) && os.Getenv("INNSIGLI_GOLDEN") == "1" {
		write(t, folder, make())
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("nothing is stored in %s: %v", folder, err)
	}
	all := []Stored{}
	for _, file := range files {
		s := Stored{Name: strings.TrimSuffix(filepath.Base(file), ".json")}
		encoded, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(encoded, &s)
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, s)
	}
	return all
}

// write writes the files of Golden.
func write(t testing.TB, folder string, all []Stored) {
	t.Helper()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		encoded, err := json.MarshalIndent(s, "", "\t")
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, s.Name+".json"), append(encoded, '\n'), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Converse has a conversation with a person who approves, and returns a Stored for each call, for [Golden].
func Converse(t testing.TB, b Backend, p idp.Person) (all []Stored) {
	t.Helper()
	c := beginWith(t, b, p)
	for !c.over() {
		c.step()
		name := fmt.Sprintf("%s-%d-%s", strings.ToLower(string(p.Method)), len(c.results), strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", c.event), "idp.")))
		s := Stored{Name: name, State: c.state(), Person: p, Code: c.code, Signs: c.signs}
		if c.need.Certificate != nil {
			s.Certificate = c.need.Certificate.Raw
		}
		all = append(all, s)
	}
	return all
}

// SameState fails the test unless two States are equal apart from the order of members in their JSON: one that was
// stored, and one that the provider stores after reading it.
func SameState(t testing.TB, want, got idp.State) {
	t.Helper()
	for _, parts := range [][2]*[]byte{{&want.Public, &got.Public}, {&want.Secret, &got.Secret}} {
		if a, b := value(t, *parts[0]), value(t, *parts[1]); !reflect.DeepEqual(a, b) {
			t.Errorf("stored were %v, and would be %v", a, b)
		}
		*parts[0], *parts[1] = nil, nil
	}
	if !reflect.DeepEqual(want, got) {
		t.Errorf("stored was %+v, and would be %+v", want, got)
	}
}

// value decodes JSON.
func value(t testing.TB, encoded []byte) (v any) {
	t.Helper()
	if len(encoded) == 0 {
		return nil
	}
	if err := json.Unmarshal(encoded, &v); err != nil {
		t.Errorf("what is stored is no JSON: %v", err)
	}
	return v
}

// stored has the rules for States that earlier versions have stored.
var stored = []rule{
	{name: "a State of an earlier version continues or is refused", needs: []Need{Keeps}, test: func(t testing.TB, b Backend, m idp.Method) {
		present := allStates(t, b, m)[0].Version
		for _, old := range b.Older {
			if old.Person.Method == m {
				c := resume(t, b, old)
				c.outdated = old.State.Version < present
				finish(c, old.Name)
			}
		}
	}},
}

// resume returns a stored conversation that has not expired.
func resume(t testing.TB, b Backend, old Stored) *conversation {
	t.Helper()
	c := beginWith(t, b, old.Person)
	old.State.Expires = time.Now().Add(time.Minute)
	c.store(old.State)
	c.key, c.event, c.start = old.State.Key, idp.Waiting{}, false
	c.code, c.codeAtStart, c.signs = old.Code, true, slices.Clone(old.Signs)
	if old.Certificate != nil {
		var err error
		if c.need.Certificate, err = x509.ParseCertificate(old.Certificate); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// finish continues a conversation to its end. The provider may refuse only a State of an earlier version.
func finish(c *conversation, name string) {
	c.t.Helper()
	for !c.over() {
		next := c.next()
		state, event, err := try(c.t.Context(), c.t, next)
		if err != nil {
			if !c.outdated {
				c.t.Errorf("a State of the present version is not refused, but %s of %s: %v", next.name, name, err)
			}
			return
		}
		c.accept(next, state, event)
	}
}
