package webhook_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook"
)

// service.md 4.3 item 4, 7.4
func TestTest(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status int
		want   *webhook.EndpointError
	}{
		"accepted":     {http.StatusAccepted, nil},
		"refused":      {401, &webhook.EndpointError{Failed: webhook.SignedPing, Status: 401, Failure: webhook.BadStatus, Detail: "A correctly signed request was answered with status 401 instead of 2xx."}},
		"redirected":   {307, &webhook.EndpointError{Failed: webhook.SignedPing, Status: 307, Failure: webhook.BadStatus, Detail: "A correctly signed request was answered with status 307 instead of 2xx."}},
		"out of order": {500, &webhook.EndpointError{Failed: webhook.SignedPing, Status: 500, Failure: webhook.BadStatus, Detail: "A correctly signed request was answered with status 500 instead of 2xx."}},
		"not there":    {0, &webhook.EndpointError{Failed: webhook.Unreachable, Failure: webhook.NoConnection, Detail: "No connection."}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, webhook.Options{}, func(h *house) {
				for _, s := range []webhook.Subscription{h.activated(), h.created(signed)} {
					h.answer, h.requests = statuses(test.status, 401), nil
					before := len(h.attempts(s))
					var got *webhook.EndpointError
					errors.As(h.hooks.Test(h.Context(), account, s.ID), &got)
					if diff := cmp.Diff(test.want, got); diff != "" {
						h.Errorf("(-want +got):\n%s", diff)
					}
					if pings := h.sent(s, webhook.PingType); len(pings) != 1 || !pings[0].verifies {
						h.Errorf("sent: %+v", pings)
					}
					if log := h.attempts(s)[before:]; len(log) != 1 || log[0].Purpose != webhook.ForTest || log[0].Status != test.status {
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

// What an account does not have does not exist for it (decisions.md 2.10).
func TestOfAnotherAccount(t *testing.T) {
	t.Parallel()
	bubble(t, webhook.Options{}, func(h *house) {
		ctx, s := h.Context(), h.activated()
		h.requests = nil
		for name, err := range map[string]error{
			"activate": second(h.hooks.Activate(ctx, "another account", s.ID)),
			"test":     h.hooks.Test(ctx, "another account", s.ID),
			"read":     second(h.hooks.Subscription(ctx, "another account", s.ID)),
			"update":   second(h.hooks.Update(ctx, "another account", s.ID, webhook.Change{EventTypes: []string{signed}})),
			"delete":   h.hooks.Delete(ctx, "another account", s.ID),
			"unknown":  second(h.hooks.Activate(ctx, account, "no such id")),
		} {
			if !errors.Is(err, webhook.ErrNotFound) || errors.Is(err, storage.ErrNotFound) {
				h.Errorf("%s: %v", name, err)
			}
		}
		if len(h.requests) > 0 || !cmp.Equal(s, h.now(s)) {
			h.Errorf("%d requests were sent; it is %+v", len(h.requests), h.now(s))
		}
	})
}

func second[T any](_ T, err error) error { return err }
