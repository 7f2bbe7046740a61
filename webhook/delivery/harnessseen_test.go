package delivery_test

import (
	"slices"

	"github.com/innsigli/innsigli/webhook/delivery"
)

// sent are the requests of an event type to a subscription.
func (h *house) sent(to delivery.Subscription, eventType string) (list []request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.requests {
		if r.to == to.ID && r.Type == eventType {
			list = append(list, r)
		}
	}
	return list
}

// attempts is the log of a subscription, the first attempt first.
func (h *house) attempts(of delivery.Subscription) (list []delivery.Attempt) {
	h.Helper()
	for a, err := range h.hooks.Attempts(h.Context(), of.ID) {
		if err != nil {
			h.Fatal(err)
		}
		list = append(list, a)
	}
	slices.Reverse(list)
	return list
}

// dropped are the events that were given up for a subscription.
func (h *house) dropped(of delivery.Subscription) []delivery.Dropped {
	h.Helper()
	list, err := h.hooks.Dropped(h.Context(), of.ID)
	if err != nil {
		h.Fatal(err)
	}
	return list
}

// nothingDue: there is nothing left to be sent.
func (h *house) nothingDue() {
	h.Helper()
	if due, err := h.hooks.OldestDue(h.Context()); err != nil || !due.IsZero() {
		h.Errorf("something is due at %v, error %v", due, err)
	}
}
