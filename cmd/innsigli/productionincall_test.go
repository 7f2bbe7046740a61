package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/internal/openidtest"
)

// A server that is killed while the provider answers goes on from what it had stored before.
// A prompt that it never heard of is made again. Tokens that were on their way are lost, for
// they are given once (CIBA Core 1.0 10.1): the request fails at once, and can be made again.
func TestProductionKilledInACall(t *testing.T) {
	t.Parallel()
	p := startProduction(t, installed(t), productionOptions{provider: eager})
	p.kill(t)
	for i, test := range []struct {
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
		t.Run(test.name, func(t *testing.T) {
			who := numbered(i)
			p.person(t, who, openidtest.Answer{})
			p.run(t)
			r := newRequest(who, "IdpApp", test.name)
			for len(p.prompts(who)) < test.after {
				if _, err := r.try(t.Context(), p.client); err != nil {
					t.Fatal(err)
				}
				time.Sleep(r.pause)
			}
			p.killDuring(t, &r, test.endpoint)
			p.run(t)
			a, err := r.goOn(t.Context(), p.client)
			if prompts := len(p.prompts(who)); err != nil || a.ErrorCode != test.code || prompts != test.prompts {
				t.Fatalf("%v, %v, %d prompts, want %q after %d\n%s", a, err, prompts, test.code, test.prompts, p.logs())
			}
			if test.code != "" {
				r = newRequest(who, "IdpApp", "again "+test.name)
				if a, err = r.goOn(t.Context(), p.client); err != nil {
					t.Fatal(err)
				}
			}
			if n := r.checkDocument(t, a.SignedFile, string(p.ca.RootPEM())); n != 1 {
				t.Errorf("%v, %d signatures", a, n)
			}
		})
	}
}

// killDuring goes on with a request up to the next call of an endpoint, and kills the server
// when the provider has done what it was asked, and says so byte by byte.
func (p *production) killDuring(t *testing.T, r *request, e openidtest.Endpoint) {
	t.Helper()
	p.provider.Fault(openidtest.Fault{Endpoint: e, Handled: true, Status: http.StatusOK, Body: strings.Repeat(" ", 60), Slow: time.Second})
	done := map[openidtest.Endpoint]func() int{
		openidtest.Backchannel: func() int { return len(p.provider.Asked()) },
		openidtest.Token:       func() int { return p.given() },
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
func TestProductionKilledByNews(t *testing.T) {
	t.Parallel()
	p := startProduction(t, build(t, "-tags", "failpoints"), productionOptions{provider: eager, ping: true})
	who := numbered(1)
	p.person(t, who, openidtest.Answer{})
	p.kill(t)
	p.run(t, "INNSIGLI_FAILPOINT=signing/news")
	r := newRequest(who, "IdpApp", "")
	started := p.client.must(t, http.MethodPost, "/api/v1/signing", r.body)
	r.pollingID = started.PollingID
	if !p.killed() {
		t.Fatalf("the server did not end by SIGKILL\n%s", p.logs())
	}
	p.run(t)
	a, err := r.goOn(t.Context(), p.client)
	if err != nil || a.Status != http.StatusOK {
		t.Fatalf("%v, %v\n%s", a, err, p.logs())
	}
	if n := r.checkDocument(t, a.SignedFile, string(p.ca.RootPEM())); n != 1 || len(p.prompts(who)) != 2 {
		t.Errorf("%d signatures, %d prompts", n, len(p.prompts(who)))
	}
}
