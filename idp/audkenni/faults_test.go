package audkenni_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/audkenni"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// faults lists faults of a request, with the failure of a conversation that has not begun.
var faults = []struct {
	name  string
	fault openidtest.Fault
	begin idp.ErrorCode
}{
	{"cut before it arrives", openidtest.Fault{}, idp.CommunicationError},
	{"cut before the answer", openidtest.Fault{Handled: true}, idp.CommunicationError},
	{"an answer of a proxy", openidtest.Fault{Status: 502, Body: "<html>Bad Gateway"}, idp.CommunicationError},
	{"an answer that is none", openidtest.Fault{Status: 200, Body: `{"access_token":`}, idp.CommunicationError},
	{"a server's fault", openidtest.Fault{Status: 500, Body: `{"error":"server_error"}`}, idp.InternalError},
	{"maintenance without a word", openidtest.Fault{Status: 503, Header: map[string]string{"Retry-After": "60"}}, idp.SystemUnderMaintenance},
	{"maintenance", openidtest.Fault{Status: 503, Body: `{"error":"temporarily_unavailable"}`}, idp.SystemUnderMaintenance},
}

// TestFaults checks that a fault ends a conversation only if the person has not been asked yet. Otherwise the repeated
// call returns what it would have returned, unless Auðkenni had issued the tokens and they were lost.
func TestFaults(t *testing.T) {
	t.Parallel()
	p := openidtest.Start(t, openidtest.Options{})
	for _, at := range []struct {
		method   idp.Method
		known    bool // the SIM's certificate
		before   int  // how many events come before the fault
		endpoint openidtest.Endpoint
		first    bool // no person was asked yet
	}{
		{idp.App, false, 0, openidtest.Discovery, true},
		{idp.App, false, 0, openidtest.Backchannel, true},
		{idp.App, false, 1, openidtest.Token, false},
		{idp.App, false, 2, openidtest.UserInfo, false},
		{idp.App, false, 2, openidtest.JWKS, false},
		{idp.App, false, 3, openidtest.Backchannel, false},
		{idp.App, false, 4, openidtest.Token, false},
		{idp.App, false, 5, openidtest.UserInfo, false},
		{idp.SIM, false, 0, openidtest.Backchannel, true},
		{idp.SIM, false, 3, openidtest.Backchannel, false},
		{idp.SIM, true, 1, openidtest.Backchannel, true},
		{idp.SIM, true, 2, openidtest.Token, false},
	} {
		for _, f := range faults {
			t.Run(fmt.Sprintf("%s/%s/%s after %d", f.name, at.method, at.endpoint, at.before), func(t *testing.T) {
				person := newPerson(t)
				p.Person(person)
				provider, _ := open(t, p, audkenni.Options{})
				fault := f.fault
				fault.Endpoint = at.endpoint
				known := parsed(t, person.Certificate)
				if !at.known {
					known = nil
				}
				var c *talk
				if at.before == 0 {
					p.Fault(fault)
					c = begin(t, provider, named(person, at.method), known)
				} else {
					c = begin(t, provider, named(person, at.method), known)
					for len(c.trail) < at.before {
						c.step()
					}
					p.Fault(fault)
				}
				switch {
				case at.endpoint == openidtest.Discovery:
					failsBeforeRequest(t, c, idp.CommunicationError, idp.SystemUnderMaintenance)
				case at.before == 0:
					failsBeforeRequest(t, c, f.begin)
				case at.first:
					c.step()
					failsBeforeRequest(t, c, f.begin)
				case fault.Handled && at.endpoint == openidtest.Token:
					c.stepFault(person)
					if got := c.run().failure(); got.Code != idp.InvalidGrant {
						t.Errorf("the answer is lost, but %+v", got)
					}
				default:
					c.stepFault(person)
					c.run().verify()
				}
			})
		}
	}
}

// failsBeforeRequest checks that the conversation fails immediately with one of the codes.
func failsBeforeRequest(t *testing.T, c *talk, either ...idp.ErrorCode) {
	t.Helper()
	for _, code := range either {
		if f := c.failure(); f.Code == code && (f.Description != "" || f.OAuth != "") {
			return
		}
	}
	t.Errorf("want one of %q, got %+v", either, c.event)
}

// stepFault makes the next call, which has to return an error that contains neither personal data nor secrets, and an
// unchanged State.
func (c *talk) stepFault(person openidtest.Person) {
	c.Helper()
	before := c.state()
	if _, need := c.event.(idp.NeedDigest); need {
		state, event, err := c.sign(c.Context())
		c.unchanged(person, before, state, event, err)
		return
	}
	state, event, err := c.provider.Poll(c.Context(), before)
	c.unchanged(person, before, state, event, err)
}

