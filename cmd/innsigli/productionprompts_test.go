package main

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// prompt is what a person's phone was asked, and each time that the provider was asked for the
// answer.
type prompt struct {
	openidtest.Asked
	polls []openidtest.Polled
}

// prompts are those of a person.
func (p *production) prompts(who person) (all []prompt) {
	polled := p.provider.Polled()
	for _, asked := range p.provider.Asked() {
		if hint := asked.Claims["login_hint"]; asked.ID == "" || hint != who.kennitala && hint != who.phone {
			continue
		}
		one := prompt{Asked: asked}
		for _, poll := range polled {
			if poll.ID == asked.ID {
				one.polls = append(one.polls, poll)
			}
		}
		all = append(all, one)
	}
	return all
}

// given is how many answers the provider has given.
func (p *production) given() (n int) {
	for _, poll := range p.provider.Polled() {
		if poll.Error == "" {
			n++
		}
	}
	return n
}

// calls are those of an endpoint.
func (p *production) calls(e openidtest.Endpoint) (all []openidtest.Call) {
	for _, call := range p.provider.Calls() {
		if call.Endpoint == e {
			all = append(all, call)
		}
	}
	return all
}

// productionTally counts what became of requests, and what the provider saw of them.
type productionTally struct {
	requests, kills, lost, doubled int
	prompts, vain                  int // vain: more than the way needs
	answers, again                 int // again: asked for after they were given
}

func (a *productionTally) add(b productionTally) {
	a.requests, a.kills, a.lost, a.doubled = a.requests+b.requests, a.kills+b.kills, a.lost+b.lost, a.doubled+b.doubled
	a.prompts, a.vain, a.answers, a.again = a.prompts+b.prompts, a.vain+b.vain, a.answers+b.answers, a.again+b.again
}

// see counts what the provider saw of a request.
func (a *productionTally) see(prompts []prompt, w way) {
	a.prompts, a.vain = len(prompts), len(prompts)-w.prompts
	for _, one := range prompts {
		for _, poll := range one.polls {
			if poll.Error == "" {
				a.answers++
			}
		}
		if given := slices.IndexFunc(one.polls, func(p openidtest.Polled) bool { return p.Error == "" }); given >= 0 {
			a.again += len(one.polls) - given - 1
		}
	}
}

// numbered is one of many people.
func numbered(n int) person {
	return person{fmt.Sprintf("Signer %d", n), fmt.Sprintf("010130%04d", n), fmt.Sprintf("555%04d", n)}
}

// newRequest is one that a client goes on with at about the pace of production.
func newRequest(who person, method, key string) request {
	return request{body: startText(document, who, method, "B", ""), key: key, pause: 300 * time.Millisecond}
}

// learn has a person sign with the SIM, after which the certificate is known.
func (p *production) learn(t *testing.T, who person) {
	t.Helper()
	started := p.client.must(t, http.MethodPost, "/api/v1/signing", startText(document, who, "IdpSim", "B", ""))
	if a := p.finish(t, started.PollingID); a.Status != http.StatusOK {
		t.Fatalf("learning: %v\n%s", a, p.logs())
	}
}

// checkSigned: a request has come to a document with one signature.
func (p *production) checkSigned(t *testing.T, r *request, a reply) {
	t.Helper()
	if a.Status != http.StatusOK {
		t.Errorf("the end: %v\n%s", a, p.logs())
	} else if n := r.checkDocument(t, a.SignedFile, string(p.ca.RootPEM())); n != 1 {
		t.Errorf("%d signatures", n)
	}
}

// kill ends the server as the end of its machine would.
func (p *production) kill(t *testing.T) {
	t.Helper()
	if err := p.command.Process.Kill(); err != nil || !p.killed() {
		t.Fatalf("killing the server: %v, %s", err, p.command.ProcessState)
	}
}

type subtest struct {
	name string
	run  func(t *testing.T)
}

// concurrently runs subtests, so many at a time, which may be more than -parallel says: they wait, most of the time.
func concurrently(t *testing.T, limit int, tests []subtest) {
	t.Helper()
	var group errgroup.Group
	group.SetLimit(limit)
	for _, test := range tests {
		group.Go(func() error {
			t.Run(test.name, test.run)
			return nil
		})
	}
	_ = group.Wait()
}
