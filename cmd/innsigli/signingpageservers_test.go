package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync/atomic"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
	"github.com/innsigli/innsigli/portal/page"
)

// Several servers on one database are one signing page, whichever of them a request comes to. One that is
// started again knows who has logged in.
func TestSigningPageOfSeveralServers(t *testing.T) {
	testenv.Slow(t, "people log in at a provider")
	t.Parallel()
	p := newProduction(t, installed(t), postgrestest.Database(t), "--insecure-simulated-idp")
	var turn atomic.Int64
	var servers []*url.URL
	balancer := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(servers[turn.Add(1)%int64(len(servers))])
	}})
	t.Cleanup(balancer.Close)
	p.flags = append(p.flags, "--base-url", balancer.URL)
	start := func() *url.URL {
		t.Helper()
		p.run(t)
		address, err := url.Parse(p.BaseURL)
		if err != nil {
			t.Fatal(err)
		}
		return address
	}
	servers = append(servers, start(), start())
	p.client = p.account(t, p.store)
	made := p.invite(t)
	for i, form := range [][]string{
		{"way", string(page.App), "kennitala", people[0].kennitala},
		{"way", string(page.App), "kennitala", people[1].kennitala},
	} {
		v := newVisitor(t)
		v.open(made.link(i))
		v.logIn(form...)
		v.at(made, i)
		for range servers { // each of them
			v.open(v.address.String())
			v.sees(http.StatusOK, documentName)
		}
		if i == 1 {
			if _, err := p.stop(); err != nil {
				t.Fatal(err)
			}
			servers = slices.Delete(servers, 1, 2)
			servers = append(servers, start())
			v.open(v.address.String())
			v.sees(http.StatusOK, documentName)
		}
		v.signs("method", "IdpApp")
		v.sees(http.StatusOK, fmt.Sprintf("%s-%s", people[i].kennitala[:6], people[i].kennitala[6:]))
	}
	for i, one := range p.client.process(t, made.ProcessID).Participants {
		if one.Status != "Completed" {
			t.Errorf("participant %d: %s\n%s", i, one.Status, p.logs())
		}
	}
}
