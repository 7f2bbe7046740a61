package main

import (
	"net/http"
	"testing"
	"time"

	"github.com/innsigli/innsigli/internal/openidtest"
)

// jitter is how much closer to each other calls may be when they arrive than when they are made.
const jitter = 300 * time.Millisecond

// The provider is asked at its interval, however often its client is (CIBA Core 1.0 7.3).
func TestProductionInterval(t *testing.T) {
	t.Parallel()
	const interval = 3 * time.Second
	p := startProduction(t, installed(t), productionOptions{provider: openidtest.Options{Interval: interval}})
	who := numbered(1)
	p.person(t, who, openidtest.Answer{Delay: 5 * time.Second})
	r := newRequest(who, "IdpApp", "")
	started := p.client.must(t, http.MethodPost, "/api/v1/signing", r.body)
	if r.pollingID = started.PollingID; started.ExpiresIn != 290 {
		t.Errorf("the request lives %d s, of ten minutes that the provider gives it", started.ExpiresIn)
	}
	r.pause = 100 * time.Millisecond
	if a, err := r.goOn(t.Context(), p.client); err != nil || a.Status != http.StatusOK {
		t.Fatalf("%v, %v\n%s", a, err, p.logs())
	}
	p.checkPace(t, who, 2, interval)
}

// checkPace: each answer was asked for so often, and never sooner than the interval allows.
func (p *production) checkPace(t *testing.T, who person, least int, interval time.Duration) {
	t.Helper()
	for i, prompt := range p.prompts(who) {
		if len(prompt.polls) < least {
			t.Errorf("prompt %d: asked for %d times, want %d at least", i, len(prompt.polls), least)
		}
		before := prompt.At
		for _, poll := range prompt.polls {
			if pause := poll.At.Sub(before); pause < interval-jitter {
				t.Errorf("prompt %d: asked for after %v, and the interval is %v", i, pause, interval)
			}
			before = poll.At
		}
	}
}

// A provider that says slow_down is asked five seconds later from then on (CIBA Core 1.0 11),
// which its client hears once.
func TestProductionSlowsDown(t *testing.T) {
	t.Parallel()
	p := startProduction(t, installed(t), productionOptions{provider: eager})
	who := numbered(1)
	p.person(t, who, openidtest.Answer{Delay: time.Second})
	p.provider.Fault(openidtest.Fault{Endpoint: openidtest.Token, Status: http.StatusBadRequest, Body: `{"error":"slow_down"}`})
	id := p.client.must(t, http.MethodPost, "/api/v1/signing", startText(document, who, "IdpSim", "B", "")).PollingID
	told := 0
	for {
		a, err := p.client.call(t.Context(), http.MethodGet, "/api/v1/signing/"+id, nil)
		if err != nil || a.Status != http.StatusOK && a.ErrorCode != "AuthorizationPending" && a.ErrorCode != "SlowDown" {
			t.Fatalf("%v, %v\n%s", a, err, p.logs())
		}
		if a.Status == http.StatusOK {
			break
		}
		if a.ErrorCode == "SlowDown" {
			told++
		}
		time.Sleep(2 * time.Second)
	}
	if told != 1 {
		t.Errorf("the client was told to slow down %d times", told)
	}
	calls := p.calls(openidtest.Token)
	if len(calls) != 3 { // slow_down, and two answers
		t.Fatalf("%d calls", len(calls))
	}
	for i, call := range calls[1:] {
		if pause := call.At.Sub(calls[i].At); pause < 6*time.Second-jitter {
			t.Errorf("call %d comes after %v", i+2, pause)
		}
	}
}

// Who does not answer ends the request when the provider's time is over, also when the provider
// is not there to say so. That is answered again and again.
func TestProductionExpires(t *testing.T) {
	for name, away := range map[string]bool{"the provider says so": false, "the provider is away": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := startProduction(t, installed(t), productionOptions{provider: openidtest.Options{Interval: time.Second, Expires: 5 * time.Second}})
			who := numbered(1)
			p.person(t, who, openidtest.Answer{Silent: true})
			for _, method := range []string{"IdpApp", "IdpSim"} {
				if started := p.client.must(t, http.MethodPost, "/api/v1/signing", startText(document, who, method, "B", "")); started.ExpiresIn != 5 {
					t.Errorf("%s: the request lives %d s", method, started.ExpiresIn)
				}
			}
			began := time.Now()
			started := p.client.must(t, http.MethodPost, "/api/v1/signing", startText(document, who, "IdpApp", "B", ""))
			if away {
				p.provider.Stop()
			}
			for range 2 {
				a := p.finish(t, started.PollingID)
				if a.Status != http.StatusBadRequest || a.ErrorCode != "ExpiredToken" {
					t.Fatalf("%v\n%s", a, p.logs())
				}
			}
			if long := time.Since(began); long < 5*time.Second-jitter {
				t.Errorf("it ended after %v", long)
			}
			if away {
				p.provider.Go() // for what looks at its journal
			}
		})
	}
}
