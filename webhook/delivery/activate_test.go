package delivery_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/webhook"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// activated is a subscription that its endpoint has let become active.
func (h *house) activated() delivery.Subscription {
	h.Helper()
	s, err := h.hooks.Activate(h.Context(), account, h.created(signed).ID)
	if err != nil {
		h.Fatal(err)
	}
	return s
}

// now is a subscription as it is stored.
func (h *house) now(s delivery.Subscription) delivery.Subscription {
	h.Helper()
	s, err := h.hooks.Subscription(h.Context(), account, s.ID)
	if err != nil {
		h.Fatal(err)
	}
	return s
}

// statuses answer what verifies, and what does not. 0 is no answer.
func statuses(verified, unverified int) func(context.Context, request) int {
	return func(_ context.Context, r request) int {
		if r.verifies {
			return verified
		}
		return unverified
	}
}

// spec 5.3
func TestActivate(t *testing.T) {
	t.Parallel()
	failed := func(c delivery.ActivationCheck, status int, f delivery.Failure) *delivery.EndpointError {
		return &delivery.EndpointError{Failed: c, Status: status, Failure: f}
	}
	for name, test := range map[string]struct {
		verified, unverified int
		want                 *delivery.EndpointError
	}{
		"as it is to be":         {200, 401, nil},
		"any 2xx":                {299, 401, nil},
		"all accepted":           {204, 204, failed(delivery.UnverifiablePing, 204, delivery.BadStatus)},
		"another refusal":        {204, 403, failed(delivery.UnverifiablePing, 403, delivery.BadStatus)},
		"fails at what is wrong": {204, 500, failed(delivery.UnverifiablePing, 500, delivery.BadStatus)},
		"all refused":            {401, 401, failed(delivery.SignedPing, 401, delivery.BadStatus)},
		"redirected":             {302, 401, failed(delivery.SignedPing, 302, delivery.BadStatus)},
		"the wrong way round":    {401, 200, failed(delivery.SignedPing, 401, delivery.BadStatus)},
		"out of order":           {503, 503, failed(delivery.SignedPing, 503, delivery.BadStatus)},
		"not there":              {0, 0, failed(delivery.Unreachable, 0, delivery.NoConnection)},
		"not there for one":      {204, 0, failed(delivery.Unreachable, 0, delivery.NoConnection)},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, delivery.Options{}, func(h *house) {
				h.answer = statuses(test.verified, test.unverified)
				s := h.created(signed)
				time.Sleep(time.Minute)
				active, err := h.hooks.Activate(h.Context(), account, s.ID)
				var got *delivery.EndpointError
				if errors.As(err, &got); got != nil {
					h.mustBeInLog(s, got)
					got.Detail = ""
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					h.Fatalf("(-want +got):\n%s", diff)
				}
				want := s
				if test.want == nil {
					want.Active, want.ActivatedAt, want.UpdatedAt = true, time.Now().UTC(), time.Now().UTC()
					if diff := cmp.Diff(want, active); diff != "" {
						h.Errorf("answered (-want +got):\n%s", diff)
					}
				}
				if diff := cmp.Diff(want, h.now(s)); diff != "" {
					h.Errorf("stored (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// mustBeInLog: the log says what the owner was told.
func (h *house) mustBeInLog(s delivery.Subscription, told *delivery.EndpointError) {
	h.Helper()
	for _, a := range h.attempts(s) {
		if a.Failure == told.Failure && a.Status == told.Status && a.Detail == told.Detail && a.Detail != "" {
			return
		}
	}
	h.Errorf("told: %v; the log has %+v", told, h.attempts(s))
}

// The two pings come in either order, and differ in nothing but what every ping has of its own.
func TestActivationPingsAreAlike(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *house) {
		if _, err := h.hooks.RotateKey(h.Context(), time.Hour); err != nil {
			h.Fatal(err)
		}
		s := h.created(signed)
		verifiedFirst := 0
		const times = 40 // all of one order: 1 in 2^39
		for range times {
			h.requests = nil
			if _, err := h.hooks.Activate(h.Context(), account, s.ID); err != nil {
				h.Fatal(err)
			}
			pings := h.sent(s, webhook.PingType)
			if len(pings) != 2 || pings[0].verifies == pings[1].verifies {
				h.Fatalf("the pings are %+v", pings)
			}
			if pings[0].verifies {
				verifiedFirst++
			}
			mustBeAlike(h.T, pings[0], pings[1])
			time.Sleep(time.Second)
		}
		if verifiedFirst == 0 || verifiedFirst == times {
			h.Errorf("the signed ping was first %d times of %d", verifiedFirst, times)
		}
		for _, a := range h.attempts(s) {
			if a.Purpose != delivery.ForActivation || a.Failure != "" || a.Type != webhook.PingType || a.Number != 0 {
				h.Fatalf("the log has %+v", a)
			}
		}
	})
}

// spec 5.3: an activation takes up to 30 seconds, and what the endpoint has not answered in 15
// it does not answer.
func TestActivationTime(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answers, takes time.Duration
		want           bool
	}{
		"almost too slow": {15*time.Second - 1, 30*time.Second - 2, true},
		"too slow":        {16 * time.Second, 15 * time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, delivery.Options{}, func(h *house) {
				h.answer = func(ctx context.Context, r request) int {
					select {
					case <-ctx.Done():
					case <-time.After(test.answers):
					}
					return statuses(200, 401)(ctx, r)
				}
				s := h.created(signed)
				began := time.Now()
				_, err := h.hooks.Activate(h.Context(), account, s.ID)
				if took := time.Since(began); took != test.takes {
					h.Errorf("it took %v", took)
				}
				var failed *delivery.EndpointError
				if got := !errors.As(err, &failed); got != test.want {
					h.Fatalf("%v", err)
				}
				if !test.want && (failed.Failed != delivery.Unreachable || failed.Failure != delivery.TimedOut) {
					h.Errorf("%+v", failed)
				}
			})
		})
	}
}

// A caller who does not wait any longer gets no subscription that is active.
func TestActivationGivenUp(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *house) {
		s := h.created(signed)
		ctx, cancel := context.WithTimeout(h.Context(), time.Second)
		defer cancel()
		h.answer = func(ctx context.Context, _ request) int { <-ctx.Done(); return 0 }
		if _, err := h.hooks.Activate(ctx, account, s.ID); !errors.Is(err, context.DeadlineExceeded) {
			h.Errorf("%v", err)
		}
		if h.now(s).Active || len(h.attempts(s)) > 0 {
			h.Errorf("it is %+v, and the log has %v", h.now(s), h.attempts(s))
		}
	})
}
