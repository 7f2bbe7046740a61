package main

import (
	"net/http"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// The provider is asked at its own pace, whatever its client's is.
func TestProductionPace(t *testing.T) {
	testenv.Slow(t, "people are asked at the pace of production")
	t.Parallel()
	concurrently(t, 4, []subtest{
		{"interval", keepsInterval},
		{"slow_down", slowsDown},
		{"expiry that the provider tells of", func(t *testing.T) { expires(t, false) }},
		{"expiry while the provider is away", func(t *testing.T) { expires(t, true) }},
	})
}

// milli is how much sooner the provider may note a call than it came: it notes whole milliseconds.
const milli = time.Millisecond

// However often the client polls, an interval is between two questions (CIBA Core 1.0 7.3), and
// before the first.
func keepsInterval(t *testing.T) {
	const interval = 3 * time.Second
	p := startProduction(t, installed(t), productionOptions{provider: openidtest.Options{Interval: interval}})
	who := numbered(1)
	p.person(t, who, openidtest.Answer{Polls: 2})
	r := newRequest(who, "IdpApp", "")
	before := time.Now()
	started := p.client.must(t, http.MethodPost, "/api/v1/signing", r.body)
	if r.pollingID = started.PollingID; started.ExpiresIn != 290 {
		t.Errorf("the request lives %d s, of ten minutes that the provider gives it", started.ExpiresIn)
	}
	r.pause = 100 * time.Millisecond
	a, err := r.goOn(t.Context(), p.client)
	if err != nil {
		t.Fatal(err)
	}
	p.checkSigned(t, &r, a)
	for i, prompt := range p.prompts(who) {
		if len(prompt.polls) < 2 {
			t.Errorf("prompt %d: asked for %d times", i, len(prompt.polls))
		}
		// The calls are made an interval apart, and come at some time later: each is at least so many intervals
		// after what came before all of them.
		for n, poll := range prompt.polls {
			if pause := poll.At.Sub(before); pause < time.Duration(n+1)*interval-milli {
				t.Errorf("prompt %d: asked for the %d. time after %v", i, n+1, pause)
			}
		}
		before = prompt.polls[len(prompt.polls)-1].At
	}
}

// A provider that says slow_down is asked five seconds later from then on (CIBA Core 1.0 11),
// also for the next answer. The client hears it once.
func slowsDown(t *testing.T) {
	p := startProduction(t, installed(t), productionOptions{provider: eager})
	who := numbered(1)
	p.person(t, who, openidtest.Answer{Delay: time.Second})
	p.provider.Fault(openidtest.Fault{Endpoint: openidtest.Token, Status: http.StatusBadRequest, Body: `{"error":"slow_down"}`})
	r := newRequest(who, "IdpSim", "")
	before := time.Now()
	r.pollingID = p.client.must(t, http.MethodPost, "/api/v1/signing", r.body).PollingID
	told, a := 0, reply{}
	for a.SignedFile == nil {
		var err error
		if a, err = p.client.call(t.Context(), http.MethodGet, "/api/v1/signing/"+r.pollingID, nil); err != nil {
			t.Fatal(err)
		}
		switch {
		case a.ErrorCode == "SlowDown":
			told++
		case a.Status != http.StatusOK && a.ErrorCode != "AuthorizationPending":
			t.Fatalf("%v\n%s", a, p.logs())
		}
		pause(2 * time.Second)
	}
	p.checkSigned(t, &r, a)
	calls := p.calls(openidtest.Token)
	if told != 1 || len(calls) != 3 { // slow_down, and two answers
		t.Fatalf("the client was told to slow down %d times, and the provider asked %d times", told, len(calls))
	}
	// The first call is made a second after the prompt, the second six after that, the last six after a new prompt.
	if first, last := calls[1].At.Sub(before), calls[2].At.Sub(calls[1].At); first < 7*time.Second-milli || last < 6*time.Second-milli {
		t.Errorf("the provider was asked again after %v, and for the next answer after %v", first, last)
	}
}

// Who does not answer ends the request when the provider's time is over, also when the provider
// is not there to say so. That is answered again and again.
func expires(t *testing.T, away bool) {
	const life = 5 * time.Second
	p := startProduction(t, installed(t), productionOptions{provider: openidtest.Options{Interval: time.Second, Expires: life}})
	who := numbered(1)
	p.person(t, who, openidtest.Answer{Silent: true})
	for _, method := range []string{"IdpApp", "IdpSim"} {
		began := time.Now()
		started := p.client.must(t, http.MethodPost, "/api/v1/signing", startText(document, who, method, "B", ""))
		// The provider's time begins when it is asked, in the course of the call.
		lives, call := time.Duration(started.ExpiresIn)*time.Second, time.Since(began) // time: the more it takes, the more is allowed
		if lives < life || lives > (life+call).Round(time.Second) {
			t.Errorf("%s: the request lives %v after a call of %v", method, lives, call)
		}
		if away {
			p.provider.Stop()
		}
		for range 2 {
			if a := p.finish(t, started.PollingID); a.Status != http.StatusBadRequest || a.ErrorCode != "ExpiredToken" {
				t.Fatalf("%s: %v\n%s", method, a, p.logs())
			}
		}
		// The provider counts whole seconds, so it may call it a day up to one sooner.
		if ended := time.Now(); ended.Before(began.Add(life - time.Second)) {
			t.Errorf("%s: it ended after %v", method, ended.Sub(began))
		}
		if away {
			p.provider.Go()
		}
	}
}
