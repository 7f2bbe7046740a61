package transfer

import (
	"context"
	"math"

	"github.com/innsigli/innsigli/webhook/delivery"
)

func (c *transfer) signingKeys(ctx context.Context) error {
	keys, err := c.from.Webhooks().Keys(ctx)
	if err != nil {
		return err
	}
	return each(ctx, c, known(keys), &c.done.SigningKeys, c.to.Webhooks().CreateKey)
}

// subscriptions copies also those of an account that has more of them than it may by now.
func (c *transfer) subscriptions(ctx context.Context) error {
	return each(ctx, c, c.from.AllSubscriptions(ctx), &c.done.Subscriptions, func(ctx context.Context, s delivery.Subscription) error {
		return c.to.Webhooks().CreateSubscription(ctx, s, math.MaxInt)
	})
}

func (c *transfer) attempts(ctx context.Context) error {
	return each(ctx, c, c.from.AllAttempts(ctx), &c.done.Attempts, c.to.Webhooks().AddAttempt)
}

func (c *transfer) dropped(ctx context.Context) error {
	return each(ctx, c, c.from.AllDropped(ctx), &c.done.Dropped, c.to.Webhooks().AddDropped)
}
