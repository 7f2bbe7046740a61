package main

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/internal/openidtest"
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

// numbered is one of many people.
func numbered(n int) person {
	return person{fmt.Sprintf("Signer %d", n), fmt.Sprintf("010130%04d", n), fmt.Sprintf("555%04d", n)}
}

// newRequest is one that a client goes on with at about the pace of production.
func newRequest(who person, method, key string) request {
	return request{body: startText(document, who, method, "B", ""), key: key, waiting: time.Minute, pause: 300 * time.Millisecond}
}

// learn has a person sign with the SIM, after which the certificate is known.
func (p *production) learn(t *testing.T, who person) {
	t.Helper()
	started := p.client.must(t, http.MethodPost, "/api/v1/signing", startText(document, who, "IdpSim", "B", ""))
	if a := p.finish(t, started.PollingID); a.Status != http.StatusOK {
		t.Fatalf("learning: %v\n%s", a, p.logs())
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

// abreast runs subtests at the same time, more of them than -parallel says: these wait, most of
// the time.
func abreast(t *testing.T, limit int, tests []subtest) {
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
