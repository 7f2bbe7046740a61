package main

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// errUndo: the transaction was for reading.
var errUndo = errors.New("undone")

// queued is how many events wait to be sent to the endpoints, each counted once for each. No server
// may run. It claims all jobs there are, as of a time when they are due, and undoes that.
func (o *office) queued(ctx context.Context, at []*endpoint) (n int, err error) {
	waiting := make(map[[2]string]bool)
	err = o.InTx(ctx, func(ctx context.Context) error {
		clear(waiting)
		for _, w := range o.hooks.Work() {
			leases, err := o.Jobs().Claim(ctx, w.Kind, time.Now().Add(100*time.Hour), 1<<30, 1<<30, time.Minute)
			if err != nil {
				return err
			}
			for _, l := range leases {
				var p struct{ Event string }
				if err := json.Unmarshal(l.Payload, &p); err != nil {
					return err
				}
				waiting[[2]string{l.Group, p.Event}] = p.Event != ""
			}
		}
		return errUndo
	})
	if !errors.Is(err, errUndo) {
		return 0, err
	}
	for key, is := range waiting {
		for _, e := range at {
			if is && key[0] == e.to.ID {
				n++
			}
		}
	}
	return n, nil
}

// drain waits until nothing is in the queue, for so long at most.
func (o *office) drain(ctx context.Context, long time.Duration) error {
	for over := time.Now().Add(long); ; pause(ctx, 100*time.Millisecond) {
		due, err := o.hooks.OldestDue(ctx)
		if err != nil || due.IsZero() || time.Now().After(over) {
			return err
		}
	}
}
