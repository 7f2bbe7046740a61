package transfer

import (
	"context"
	"fmt"

	"github.com/innsigli/innsigli/portal"
)

// processes copies the processes and their documents, but those that came with requests.
func (c *transfer) processes(ctx context.Context) error {
	return batches(c.from.AllProcesses(ctx), func(some []portal.Process) error {
		var created []string
		for i := range some {
			p := &some[i]
			copied, there := c.shared[p.Document]
			if !there {
				var err error
				if copied, err = c.document(ctx, p.Document); err != nil {
					return fmt.Errorf("document of process %s: %w", p.ID, err)
				}
				created = append(created, copied)
			}
			p.Document = copied
		}
		return store(ctx, c, some, created, &c.done.Processes, c.to.Processes().CreateProcess)
	})
}

func (c *transfer) processKeys(ctx context.Context) error {
	return each(ctx, c, c.from.AllKeys(ctx), &c.done.ProcessKeys, c.to.Processes().CreateKey)
}

func (c *transfer) ledger(ctx context.Context) error {
	return each(ctx, c, c.from.AllLines(ctx), &c.done.Lines, c.to.Accounts().AddLine)
}
