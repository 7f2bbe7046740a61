package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// Whatever becomes of the provider while people are asked, clients hear that the answer is yet
// to come, and get the signed document when it has. Tokens are fetched once.
func TestProductionThroughOutages(t *testing.T) {
	testenv.Slow(t, "people are asked at the pace of production")
	t.Parallel()
	program := build(t)
	var tests []subtest
	everywhere := func(p *production, f openidtest.Fault) {
		for _, e := range []openidtest.Endpoint{openidtest.Token, openidtest.UserInfo, openidtest.JWKS} {
			f.Endpoint = e
			p.provider.Fault(f)
		}
	}
	for name, happens := range map[string]func(t *testing.T, p *production){
		"a new key":        func(_ *testing.T, p *production) { p.provider.RotateKeys(true) },
		"a new key alone":  func(_ *testing.T, p *production) { p.provider.RotateKeys(false) },
		"two keys in turn": func(_ *testing.T, p *production) { p.provider.RotateKeys(true); p.provider.RotateKeys(false) },
		"a restart": func(t *testing.T, p *production) {
			p.provider.Stop()
			p.waitFor(t, "step=provider.failed", 3)
			p.provider.Go()
		},
		"garbage": func(_ *testing.T, p *production) {
			p.provider.RotateKeys(true) // which has the keys read
			everywhere(p, openidtest.Fault{Times: 2, Status: http.StatusOK, Body: "<html>Please try again</html>"})
		},
		"half an object": func(_ *testing.T, p *production) {
			everywhere(p, openidtest.Fault{Status: http.StatusOK, Body: `{"access_token": "x`})
		},
		"a server's error": func(_ *testing.T, p *production) {
			everywhere(p, openidtest.Fault{Times: 2, Status: http.StatusInternalServerError})
		},
		"maintenance": func(_ *testing.T, p *production) {
			everywhere(p, openidtest.Fault{Status: http.StatusServiceUnavailable, Header: map[string]string{"Retry-After": "1"}})
		},
		"cut connections": func(_ *testing.T, p *production) { everywhere(p, openidtest.Fault{Times: 2}) },
		"cut answers": func(_ *testing.T, p *production) {
			p.provider.Fault(openidtest.Fault{Endpoint: openidtest.UserInfo, Times: 2, Handled: true})
		},
	} {
		tests = append(tests, subtest{name, func(t *testing.T) {
			p := startProduction(t, program, productionOptions{provider: eager})
			all := p.throughOutage(t, func() { happens(t, p) })
			if all.prompts != 5 || all.answers != 5 || all.again != 0 { // two of them for learning
				t.Errorf("%d prompts, %d answers, asked for again %d times", all.prompts, all.answers, all.again)
			}
			if !strings.Contains(name, "key") && !strings.Contains(p.logs(), "step=provider.failed") {
				t.Errorf("no fault is in the log:\n%s", p.logs())
			}
		}})
	}
	concurrently(t, len(tests), tests)
}

// throughOutage has two people sign who answer when something is over.
func (p *production) throughOutage(t *testing.T, outage func()) (all productionTally) {
	t.Helper()
	app := p.person(t, numbered(1), openidtest.Answer{Silent: true})
	sim := p.person(t, numbered(2), openidtest.Answer{})
	p.learn(t, numbered(2)) // by now the provider's keys are known
	sim.Answer.Silent = true
	p.provider.Person(sim)
	var ids []string
	for i, method := range []string{"IdpApp", "IdpSim"} {
		ids = append(ids, p.client.must(t, http.MethodPost, "/api/v1/signing", startText(document, numbered(i+1), method, "B", "")).PollingID)
	}
	stop := p.keepPolling(t, ids)
	outage()
	stop()
	for _, one := range []openidtest.Person{app, sim} {
		one.Answer.Silent = false
		p.provider.Person(one)
	}
	for _, id := range ids {
		p.checkSigned(t, &request{}, p.finish(t, id))
	}
	all.see(append(p.prompts(numbered(1)), p.prompts(numbered(2))...), way{})
	return all
}

// keepPolling polls requests at the pace of production until it is stopped. There is nothing to
// hear.
func (p *production) keepPolling(t *testing.T, ids []string) (stop func()) {
	t.Helper()
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			for _, id := range ids {
				a, err := p.client.call(t.Context(), http.MethodGet, "/api/v1/signing/"+id, nil)
				if err != nil || a.ErrorCode != "AuthorizationPending" {
					t.Errorf("a poll meanwhile: %v, %v", a, err)
				}
			}
			select {
			case <-done:
				return
			case <-time.After(2 * time.Second): // time: the pace of a client, by which nothing is judged
			}
		}
	}()
	return func() { close(done); <-ended }
}
