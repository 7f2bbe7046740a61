package delivery_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook"
	"github.com/innsigli/innsigli/webhook/delivery"
)

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
			bubble(t, delivery.Options{}, func(h *house) {
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

// What an account does not have does not exist for it (spec 1.7).
func TestOfAnotherAccount(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *house) {
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
	bubble(t, delivery.Options{}, func(h *house) {
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
