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

// spec 5.3: what its owner does while an activation runs.
func TestChangeDuringActivation(t *testing.T) {
	t.Parallel()
	url, same, off := "https://hooks.example.com/new", endpoint, false
	update := func(c delivery.Change) func(h *house, s delivery.Subscription) error {
		return func(h *house, s delivery.Subscription) error {
			_, err := h.hooks.Update(h.Context(), account, s.ID, c)
			return err
		}
	}
	for name, test := range map[string]struct {
		do   func(h *house, s delivery.Subscription) error
		want error
	}{
		"another URL":  {update(delivery.Change{URL: &url}), delivery.ErrChanged},
		"the same URL": {update(delivery.Change{URL: &same}), nil},
		"other types":  {update(delivery.Change{EventTypes: []string{completed}}), nil},
		"switched off": {update(delivery.Change{Active: &off}), delivery.ErrChanged},
		"deleted":      {func(h *house, s delivery.Subscription) error { return h.hooks.Delete(h.Context(), account, s.ID) }, delivery.ErrNotFound},
		"there and back": {func(h *house, s delivery.Subscription) error {
			return errors.Join(update(delivery.Change{URL: &url})(h, s), update(delivery.Change{URL: &same})(h, s))
		}, delivery.ErrChanged},
		"activated": {func(h *house, s delivery.Subscription) error {
			h.answer = nil
			_, err := h.hooks.Activate(h.Context(), account, s.ID)
			return err
		}, nil},
	} {
		for _, before := range []string{"inactive", "active"} {
			t.Run(name+" while "+before, func(t *testing.T) {
				bubble(t, delivery.Options{}, func(h *house) {
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

// mustBeWatched says whether one ping and one check are to come of a subscription.
func (h *house) mustBeWatched(s delivery.Subscription, want bool) {
	h.Helper()
	h.requests = nil
	h.answer = nil
	h.during(5*time.Hour + time.Minute)
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
	bubble(t, delivery.Options{}, func(h *house) {
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

// One that is activated again at once is watched like any other: nothing of the time before is in
// the way.
func TestOffAndOnAgain(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *house) {
		s := h.switchedOff(h.activated())
		if _, err := h.hooks.Activate(h.Context(), account, s.ID); err != nil {
			h.Fatal(err)
		}
		h.mustBeWatched(s, true)
	})
}
