package signing_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
)

// A log of the steps tells what happened to a request.
func TestSteps(t *testing.T) {
	t.Parallel()
	p := once(t)
	var got []string
	s := newService(t, p, signing.Options{AnyPace: true, Told: func(_ context.Context, s signing.Step) {
		line := fmt.Sprintf("%s %s%s", s.Name, s.Note, s.Code)
		if s.Err != nil {
			line += s.Err.Error()
		}
		got = append(got, line)
		if s.Request == "" {
			t.Errorf("%s: of no request", line)
		}
	}})
	steps := func(what string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
		got = nil
	}
	id := s.mustStart()
	steps("the start", "signature.asked ", "provider.asked begin needdigest", "signature.prepared ", "provider.asked sign waiting")

	answer := p.poll
	p.poll = func(state idp.State) (idp.State, idp.Event, error) { return state, nil, errors.New("connection reset") }
	s.poll(id)
	steps("a fault", "provider.asked poll error", "provider.failed connection reset")

	p.poll = answer
	s.poll(id)
	steps("the signature", "provider.asked poll continue", "provider.asked poll signed", "signature.made ", "signature.completed ", "signature.delivered ")

	p.begin = func() (idp.Event, error) {
		return idp.Failed{Failure: idp.Failure{Code: idp.CommunicationError}, Cause: errors.New("no route to host")}, nil
	}
	if _, err := s.start(); err == nil {
		t.Error("not refused")
	}
	steps("a refusal", "signature.asked ", "provider.asked begin failed", "provider.failed no route to host", "signature.failed CommunicationError")
}
