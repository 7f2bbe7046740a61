package main

import (
	"testing"
	"time"

	"github.com/innsigli/innsigli/webhook/delivery"
)

// The list tells of trouble: one that is active and whose pings fail is not just active.
func TestStatesOfSubscriptions(t *testing.T) {
	created := time.Date(2026, 3, 1, 7, 5, 0, 0, time.UTC)
	activated, failing, updated := created.Add(time.Hour), created.Add(2*time.Hour), created.Add(3*time.Hour)
	for name, test := range map[string]struct {
		is    delivery.Subscription
		state string
		since time.Time
	}{
		"never active":   {delivery.Subscription{}, "inactive", created},
		"active":         {delivery.Subscription{Active: true, ActivatedAt: activated}, "active", activated},
		"its pings fail": {delivery.Subscription{Active: true, ActivatedAt: activated, FailingSince: failing}, "failing", failing},
		"switched off":   {delivery.Subscription{Reason: delivery.SecurityCheckFailed}, "SecurityCheckFailed", updated},
	} {
		t.Run(name, func(t *testing.T) {
			test.is.CreatedAt, test.is.UpdatedAt = created, updated
			if state, since := stateOf(test.is); state != test.state || !since.Equal(test.since) {
				t.Errorf("%s since %v, want %s since %v", state, since, test.state, test.since)
			}
		})
	}
}
