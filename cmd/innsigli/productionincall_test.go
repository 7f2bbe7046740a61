package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// A server that is killed while the provider answers goes on from what it had stored before.
// A prompt that it never heard of is made again. Tokens that were on their way are lost, for
// they are given once (CIBA Core 1.0 10.1): the request fails at once, and can be made again.
func TestProductionKilledInACall(t *testing.T) {
	testenv.Slow(t, "servers die, and others wait for what they had in hand")
	t.Parallel()
	program := build(t, "-tags", "failpoints")
	tests := []subtest{{"asked after a ping", func(t *testing.T) { killedByNews(t, program) }}}
	for _, test := range []struct {
		name     string
		after    int // prompts
		endpoint openidtest.Endpoint
		prompts  int
		code     string
	}{
		{"asking for the certificate", 0, openidtest.Backchannel, 3, ""},
		{"fetching the certificate", 1, openidtest.Token, 1, "InvalidGrant"},
		{"reading the certificate", 1, openidtest.UserInfo, 2, ""},
		{"asking for the signature", 1, openidtest.Backchannel, 3, ""},
		{"fetching the signature", 2, openidtest.Token, 2, "InvalidGrant"},
		{"reading the signature", 2, openidtest.UserInfo, 2, ""},
	} {
		tests = append(tests, subtest{test.name, func(t *testing.T) {
			p := startProduction(t, program, productionOptions{provider: eager})
			who := numbered(1)
			p.person(t, who, openidtest.Answer{})
			r := newRequest(who, "IdpApp", "")
			for len(p.prompts(who)) < test.after { // one call at a time: after a slow one, the next gets further
				if _, err := r.call(t.Context(), p.client); err != nil {
					t.Fatal(err)
				}
				pause(r.pause)
			}
			p.killDuring(t, &r, test.endpoint)
			p.run(t)
			a, err := r.goOn(t.Context(), p.client)
			if prompts := len(p.prompts(who)); err != nil || a.ErrorCode != test.code || prompts != test.prompts {
				t.Fatalf("%v, %v, %d prompts, want %q after %d\n%s", a, err, prompts, test.code, test.prompts, p.logs())
			}
			if test.code == "" {
				p.checkSigned(t, &r, a)
				return
			}
			again := newRequest(who, "IdpApp", "again")
			if a, err = again.goOn(t.Context(), p.client); err != nil {
				t.Fatal(err)
			}
			p.checkSigned(t, &again, a)
		}})
	}
	concurrently(t, len(tests), tests)
}

// killDuring goes on with a request up to the next call of an endpoint, and kills the server
// when the provider has done what it was asked, and says so byte by byte.
func (p *production) killDuring(t *testing.T, r *request, e openidtest.Endpoint) {
	t.Helper()
	p.provider.Fault(openidtest.Fault{Endpoint: e, Handled: true, Status: http.StatusOK, Body: strings.Repeat(" ", 60), Slow: time.Second})
	done := map[openidtest.Endpoint]func() int{
		openidtest.Backchannel: func() int { return len(p.provider.Asked()) },
		openidtest.Token:       p.given,
		openidtest.UserInfo:    func() int { return len(p.calls(openidtest.UserInfo)) },
	}[e]
	before := done()
	cut := make(chan error)
	go func() {
		_, err := r.goOn(t.Context(), p.client)
		cut <- err
	}()
	p.waitUntil(t, func() bool { return done() > before })
	p.kill(t)
	if err := <-cut; err == nil {
		t.Error("the client's call was answered")
	}
}

// A provider that pings has a job ask it. A server that is killed then is not pinged again, and
// the next one goes on with a poll.
func killedByNews(t *testing.T, program string) {
	p := startProduction(t, program, productionOptions{provider: eager, ping: true})
	who := numbered(1)
	p.person(t, who, openidtest.Answer{})
	p.kill(t)
	p.run(t, "INNSIGLI_FAILPOINT=signing/news")
	r := newRequest(who, "IdpApp", "")
	r.pollingID = p.client.must(t, http.MethodPost, "/api/v1/signing", r.body).PollingID
	if !p.dies(t) {
		t.Fatalf("the server did not end by SIGKILL\n%s", p.logs())
	}
	p.run(t)
	a, err := r.goOn(t.Context(), p.client)
	if err != nil || len(p.prompts(who)) != 2 {
		t.Errorf("%v, %d prompts", err, len(p.prompts(who)))
	}
	p.checkSigned(t, &r, a)
}
