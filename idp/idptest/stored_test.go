package idptest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp"
)

const storedKey = "stored"

// stored is what a version of the adapter has stored for somebody whose certificate is known.
func (a *adapter) stored(t testing.TB, version int, code string) []Stored {
	t.Helper()
	p := a.add(t, Approves)
	p.Method = idp.App
	certificate := a.people[p.Kennitala].certificate.Raw
	state := idp.State{Provider: "network", Version: version, Key: storedKey, Expires: time.Now()}
	n := noted{note: note{Kennitala: p.Kennitala, Method: p.Method, Certificate: certificate, Code: code}}
	state, _, err := a.write(state, n, nil)
	if err != nil {
		t.Fatal(err)
	}
	return []Stored{{Name: "ready", State: state, Person: p, Certificate: certificate}}
}

// Version 0 wrote codes without leading zeros. It may be refused, but not misread.
func TestOlderStates(t *testing.T) {
	const want = "a State that was stored earlier goes on, or is refused: a code is 4 digits"
	for name, misread := range map[string]bool{"refused": false, "misread": true} {
		t.Run(name, func(t *testing.T) {
			all, found := failures(t, func(t testing.TB) Backend {
				a := &adapter{network: newNetwork(), wrongs: wrongs{oldStates: misread}}
				b := backend(t, a, nil)
				b.Older = append(b.Older, a.stored(t, 0, "42")...)
				return b
			}, want)
			if found != misread || !misread && len(all) > 0 {
				t.Errorf("found: %q", all)
			}
		})
	}
}

// What was stored once is what is read from then on.
func TestGolden(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "testdata", "state-1")
	r := &recorder{TB: t}
	unmade := make(chan struct{})
	go func() {
		defer close(unmade)
		Golden(r, folder, nil)
	}()
	if <-unmade; len(r.failures) != 1 || !strings.Contains(r.failures[0], "nothing is stored in") {
		t.Errorf("an empty folder: %q", r.failures)
	}
	t.Setenv("INNSIGLI_GOLDEN", "1")
	synctest.Test(t, func(t *testing.T) {
		b := backend(t, &adapter{network: newNetwork()}, nil)
		made := Converse(t, b, talk(t, b, idp.App, Approves).person)
		for _, make := range []func() []Stored{func() []Stored { return made }, nil} {
			if d := cmp.Diff(made, Golden(t, folder, make)); d != "" {
				t.Error(d)
			}
		}
	})
	want := []string{"idpapp-1-waiting.json", "idpapp-2-continue.json", "idpapp-3-needdigest.json", "idpapp-4-waiting.json", "idpapp-5-continue.json", "idpapp-6-signed.json"}
	files, err := os.ReadDir(folder)
	var names []string
	for _, f := range files {
		names = append(names, f.Name())
	}
	if d := cmp.Diff(want, names); err != nil || d != "" {
		t.Error(err, d)
	}
}

func TestSameState(t *testing.T) {
	state := idp.State{Provider: "network", Version: 1, Public: []byte(`{"a":1,"b":[2]}`), Secret: []byte(`{}`)}
	for name, test := range map[string]struct {
		change func(*idp.State)
		same   bool
	}{
		"nothing":        {func(*idp.State) {}, true},
		"another order":  {func(s *idp.State) { s.Public = []byte(`{"b": [2], "a": 1}`) }, true},
		"a member less":  {func(s *idp.State) { s.Public = []byte(`{"a":1}`) }, false},
		"a member more":  {func(s *idp.State) { s.Secret = []byte(`{"a":1}`) }, false},
		"no secret":      {func(s *idp.State) { s.Secret = nil }, false},
		"another key":    {func(s *idp.State) { s.Key = "a" }, false},
		"no JSON at all": {func(s *idp.State) { s.Public = []byte(`{"a"`) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			other, r := state, &recorder{TB: t}
			test.change(&other)
			if SameState(r, state, other); (len(r.failures) == 0) != test.same {
				t.Errorf("%q", r.failures)
			}
		})
	}
}
