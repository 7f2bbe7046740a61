package signing_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// A log of the steps tells what happened to a request.
func TestSteps(t *testing.T) {
	t.Parallel()
	p := once(t)
	var got []string
	s := newService(t, p, signing.Options{IgnoreInterval: true, OnStep: func(_ context.Context, s signing.Step) {
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
	steps("the start", "signature.asked ", "provider.asked begin needdigest", "provider.asked sign waiting", "signature.prepared ")

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

// TestStepsOfARollback checks that steps are reported when the caller's transaction is committed: a cancellation that is rolled
// back with it is not reported.
func TestStepsOfARollback(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var got []string
		o := newOrders(t, newPhone(t), signing.Options{OnStep: func(_ context.Context, s signing.Step) { got = append(got, s.Name) }})
		id := o.mustOrder()
		failed := errors.New("rolled back")
		for _, outcome := range []error{failed, nil} {
			got = nil
			err := storage.InTx(t.Context(), o.db, func(ctx context.Context) error {
				if err := o.Cancel(ctx, id); err != nil {
					t.Error(err)
				}
				if got != nil {
					t.Errorf("reported before the commit: %v", got)
				}
				return outcome
			})
			if !errors.Is(err, outcome) {
				t.Error(err)
			}
			if (outcome == nil) != slices.Equal(got, []string{"signature.abandoned"}) {
				t.Errorf("with outcome %v: got %v", outcome, got)
			}
		}
	})
}
