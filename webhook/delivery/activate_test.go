package delivery_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// activated returns an active subscription.
func (h *harness) activated() delivery.Subscription {
	h.Helper()
	s, err := h.hooks.Activate(h.Context(), account, h.created(signed).ID)
	if err != nil {
		h.Fatal(err)
	}
	return s
}

// now returns the stored subscription.
func (h *harness) now(s delivery.Subscription) delivery.Subscription {
	h.Helper()
	s, err := h.hooks.Subscription(h.Context(), account, s.ID)
	if err != nil {
		h.Fatal(err)
	}
	return s
}

// statuses returns an endpoint that answers requests that verify with one status, and others with another. 0 is no
// answer.
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
			bubble(t, delivery.Options{}, func(h *harness) {
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

// mustBeInLog checks that the log has the failure that the owner got.
func (h *harness) mustBeInLog(s delivery.Subscription, told *delivery.EndpointError) {
	h.Helper()
	for _, a := range h.attempts(s) {
		if a.Failure == told.Failure && a.Status == told.Status && a.Detail == told.Detail && a.Detail != "" {
			return
		}
	}
	h.Errorf("told: %v; the log has %+v", told, h.attempts(s))
}

// The two pings come in random order, and differ only in their IDs, times and signatures.
func TestActivationPingsAreAlike(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *harness) {
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

// spec 5.3: an activation takes up to 30 seconds, and an endpoint that has not answered in 15 seconds is
// unreachable.
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
			bubble(t, delivery.Options{}, func(h *harness) {
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

// An activation whose caller gives up leaves the subscription inactive.
func TestActivationGivenUp(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *harness) {
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

// spec 5.3: changes by the owner during an activation.
func TestChangeDuringActivation(t *testing.T) {
	t.Parallel()
	url, same, off := "https://hooks.example.com/new", endpoint, false
	update := func(c delivery.Change) func(h *harness, s delivery.Subscription) error {
		return func(h *harness, s delivery.Subscription) error {
			_, err := h.hooks.Update(h.Context(), account, s.ID, c)
			return err
		}
	}
	for name, test := range map[string]struct {
		do   func(h *harness, s delivery.Subscription) error
		want error
	}{
		"another URL":  {update(delivery.Change{URL: &url}), delivery.ErrChanged},
		"the same URL": {update(delivery.Change{URL: &same}), nil},
		"other types":  {update(delivery.Change{EventTypes: []string{completed}}), nil},
		"switched off": {update(delivery.Change{Active: &off}), delivery.ErrChanged},
		"deleted":      {func(h *harness, s delivery.Subscription) error { return h.hooks.Delete(h.Context(), account, s.ID) }, delivery.ErrNotFound},
		"there and back": {func(h *harness, s delivery.Subscription) error {
			return errors.Join(update(delivery.Change{URL: &url})(h, s), update(delivery.Change{URL: &same})(h, s))
		}, delivery.ErrChanged},
		"activated": {func(h *harness, s delivery.Subscription) error {
			h.answer = nil
			_, err := h.hooks.Activate(h.Context(), account, s.ID)
			return err
		}, nil},
	} {
		for _, before := range []string{"inactive", "active"} {
			t.Run(name+" while "+before, func(t *testing.T) {
				bubble(t, delivery.Options{}, func(h *harness) {
					s := h.created(signed)
					if before == "active" {
						s = h.activated()
					}
					requests := 0
					h.answer = func(ctx context.Context, r request) int {
						if requests++; requests == 2 {
							time.Sleep(time.Second)
							if err := test.do(h, s); err != nil {
								h.Error(err)
							}
						}
						return statuses(200, 401)(ctx, r)
					}
					_, err := h.hooks.Activate(h.Context(), account, s.ID)
					if err != test.want {
						h.Fatalf("%v", err)
					}
					if test.want == delivery.ErrNotFound {
						return
					}
					if is := h.now(s); is.Active != (test.want == nil) {
						h.Errorf("it is %+v", is)
					}
					h.mustBeWatched(s, test.want == nil)
				})
			})
		}
	}
}

// mustBeWatched checks that one ping and one check are enqueued, or none.
func (h *harness) mustBeWatched(s delivery.Subscription, want bool) {
	h.Helper()
	h.requests = nil
	h.answer = nil
	h.runFor(5*time.Hour + time.Minute)
	pings, checks := 0, 0
	for _, r := range h.sent(s, webhook.PingType) {
		if r.verifies {
			pings++
		} else {
			checks++
		}
	}
	if want && (pings < 4 || pings > 5 || checks < 1 || checks > 5) || !want && pings+checks > 0 {
		h.Errorf("within 5 hours there are %d pings and %d checks", pings, checks)
	}
}

// spec 5.3: a failed activation leaves an active subscription active.
func TestActivateAgain(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *harness) {
		s := h.activated()
		time.Sleep(time.Minute)
		h.answer = statuses(500, 401)
		var failed *delivery.EndpointError
		if _, err := h.hooks.Activate(h.Context(), account, s.ID); !errors.As(err, &failed) {
			h.Errorf("%v", err)
		}
		if diff := cmp.Diff(s, h.now(s)); diff != "" {
			h.Errorf("after a failure (-want +got):\n%s", diff)
		}
		h.answer = nil
		again, err := h.hooks.Activate(h.Context(), account, s.ID)
		if diff := cmp.Diff(s, again); diff != "" || err != nil {
			h.Errorf("after success: %v (-want +got):\n%s", err, diff)
		}
		h.mustBeWatched(s, true)
	})
}

// spec 5.3
func TestTest(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status int
		want   *delivery.EndpointError
	}{
		"accepted":     {http.StatusAccepted, nil},
		"refused":      {401, &delivery.EndpointError{Failed: delivery.SignedPing, Status: 401, Failure: delivery.BadStatus, Detail: "A correctly signed request was answered with status 401 instead of 2xx."}},
		"redirected":   {307, &delivery.EndpointError{Failed: delivery.SignedPing, Status: 307, Failure: delivery.BadStatus, Detail: "A correctly signed request was answered with status 307 instead of 2xx."}},
		"out of order": {500, &delivery.EndpointError{Failed: delivery.SignedPing, Status: 500, Failure: delivery.BadStatus, Detail: "A correctly signed request was answered with status 500 instead of 2xx."}},
		"not there":    {0, &delivery.EndpointError{Failed: delivery.Unreachable, Failure: delivery.NoConnection, Detail: "No connection."}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, delivery.Options{}, func(h *harness) {
				for _, s := range []delivery.Subscription{h.activated(), h.created(signed)} {
					h.answer, h.requests = statuses(test.status, 401), nil
					before := len(h.attempts(s))
					var got *delivery.EndpointError
					errors.As(h.hooks.Test(h.Context(), account, s.ID), &got)
					if diff := cmp.Diff(test.want, got); diff != "" {
						h.Errorf("(-want +got):\n%s", diff)
					}
					if pings := h.sent(s, webhook.PingType); len(pings) != 1 || !pings[0].verifies {
						h.Errorf("sent: %+v", pings)
					}
					if log := h.attempts(s)[before:]; len(log) != 1 || log[0].Purpose != delivery.ForTest || log[0].Status != test.status {
						h.Errorf("the log has %+v", log)
					}
					if diff := cmp.Diff(s, h.now(s)); diff != "" {
						h.Errorf("it changed (-want +got):\n%s", diff)
					}
					h.answer = nil
				}
			})
		})
	}
}

// A subscription of another account does not exist (spec 1.7).
func TestOfAnotherAccount(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *harness) {
		ctx, s := h.Context(), h.activated()
		h.requests = nil
		for name, err := range map[string]error{
			"activate": second(h.hooks.Activate(ctx, "another account", s.ID)),
			"test":     h.hooks.Test(ctx, "another account", s.ID),
			"read":     second(h.hooks.Subscription(ctx, "another account", s.ID)),
			"update":   second(h.hooks.Update(ctx, "another account", s.ID, delivery.Change{EventTypes: []string{signed}})),
			"delete":   h.hooks.Delete(ctx, "another account", s.ID),
			"unknown":  second(h.hooks.Activate(ctx, account, "no such id")),
		} {
			if !errors.Is(err, delivery.ErrNotFound) || errors.Is(err, storage.ErrNotFound) {
				h.Errorf("%s: %v", name, err)
			}
		}
		if len(h.requests) > 0 || !cmp.Equal(s, h.now(s)) {
			h.Errorf("%d requests were sent; it is %+v", len(h.requests), h.now(s))
		}
	})
}

// A ping that is answered after its subscription was deleted leaves no attempt in the log.
func TestDeletedWhilePinged(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *harness) {
		s := h.activated()
		h.answer = func(context.Context, request) int {
			if err := h.hooks.Delete(h.Context(), account, s.ID); err != nil {
				h.Errorf("deleting: %v", err)
			}
			h.tx(func(ctx context.Context) error {
				_, err := h.db.Webhooks().DeleteAttemptsOf(ctx, s.ID, 100)
				return err
			})
			return http.StatusAccepted
		}
		if err := h.hooks.Test(h.Context(), account, s.ID); err != nil {
			h.Errorf("the ping: %v", err)
		}
		if log := h.attempts(s); len(log) > 0 {
			h.Errorf("the log has %+v", log)
		}
	})
}

func second[T any](_ T, err error) error { return err }
