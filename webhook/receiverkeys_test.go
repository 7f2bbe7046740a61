package webhook_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/innsigli/innsigli/webhook"
)

// A receiver that cannot verify says so, and the service sends again once it can.
func TestReceiversWithoutKeys(t *testing.T) {
	t.Parallel()
	e := newReceiving(t, webhook.Receiver{Keys: []webhook.Key{{}}})
	e.answers("1", eventBody, http.StatusInternalServerError, 0)
	if len(e.reports) != 1 || !errors.Is(e.reports[0], webhook.ErrNoKeys) {
		t.Error(e.reports)
	}
}

// Keys that change are asked for at each request. What is changed in a Receiver later is not seen.
func TestLatestKeys(t *testing.T) {
	t.Parallel()
	old, other := webhook.Secret(make([]byte, 32)), webhook.Secret(mustHex(t, hexSecret))
	latest := []webhook.Key{old}
	e := newReceiving(t, webhook.Receiver{Keys: []webhook.Key{other}, GetKeys: func() []webhook.Key { return latest }})
	e.GetKeys = nil
	e.answers("1", eventBody, http.StatusUnauthorized, 0)
	latest = []webhook.Key{old, other}
	e.answers("1", eventBody, http.StatusNoContent, 1)
	latest = nil
	e.answers("2", eventBody, http.StatusInternalServerError, 1)
}
