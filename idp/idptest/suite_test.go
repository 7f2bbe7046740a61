package idptest

import (
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/innsigli/innsigli/idp"
)

// recorder is a test that may fail.
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

// failures runs the suite until it finds what is wanted, and returns what it found.
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

// backend is one with everything, around which a mistake is made.
func backend(t testing.TB, a *adapter, around func(idp.Provider) idp.Provider) Backend {
	around = orNothing(around)
	return Backend{
		virtual:  true, // in the bubble of each test
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

func TestRightProvidersPass(t *testing.T) {
	for name, cms := range map[string]bool{"raw values": false, "CMS": true} {
		t.Run(name, func(t *testing.T) {
			RunInBubble(t, func(t testing.TB) Backend { return backend(t, &adapter{network: newNetwork(), cms: cms}, nil) })
		})
	}
}

// Every mistake makes the suite fail, by the rule that it is against.
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

// A Break that breaks nothing shows nothing.
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

// What a Backend lacks is said.
func TestWhatIsMissingIsNamed(t *testing.T) {
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
		if _, lacking := (rule{needs: []Need{need}}).lacking(r, part); !lacking || len(r.failures) != 1 {
			t.Errorf("without %s the failures are %q", need, r.failures)
		}
		part.Lacks = map[Need]string{need: "it has none"}
		r = &recorder{TB: t}
		if why, lacking := (rule{needs: []Need{need}}).lacking(r, part); !lacking || len(r.failures) != 0 || !strings.Contains(why, "it has none") {
			t.Errorf("with a reason for the lack of %s: %q, %q", need, why, r.failures)
		}
	}
}
