package main

import (
	"context"
	"net/http"
	"time"

	"github.com/innsigli/innsigli/webhook/delivery"
)

// The arguments of the calls about webhooks, as JSON.
type (
	attemptsAsked struct {
		Subscription string
		Most         int
	}
	eventOf  struct{ Subscription, Event string }
	rotation struct{ Overlap time.Duration }
)

// webhookCalls serves the calls of a [socketClient] that are about webhooks.
func webhookCalls(mux *http.ServeMux, o direct) {
	mux.HandleFunc("POST /webhook-subscriptions", answer(o.Subscriptions))
	mux.HandleFunc("POST /webhook-attempts", answer(func(ctx context.Context, a attemptsAsked) ([]delivery.Attempt, error) {
		return o.Attempts(ctx, a.Subscription, a.Most)
	}))
	mux.HandleFunc("POST /webhook-dropped", answer(o.Dropped))
	mux.HandleFunc("POST /webhook-send-again", answer(func(ctx context.Context, e eventOf) (nothing, error) {
		return nothing{}, o.SendAgain(ctx, e.Subscription, e.Event)
	}))
	mux.HandleFunc("POST /webhook-keys", answer(func(ctx context.Context, _ nothing) ([]publicKey, error) { return o.WebhookKeys(ctx) }))
	mux.HandleFunc("POST /webhook-sealed-keys", answer(func(ctx context.Context, _ nothing) ([]delivery.SigningKey, error) { return o.SealedKeys(ctx) }))
	mux.HandleFunc("POST /webhook-rotate-key", answer(func(ctx context.Context, r rotation) (nothing, error) {
		return nothing{}, o.RotateWebhookKey(ctx, "", r.Overlap)
	}))
}

func (c socketClient) Subscriptions(ctx context.Context, account string) ([]delivery.Subscription, error) {
	return call[[]delivery.Subscription](ctx, c, "webhook-subscriptions", account)
}

func (c socketClient) Attempts(ctx context.Context, subscription string, most int) ([]delivery.Attempt, error) {
	return call[[]delivery.Attempt](ctx, c, "webhook-attempts", attemptsAsked{subscription, most})
}

func (c socketClient) Dropped(ctx context.Context, subscription string) ([]delivery.Dropped, error) {
	return call[[]delivery.Dropped](ctx, c, "webhook-dropped", subscription)
}

func (c socketClient) SendAgain(ctx context.Context, subscription, event string) error {
	_, err := call[nothing](ctx, c, "webhook-send-again", eventOf{subscription, event})
	return err
}

func (c socketClient) WebhookKeys(ctx context.Context) ([]publicKey, error) {
	return call[[]publicKey](ctx, c, "webhook-keys", nothing{})
}

func (c socketClient) SealedKeys(ctx context.Context) ([]delivery.SigningKey, error) {
	return call[[]delivery.SigningKey](ctx, c, "webhook-sealed-keys", nothing{})
}

// RotateWebhookKey leaves the file alone: the server has read its own.
func (c socketClient) RotateWebhookKey(ctx context.Context, _ string, overlap time.Duration) error {
	_, err := call[nothing](ctx, c, "webhook-rotate-key", rotation{overlap})
	return err
}
