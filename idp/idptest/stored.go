package idptest

import (
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

// Stored is what was stored of a conversation after one of its calls.
type Stored struct {
	Name        string        `json:"-"` // of its file
	State       idp.State     `json:"state"`
	Person      idp.Person    `json:"person"`                // Begin's
	Code        string        `json:"code,omitempty"`        // that was shown
	Certificate []byte        `json:"certificate,omitempty"` // of the last NeedDigest, DER
	Signs       []ades.Digest `json:"signs,omitempty"`       // what Sign was called with last
}

// Golden reads what is stored in a folder, a file of JSON each. A folder that is not there is
// made first, of what make returns, if INNSIGLI_GOLDEN is "1" in the environment: once for each
// Version of the States.
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

// Converse has a conversation with a person, who approves, and returns what was stored after
// each call, for [Golden].
func Converse(t testing.TB, b Backend, p idp.Person) (all []Stored) {
	t.Helper()
	c := with(t, b, p)
	for !c.over() {
		c.step()
		name := fmt.Sprintf("%s-%d-%s", strings.ToLower(string(p.Method)), len(c.seen), strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", c.event), "idp.")))
		s := Stored{Name: name, State: c.state(), Person: p, Code: c.code, Signs: c.signs}
		if c.asked.Certificate != nil {
			s.Certificate = c.asked.Certificate.Raw
		}
		all = append(all, s)
	}
	return all
}

// SameState fails the test unless two States are the same, whatever the order of the members of
// the JSON in them: one that was stored, and what a provider that reads it would store.
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

// stored are States that have been there for longer than the provider as it is.
var stored = []rule{
	{name: "a State that was stored earlier goes on, or is refused", needs: []Need{Keeps}, test: func(t testing.TB, b Backend, m idp.Method) {
		present := passed(t, b, m)[0].Version
		for _, old := range b.Older {
			if old.Person.Method == m {
				c := resumed(t, b, old)
				c.outdated = old.State.Version < present
				goesOn(c, old.Name)
			}
		}
	}},
}

// resumed is a conversation that is gone on with, as if it were of today.
func resumed(t testing.TB, b Backend, old Stored) *conversation {
	t.Helper()
	c := with(t, b, old.Person)
	old.State.Expires = time.Now().Add(time.Minute)
	c.store(old.State)
	c.key, c.event, c.start = old.State.Key, idp.Waiting{}, false
	c.code, c.codeAtStart, c.signs = old.Code, true, slices.Clone(old.Signs)
	if old.Certificate != nil {
		var err error
		if c.asked.Certificate, err = x509.ParseCertificate(old.Certificate); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// goesOn polls to the end, by the rules of every conversation. A State that the provider itself
// would store is never refused.
func goesOn(c *conversation, name string) {
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
		c.take(next, state, event)
	}
}
