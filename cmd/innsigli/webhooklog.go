package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/innsigli/innsigli/webhook/delivery"
)

type webhookLogCommand struct {
	storeFlag
	Subscription string `arg:"" help:"ID of the subscription."`
	Limit        int    `default:"100" placeholder:"N" help:"How many attempts, the latest of all (default ${default})."`
	JSON         bool   `help:"Print one JSON object a line."`
}

func (webhookLogCommand) Help() string {
	return "Requests that were made, the latest last: deliveries, hourly pings, security checks (which are right to get 401), and the pings of activations and tests. NEXT is when an attempt is made again. They are kept for 14 days, or what [retention] says. " + worksWhileServing + "\n\nExample: innsigli webhook log 3f0c4a52-58f3-4e0b-8a53-6c1f3f1d7c55"
}

// mostAttempts keeps a log in memory.
const mostAttempts = 100_000

func (c webhookLogCommand) Run(ctx context.Context, s streams) error {
	if c.Limit < 1 || c.Limit > mostAttempts {
		return fmt.Errorf("%w: --limit is not between 1 and %d", errUsage, mostAttempts)
	}
	return withOperator(ctx, c.Store, func(o operator) error {
		list, err := o.Attempts(ctx, c.Subscription, c.Limit)
		if err != nil {
			return err
		}
		slices.Reverse(list)
		if c.JSON {
			return printAttempts(s.out, list)
		}
		return table(s.out, "TIME\tPURPOSE\tATTEMPT\tSTATUS\tTOOK\tNEXT\tEVENT\tTYPE\tWHAT WENT WRONG", list, attemptRow)
	})
}

func attemptRow(a delivery.Attempt) string {
	number, status, next := orDash(a.Number), orDash(a.Status), "-"
	if !a.Next.IsZero() {
		next = timeText(a.Next)
	}
	return fmt.Sprintf("%s\t%s\t%s\t%s\t%v\t%s\t%s\t%s\t%s",
		timeText(a.At), a.Purpose, number, status, a.Duration.Round(time.Millisecond), next, a.Event, a.Type, a.Detail)
}

// orDash is a number, or a dash for 0, which is none.
func orDash(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}

// attemptLine is an attempt in JSON. Where there is none of a value it is null.
type attemptLine struct {
	Time       time.Time         `json:"time"`
	Purpose    delivery.Purpose  `json:"purpose"`
	Event      string            `json:"event"`
	Type       string            `json:"type"`
	Attempt    *int              `json:"attempt"`
	Status     *int              `json:"status"`
	DurationMS int64             `json:"durationMs"`
	Failure    *delivery.Failure `json:"failure"`
	Detail     *string           `json:"detail"`
	Next       *time.Time        `json:"next"`
}

func printAttempts(w io.Writer, list []delivery.Attempt) error {
	lines := json.NewEncoder(w)
	for _, a := range list {
		line := attemptLine{
			a.At, a.Purpose, a.Event, a.Type, orNull(a.Number), orNull(a.Status), a.Duration.Milliseconds(),
			orNull(a.Failure), orNull(a.Detail), orNull(a.Next),
		}
		if err := lines.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

func orNull[T comparable](v T) *T {
	var none T
	if v == none {
		return nil
	}
	return &v
}
