package main

import (
	"context"
	"fmt"
	"io"
	"time"
)

type webhookKeysCommand struct{ storeFlag }

func (webhookKeysCommand) Help() string {
	return "The keys of v1a, as /.well-known/webhook-key.pub has them. Each of them signs, until its time has come. " + worksWhileServing + "\n\nExample: innsigli webhook keys --store bolt:innsigli.db"
}

func (c webhookKeysCommand) Run(ctx context.Context, s streams) error {
	return withOperator(ctx, c.Store, func(o operator) error { return printKeys(ctx, s.out, o) })
}

func printKeys(ctx context.Context, w io.Writer, o operator) error {
	keys, err := o.WebhookKeys(ctx)
	if err != nil {
		return err
	}
	return table(w, "KEY\tCREATED\tSIGNS UNTIL\tPUBLIC KEY", keys, func(k publicKey) string {
		end := "-"
		if !k.EndsAt.IsZero() {
			end = timeText(k.EndsAt)
		}
		return fmt.Sprintf("%d\t%s\t%s\t%s", k.Number, timeText(k.CreatedAt), end, k.Line)
	})
}

type webhookRotateCommand struct {
	storeFlag
	masterKeyFlag
	Overlap span `default:"7d" placeholder:"TIME" help:"How long the keys of before go on signing beside the new one (default ${default})."`
}

func (webhookRotateCommand) Help() string {
	return "It makes a new key of v1a. Receivers have to learn it from /.well-known/webhook-key.pub within the overlap. The secrets of v1 belong to subscriptions and stay. A server that runs on a store of the form bolt:PATH seals the new key with its own master key; in any other case the first key of --master-key-file seals it.\n\nExample: innsigli webhook rotate-key --overlap 30d --store postgres://innsigli@db.example/innsigli --master-key-file master.key"
}

// maxOverlap is more than anybody needs to fetch a key.
const maxOverlap = 366 * day

func (c webhookRotateCommand) Run(ctx context.Context, s streams) error {
	if overlap := time.Duration(c.Overlap); overlap < 0 || overlap > maxOverlap {
		return fmt.Errorf("%w: --overlap is not between 0 and a year", errUsage)
	}
	in, err := parseStore(c.Store)
	if err != nil {
		return err
	}
	return withOperator(ctx, c.Store, func(o operator) error {
		if err := o.RotateWebhookKey(ctx, c.file(in), time.Duration(c.Overlap)); err != nil {
			return err
		}
		return printKeys(ctx, s.out, o)
	})
}
