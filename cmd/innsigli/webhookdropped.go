package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/innsigli/innsigli/webhook/delivery"
)

type webhookDroppedCommand struct {
	storeFlag
	Subscription string `arg:"" help:"ID of the subscription."`
}

func (webhookDroppedCommand) Help() string {
	return "An event is given up when eight attempts have failed, which takes 33 hours. " + worksWhileServing + "\n\nExample: innsigli webhook dropped 3f0c4a52-58f3-4e0b-8a53-6c1f3f1d7c55"
}

func (c webhookDroppedCommand) Run(ctx context.Context, s streams) error {
	return withOperator(ctx, c.Store, func(o operator) error {
		list, err := o.Dropped(ctx, c.Subscription)
		if err != nil {
			return err
		}
		return table(s.out, "EVENT\tGIVEN UP\tTYPE", list, func(d delivery.Dropped) string {
			return fmt.Sprintf("%s\t%s\t%s", d.Event, timeText(d.At), d.Type)
		})
	})
}

type webhookResendCommand struct {
	storeFlag
	Subscription string   `arg:"" help:"ID of the subscription."`
	Events       []string `arg:"" optional:"" name:"event" help:"IDs of events."`
	All          bool     `help:"All events that were given up."`
}

func (webhookResendCommand) Help() string {
	return "The events are sent from the first attempt on, under the same webhook-id, which \"innsigli webhook dropped\" lists. The subscription has to be active. " + worksWhileServing + "\n\nExample: innsigli webhook resend 3f0c4a52-58f3-4e0b-8a53-6c1f3f1d7c55 --all"
}

func (c webhookResendCommand) Run(ctx context.Context, s streams) error {
	if c.All == (len(c.Events) > 0) {
		return fmt.Errorf("%w: either the IDs of events or --all", errUsage)
	}
	return withOperator(ctx, c.Store, func(o operator) error {
		events := c.Events
		if c.All {
			list, err := o.Dropped(ctx, c.Subscription)
			if err != nil {
				return err
			}
			for _, d := range list {
				events = append(events, d.Event)
			}
		}
		sent, err := sendAgain(ctx, o, c.Subscription, events)
		_, unsaid := fmt.Fprintf(s.out, "events to be sent again: %d\n", sent)
		return errors.Join(err, unsaid)
	})
}

// sendAgain goes on until there is an error, and says how many events went well before.
func sendAgain(ctx context.Context, o operator, subscription string, events []string) (sent int, err error) {
	for _, event := range events {
		if err := o.SendAgain(ctx, subscription, event); err != nil {
			return sent, err
		}
		sent++
	}
	return sent, nil
}
