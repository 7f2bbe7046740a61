package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/innsigli/innsigli/webhook/delivery"
)

type webhookListCommand struct {
	storeFlag
	Account string `arg:"" help:"ID of the account."`
}

func (webhookListCommand) Help() string {
	return "STATE is active, failing (active, with pings that fail since then), inactive, or why it is not active any more. " + worksWhileServing + "\n\nExample: innsigli webhook list 0b6c8f0e-6c1e-4f0f-9d3e-0c9a5f7b2d11"
}

func (c webhookListCommand) Run(ctx context.Context, s streams) error {
	return withOperator(ctx, c.Store, func(o operator) error {
		list, err := o.Subscriptions(ctx, c.Account)
		if err != nil {
			return err
		}
		return table(s.out, "SUBSCRIPTION\tSTATE\tSINCE\tEVENT TYPES\tURL", list, func(w delivery.Subscription) string {
			state, since := stateOf(w)
			return fmt.Sprintf("%s\t%s\t%s\t%s\t%s", w.ID, state, timeText(since), strings.Join(w.EventTypes, " "), w.URL)
		})
	})
}

// stateOf is what a subscription is, and since when.
func stateOf(w delivery.Subscription) (state string, since time.Time) {
	switch {
	case w.Active && !w.FailingSince.IsZero():
		return "failing", w.FailingSince
	case w.Active:
		return "active", w.ActivatedAt
	case w.Reason != "":
		return string(w.Reason), w.UpdatedAt
	}
	return "inactive", w.CreatedAt
}
