package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/innsigli/innsigli/httpapi"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// crowded are webhooks whose activations and tests come to no turn.
type crowded struct{ httpapi.Webhooks }

func (crowded) Activate(context.Context, string, string) (delivery.Subscription, error) {
	return delivery.Subscription{}, fmt.Errorf("activating: %w", delivery.ErrTooManyCalls)
}

func (crowded) Test(context.Context, string, string) error {
	return fmt.Errorf("testing: %w", delivery.ErrTooManyCalls)
}

// RFC 6585 4: 429 with the time to wait, and nobody has failed.
func TestActivationsThatGetNoTurn(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{hooks: func(all httpapi.Webhooks) httpapi.Webhooks { return crowded{all} }}).portal(t)
	id := c.subscribe("https://hooks.example/")
	for _, call := range []string{"/activate", "/test"} {
		a := c.call(http.MethodPost, webhooks+"/"+id+call, nil)
		c.wantProblem(a, http.StatusTooManyRequests, "Too many activations and tests")
		diff(t, "Retry-After", "30", a.header.Get("Retry-After"))
	}
}
