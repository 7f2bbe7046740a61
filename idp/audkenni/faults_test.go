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

// faults are what may become of a request on its way, and what it means to a conversation that
// has not begun.
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

// A fault ends a conversation only where nobody was asked yet; else the same call brings what
// it would have brought. What is lost after Auðkenni has given it is not to be had again.
func TestFaults(t *testing.T) {
	t.Parallel()
	p := openidtest.Start(t, openidtest.Options{})
	for _, at := range []struct {
		method   idp.Method
		known    bool // the SIM's certificate
		before   int  // how many events come before the fault
		endpoint openidtest.Endpoint
		first    bool // nobody was asked yet
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
				person := somebody(t)
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
					failsUnasked(t, c, idp.CommunicationError, idp.SystemUnderMaintenance)
				case at.before == 0:
					failsUnasked(t, c, f.begin)
				case at.first:
					c.step()
					failsUnasked(t, c, f.begin)
				case fault.Handled && at.endpoint == openidtest.Token:
					c.isFault(person)
					if got := c.run().failure(); got.Code != idp.InvalidGrant {
						t.Errorf("the answer is lost, but %+v", got)
					}
				default:
					c.isFault(person)
					c.run().verify()
				}
			})
		}
	}
}

// failsUnasked: the caller hears at once that it cannot go on.
func failsUnasked(t *testing.T, c *talk, either ...idp.ErrorCode) {
	t.Helper()
	for _, code := range either {
		if f := c.failure(); f.Code == code && (f.Description != "" || f.OAuth != "") {
			return
		}
	}
	t.Errorf("want one of %q, got %+v", either, c.event)
}

// isFault makes the next call, which is an error that changes nothing, and says nothing of the
// person or of what is secret.
func (c *talk) isFault(person openidtest.Person) {
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
	if diff := cmp.Diff(c.uncounted(before), c.uncounted(after)); diff != "" {
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

// uncounted is a State without the number of questions whose answer was lost.
func (c *talk) uncounted(s idp.State) idp.State {
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

// texts are those within a value, at any depth.
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

// Auðkenni is restarted between any two calls, and so is the service.
func TestRestarts(t *testing.T) {
	testenv.Slow(t, "the provider is restarted between all calls")
	t.Parallel()
	p := openidtest.Start(t, openidtest.Options{})
	for method, want := range map[idp.Method][]string{idp.App: byApp, idp.SIM: trail(learns, signs)} {
		t.Run(string(method), func(t *testing.T) {
			person := somebody(t)
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

// The tokens outlive the caller, as long as Auðkenni takes them.
func TestClaimsAreReadAgain(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{})
	person := somebody(t)
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
