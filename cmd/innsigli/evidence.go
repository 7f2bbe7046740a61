package main

import (
	"context"
	"fmt"
	"io"

	"github.com/innsigli/innsigli/server/operator"
	"github.com/innsigli/innsigli/storage"
)

type evidenceCommand struct {
	Export evidenceExport `cmd:"" help:"Print the evidence log, one JSON object per line."`
}

func (evidenceCommand) Help() string {
	return "Example: innsigli evidence export --store bolt:innsigli.db > evidence.jsonl"
}

type evidenceExport struct {
	storeFlag
	Request string `placeholder:"ID" help:"Only entries about this signing request or signing process."`
}

func (evidenceExport) Help() string {
	return "Each object has the members seq, subject (ID of the request or process), account, kind, at and facts. They come in the order in which they were recorded. " + worksWhileServing + " The output has personal data.\n\nExample: innsigli evidence export --store bolt:innsigli.db --request 9d0f8a52-58f3-4e0b-8a53-6c1f3f1d7c55"
}

func (c evidenceExport) Run(ctx context.Context, s streams) error {
	printed, err := c.printEntries(ctx, s.stdout, func(o operator.Operator, each func(storage.Entry) error) error {
		return o.Evidence(ctx, c.Request, each)
	})
	if err == nil && printed == 0 && c.Request != "" {
		return fmt.Errorf("the evidence log has no entries about request %q", c.Request)
	}
	return err
}

// printEntries prints the entries of the evidence log that entries passes to each, and returns how many.
func (c storeFlag) printEntries(ctx context.Context, w io.Writer, entries func(o operator.Operator, each func(storage.Entry) error) error) (printed int, err error) {
	err = operator.WriteEntries(w, func(each func(storage.Entry) error) error {
		return c.operate(ctx, func(o operator.Operator) error {
			return entries(o, func(e storage.Entry) error {
				printed++
				return each(e)
			})
		})
	})
	return printed, err
}
