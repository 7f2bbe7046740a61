package main

import (
	"net/http"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
)

// Two servers in production are one service: what one starts the other ends, and a
// certificate that one has learnt the other knows.
func TestProductionOnPostgres(t *testing.T) {
	testenv.Slow(t, "people are asked at the pace of production")
	t.Parallel()
	store := postgrestest.Database(t)
	p := startProduction(t, installed(t), productionOptions{provider: eager, store: store})
	p.person(t, people[0], openidtest.Answer{})
	servers := []string{p.BaseURL}
	p.run(t)
	servers = append(servers, p.BaseURL)
	for i, prompts := range []int{2, 1} { // the first teaches the certificate
		p.client.base = servers[i]
		before := len(p.provider.Asked())
		started := p.order(t, order{people[0], "IdpSim", "Lt"})
		p.client.base = servers[1-i]
		if a := p.finish(t, started.PollingID); a.Status != http.StatusOK {
			t.Fatalf("started at server %d: %v %s\n%s", i, a, a.Body, p.logs())
		}
		if n := len(p.provider.Asked()) - before; n != prompts {
			t.Errorf("started at server %d: asked %d times, want %d", i, n, prompts)
		}
	}
}