func (c *talk) unchanged(person openidtest.Person, before, after idp.State, event idp.Event, err error) {
	c.Helper()
	if err == nil {
		c.Fatalf("after %q: no error, but %+v", c.trail, event)
	}
	if diff := cmp.Diff(c.withoutLostRequests(before), c.withoutLostRequests(after)); diff != "" {
		c.Errorf("the State has changed:\n%s", diff)
	}
	if fault := new(idp.FaultError); !errors.As(err, &fault) || fault.RetryAfter < time.Second {
		c.Errorf("it does not say when to try again: %v", err)
	}
	var secrets map[string]any
	if json.Unmarshal(before.Secret, &secrets) != nil {
		c.Fatal("the secrets cannot be read")
	}
	for _, word := range append(texts(secrets), person.Kennitala, person.Phone, person.Name) {
		if strings.Contains(err.Error(), word) {
			c.Errorf("the error says %q: %v", word, err)
		}
	}
}

// withoutLostRequests returns a State without the number of lost requests.
func (c *talk) withoutLostRequests(s idp.State) idp.State {
	c.Helper()
	var public map[string]any
	err := json.Unmarshal(s.Public, &public)
	delete(public, "unheard")
	if err == nil {
		s.Public, err = json.Marshal(public)
	}
	if err != nil {
		c.Fatal(err)
	}
	return s
}

// texts returns the strings within a value, at any depth.
func texts(value any) (all []string) {
	switch v := value.(type) {
	case string:
		return []string{v}
	case map[string]any:
		for _, inner := range v {
			all = append(all, texts(inner)...)
		}
	}
	return all
}

// TestRestarts restarts Auðkenni and the service between any two calls.
func TestRestarts(t *testing.T) {
	testenv.Slow(t, "the provider is restarted between all calls")
	t.Parallel()
	p := openidtest.Start(t, openidtest.Options{})
	for method, want := range map[idp.Method][]string{idp.App: byApp, idp.SIM: trail(learns, signs)} {
		t.Run(string(method), func(t *testing.T) {
			person := newPerson(t)
			p.Person(person)
			provider, _ := open(t, p, audkenni.Options{})
			c := begin(t, provider, named(person, method), nil)
			for !c.over() {
				p.Restart()
				c.provider, _ = open(t, p, audkenni.Options{})
				c.step()
			}
			c.verify()
			if diff := cmp.Diff(want, c.trail); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestClaimsAfterCrash checks that the claims can be read with stored tokens as long as Auðkenni accepts the tokens.
func TestClaimsAfterCrash(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{})
	person := newPerson(t)
	p.Person(person)
	provider, _ := open(t, p, audkenni.Options{})
	c := begin(t, provider, named(person, idp.App), nil).run()
	first := c.event
	c.note(provider.Poll(t.Context(), c.state()))
	if diff := cmp.Diff(first, c.event); diff != "" {
		t.Error(diff)
	}
	p.Fault(openidtest.Fault{Endpoint: openidtest.UserInfo, Status: 401})
	c.note(provider.Poll(t.Context(), c.state()))
	if diff := cmp.Diff(idp.Failure{Code: idp.InvalidGrant, OAuth: "invalid_token"}, c.failure()); diff != "" {
		t.Error(diff)
	}
}

// TestMaxLostRequests checks that a conversation ends after maxLostRequests requests whose responses were lost.
func TestMaxLostRequests(t *testing.T) {
	t.Parallel()
	p := openidtest.Start(t, openidtest.Options{Interval: time.Second})
	person := newPerson(t)
	p.Person(person)
	provider, _ := open(t, p, audkenni.Options{})
	c := begin(t, provider, named(person, idp.App), nil)
	for c.digest.Sum == nil {
		if _, need := c.event.(idp.NeedDigest); need {
			break
		}
		c.step()
	}
	p.Fault(openidtest.Fault{Endpoint: openidtest.Backchannel, Handled: true, Times: 3})
	prompts := len(p.Asked())
	for range 2 {
		state, _, err := c.sign(t.Context())
		if err == nil {
			t.Fatal("no fault")
		}
		c.note(provider.Poll(t.Context(), state))
	}
	_, event, err := c.sign(t.Context())
	if failed, ok := event.(idp.Failed); !ok || failed.Code != idp.CommunicationError || failed.Cause == nil {
		t.Errorf("%+v, %v", event, err)
	}
	if n := len(p.Asked()) - prompts; n != 3 {
		t.Errorf("the phone rang %d times", n)
	}
}

// TestExpired checks that a conversation ends after its time, whatever Auðkenni answers, unless the person has
// answered.
func TestExpired(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{Interval: 10 * time.Second})
	provider, _ := open(t, p, audkenni.Options{})
	late := func(answer openidtest.Answer) *talk {
		person := newPerson(t)
		person.Answer = answer
		p.Person(person)
		c := begin(t, provider, named(person, idp.App), nil)
		state := c.state()
		state.Expires = time.Now()
		c.note(state, c.event, nil)
		return c
	}
	want := idp.Failure{Code: idp.ExpiredToken, OAuth: "expired_token", Description: "The signing request has expired."}
	ended := func(t *testing.T, c *talk) {
		t.Helper()
		c.step()
		if diff := cmp.Diff(want, c.failure()); diff != "" {
			t.Error(diff)
		}
	}
	t.Run("the person has not answered", func(t *testing.T) { ended(t, late(openidtest.Answer{Silent: true})) })
	t.Run("Auðkenni cannot be asked", func(t *testing.T) {
		c := late(openidtest.Answer{})
		p.Fault(openidtest.Fault{Endpoint: openidtest.Token})
		ended(t, c)
	})
	t.Run("Auðkenni knows of nothing any more", func(t *testing.T) {
		c := late(openidtest.Answer{})
		if _, event, err := provider.Poll(t.Context(), c.state()); event != (idp.Continue{}) {
			t.Fatalf("%+v, %v", event, err)
		}
		ended(t, c)
	})
	t.Run("the person has refused", func(t *testing.T) {
		c := late(openidtest.Answer{Error: &openidtest.Refusal{Code: "access_denied", Description: "mssp_401"}})
		c.step()
		if f := c.failure(); f.Code != idp.UserCancelled {
			t.Errorf("%+v", f)
		}
	})
	t.Run("the person has answered", func(t *testing.T) { late(openidtest.Answer{}).run().verify() })
}

// TestRetryAfterIsBounded checks that RetryAfter does not exceed the lifetime of the conversation.
func TestRetryAfterIsBounded(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{Interval: 10 * time.Second})
	provider, _ := open(t, p, audkenni.Options{Ping: true}) // of which this provider knows nothing
	person := newPerson(t)
	person.Answer.Silent = true
	p.Person(person)
	c := begin(t, provider, named(person, idp.App), nil)
	state := c.state()
	state.Expires = time.Now().Add(5 * time.Second)
	c.note(provider.Poll(t.Context(), state))
	if w := c.event.(idp.Waiting); w.RetryAfter > 5*time.Second {
		t.Errorf("RetryAfter is %v", w.RetryAfter)
	}
}

// TestPendingRequest checks that a code after which polling continues is a failure if it is the answer to a
// request, since there is nothing to poll.
func TestPendingRequest(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{})
	provider, _ := open(t, p, audkenni.Options{})
	person := newPerson(t)
	person.Answer.AtStart = &openidtest.Refusal{Code: "authorization_pending", Description: "wait"}
	p.Person(person)
	want := idp.Failure{OAuth: "authorization_pending", Description: "wait"}
	if diff := cmp.Diff(want, begin(t, provider, named(person, idp.App), nil).failure()); diff != "" {
		t.Error(diff)
	}
}

