package idptest

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp"
)

// recorder is a testing.TB that records failures.
type recorder struct {
	testing.TB
	rule     string
	mu       sync.Mutex
	failures []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, r.rule+": "+fmt.Sprintf(format, args...))
}
func (r *recorder) Error(args ...any)                 { r.Errorf("%s", fmt.Sprint(args...)) }
func (r *recorder) Fatal(args ...any)                 { r.Errorf("%s", fmt.Sprint(args...)); runtime.Goexit() }
func (r *recorder) Fatalf(format string, args ...any) { r.Errorf(format, args...); runtime.Goexit() }

// failures runs the suite until a failure contains the wanted text, and returns the failures.
func failures(t *testing.T, open func(testing.TB) Backend, wanted string) (all []string, found bool) {
	for _, rule := range rules() {
		for _, m := range rule.methods(open(t)) {
			synctest.Test(t, func(t *testing.T) {
				r := &recorder{TB: t, rule: rule.name}
				done := make(chan struct{})
				go func() {
					defer close(done)
					rule.test(r, open(r), m)
				}()
				<-done
				all = append(all, r.failures...)
			})
			if slices.ContainsFunc(all, func(failure string) bool { return strings.Contains(failure, wanted) }) {
				return all, true
			}
		}
	}
	return all, false
}

// backend returns a backend that lacks nothing, whose provider is wrapped by around.
func backend(t testing.TB, a *adapter, around func(idp.Provider) idp.Provider) Backend {
	around = orNothing(around)
	return Backend{
		bubble:   true, // in the bubble of each test
		Provider: around(a),
		Methods:  []idp.Method{idp.App, idp.SIM},
		Person:   func(t testing.TB, _ idp.Method, n Need) idp.Person { return a.add(t, n) },
		Break:    func(_ testing.TB, on bool) { a.broken = on },
		Renew:    func(t testing.TB, p idp.Person) { a.renew(t, p) },
		Older:    a.stored(t, 1, ""),
		Reopen:   func(testing.TB) idp.Provider { return around(&adapter{a.network, a.cms, a.wrongs}) },
		Notification: func(t testing.TB, s idp.State) *http.Request {
			n, err := a.read(s)
			if err != nil {
				t.Fatal(err)
			}
			r := request(http.NoBody)
			r.URL.Path, r.Header = s.Key, http.Header{"Authorization": {n.Ping}}
			return r
		},
	}
}

func orNothing(around func(idp.Provider) idp.Provider) func(idp.Provider) idp.Provider {
	if around != nil {
		return around
	}
	return func(p idp.Provider) idp.Provider { return p }
}

func TestCorrectProvidersPass(t *testing.T) {
	for name, cms := range map[string]bool{"raw values": false, "CMS": true} {
		t.Run(name, func(t *testing.T) {
			RunInBubble(t, func(t testing.TB) Backend { return backend(t, &adapter{network: newNetwork(), cms: cms}, nil) })
		})
	}
}

// TestWrongProvidersFail checks that the suite finds each mistake by the rule that it breaks.
func TestWrongProvidersFail(t *testing.T) {
	for _, wrong := range mistakes(t) {
		t.Run(wrong.name, func(t *testing.T) {
			all, found := failures(t, func(t testing.TB) Backend {
				return backend(t, &adapter{newNetwork(), wrong.cms, wrong.inside}, wrong.around)
			}, wrong.found)
			if !found {
				t.Errorf("not found: %s\n%s", wrong.found, strings.Join(all, "\n"))
			}
		})
	}
}

// TestBreakHasToBreak checks that the suite fails if Backend.Break has no effect.
func TestBreakHasToBreak(t *testing.T) {
	const want = "some call fails while Break is on"
	all, found := failures(t, func(t testing.TB) Backend {
		b := backend(t, &adapter{network: newNetwork()}, nil)
		b.Break = func(testing.TB, bool) {}
		return b
	}, want)
	if !found {
		t.Errorf("not found: %s\n%s", want, strings.Join(all, "\n"))
	}
}

// TestLacks checks the reason for each Need that a backend lacks.
func TestLacks(t *testing.T) {
	whole := backend(t, &adapter{network: newNetwork()}, nil)
	for _, need := range []Need{Breaks, Renews, Reopens, Notifies, Keeps} {
		part := whole
		switch need {
		case Breaks:
			part.Break = nil
		case Renews:
			part.Renew = nil
		case Reopens:
			part.Reopen = nil
		case Notifies:
			part.Notification = nil
		case Keeps:
			part.Older = nil
		}
		r := &recorder{TB: t}
		if _, lacking := (rule{needs: []Need{need}}).missing(r, part); !lacking || len(r.failures) != 1 {
			t.Errorf("without %s the failures are %q", need, r.failures)
		}
		part.Lacks = map[Need]string{need: "it has none"}
		r = &recorder{TB: t}
		if why, lacking := (rule{needs: []Need{need}}).missing(r, part); !lacking || len(r.failures) != 0 || !strings.Contains(why, "it has none") {
			t.Errorf("with a reason for the lack of %s: %q, %q", need, why, r.failures)
		}
	}
}

const storedKey = "stored"

// stored returns what a version of the adapter has stored for a person whose certificate is known.
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

// TestOlderStates checks that a State of version 0, which had codes without leading zeros, may be refused, but not
// misread.
func TestOlderStates(t *testing.T) {
	const want = "a State of an earlier version continues or is refused: a code is 4 digits"
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

// TestGolden checks that Golden writes the files once and then reads them.
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
		made := Converse(t, b, begin(t, b, idp.App, Approves).person)
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
