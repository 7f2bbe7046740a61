package ciba_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp/ciba"
	"github.com/innsigli/innsigli/internal/openidtest"
)

// calls are the statuses of the calls of an endpoint.
func calls(p *openidtest.Provider, e openidtest.Endpoint) (statuses []int) {
	for _, c := range p.Calls() {
		if c.Endpoint == e {
			statuses = append(statuses, c.Status)
		}
	}
	return statuses
}

// A key that is new is found at once, and one that was withdrawn does not count any more,
// as soon as the client has heard of it.
func TestKeysChange(t *testing.T) {
	p, c := connect(t, openidtest.Options{}, nil)
	old, err := poll(t, c, ask(t, c, appAuth()).ID)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := c.Claims(t.Context(), old); err != nil {
			t.Fatal(err)
		}
	}
	p.RotateKeys(true)
	if _, err := authenticate(t, c); err != nil {
		t.Errorf("with a new key: %v", err)
	}
	if _, err := c.Claims(t.Context(), old); err != nil {
		t.Errorf("the old key is still there: %v", err)
	}
	p.RotateKeys(false)
	if _, err := authenticate(t, c); err != nil {
		t.Errorf("with a new key alone: %v", err)
	}
	if d := cmp.Diff([]int{200, 200, 200}, calls(p, openidtest.JWKS)); d != "" {
		t.Errorf("requests for keys: %s", d)
	}
	var untrusted *ciba.UntrustedError
	if _, err := c.Claims(t.Context(), old); !errors.As(err, &untrusted) {
		t.Errorf("a withdrawn key: %v", err)
	}
	// It was looked for, and is not looked for again so soon.
	var fault *ciba.TransportError
	if _, err := c.Claims(t.Context(), old); !errors.As(err, &fault) {
		t.Errorf("a withdrawn key, again: %v", err)
	}
	if d := cmp.Diff([]int{200, 200, 200, 200}, calls(p, openidtest.JWKS)); d != "" {
		t.Errorf("requests for keys: %s", d)
	}
}

// A provider that was killed and started again goes on with what it was asked before.
func TestProviderRestarts(t *testing.T) {
	p, c := connect(t, openidtest.Options{}, nil)
	p.Person(person(openidtest.Answer{Silent: true}))
	asked := ask(t, c, appAuth())
	p.Stop()
	var fault *ciba.TransportError
	if _, err := c.Tokens(t.Context(), asked.ID); !errors.As(err, &fault) || fault.Status != 0 {
		t.Fatalf("while the provider is away: %v", err)
	}
	p.Go()
	p.Person(person(openidtest.Answer{}))
	tokens, err := poll(t, c, asked.ID)
	if err != nil {
		t.Fatal(err)
	}
	p.Restart()
	if _, err := c.Claims(t.Context(), tokens); err != nil {
		t.Error(err)
	}
}