// TestLimits checks that a limit of Auðkenni's ends no conversation: the first request is refused with the time to wait,
// and a later one is repeated after that time.
func TestLimits(t *testing.T) {
	t.Parallel()
	p := openidtest.Start(t, openidtest.Options{})
	header := map[string]string{"Retry-After": "90"}
	for name, test := range map[string]struct {
		fault openidtest.Fault
		want  time.Duration
	}{
		"429":                     {openidtest.Fault{Status: 429, Header: header, Body: `{"error":"invalid_request"}`}, 90 * time.Second},
		"429 of a proxy":          {openidtest.Fault{Status: 429, Header: header, Body: "<html>"}, 90 * time.Second},
		"429 without Retry-After": {openidtest.Fault{Status: 429}, time.Minute},
		"slow_down":               {openidtest.Fault{Status: 400, Header: header, Body: `{"error":"slow_down"}`}, 90 * time.Second},
		"too_many_requests":       {openidtest.Fault{Status: 403, Body: `{"error":"too_many_requests"}`}, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			person := newPerson(t)
			p.Person(person)
			provider, _ := open(t, p, audkenni.Options{})
			test.fault.Endpoint = openidtest.Backchannel
			isLimit := func(err error) {
				t.Helper()
				var limit *idp.TooManyRequestsError
				if !errors.As(err, &limit) || limit.RetryAfter != test.want {
					t.Errorf("%#v", err)
				}
			}
			p.Fault(test.fault)
			_, _, err := provider.Begin(t.Context(), "key", named(person, idp.App), idp.Text{}, nil)
			isLimit(err)
			c := begin(t, provider, named(person, idp.SIM), parsed(t, person.Certificate))
			p.Fault(test.fault)
			_, _, err = c.sign(t.Context())
			isLimit(err)
			c.run().verify()

			c = begin(t, provider, named(person, idp.App), nil)
			for len(c.trail) < 3 {
				c.step()
			}
			before := c.state()
			for range 4 {
				p.Fault(test.fault)
				var fault *idp.FaultError
				if _, _, err := c.sign(t.Context()); !errors.As(err, &fault) || fault.RetryAfter != test.want {
					t.Errorf("%#v", err)
				}
			}
			if diff := cmp.Diff(before, c.state()); diff != "" {
				t.Error(diff)
			}
			c.run().verify()
		})
	}
}
