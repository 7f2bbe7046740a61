package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

// wellWithin is how long after its database is back a service may take to be well again.
const wellWithin = 5 * time.Second

func outageTrial(ctx context.Context, flags *flag.FlagSet, args []string, out io.Writer) error {
	store := flags.String("postgres", "", "URL of an empty database")
	restart := flags.String("restart", "", "shell command that restarts the database and ends when it answers")
	span := flags.Duration("for", 20*time.Second, "how long clients begin requests")
	servers := flags.Int("servers", 2, "servers")
	clients := flags.Int("clients", 16, "clients that sign at once")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return outage(ctx, *store, *span, *servers, *clients, wellWithin, out, func(ctx context.Context, _ <-chan struct{}) error {
		output, err := exec.CommandContext(ctx, "sh", "-c", *restart).CombinedOutput()
		if err != nil {
			return fmt.Errorf("restarting the database: %w\n%s", err, output)
		}
		return nil
	})
}

// outage restarts the database while clients sign, a third into the time. The restart is told when the first
// call was answered with 503: one that waits meanwhile, and is answered when the database is back, met no outage.
// within is how long bad answers may come after it is back; 0: as long as it takes until there is a good one.
func outage(ctx context.Context, store string, span time.Duration, servers, clients int, within time.Duration, out io.Writer, restart func(ctx context.Context, met <-chan struct{}) error) error {
	c, err := newCrowd(ctx, store, servers, clients)
	if err != nil {
		return err
	}
	defer c.remove()
	watch, err := c.newWatch(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	var down, up time.Time
	err = c.signFor(ctx, span, func(signing context.Context) error {
		watched, enough := context.WithCancel(ctx)
		var watching sync.WaitGroup
		watching.Go(func() { watch.run(watched) })
		defer watching.Wait()
		defer enough()
		pause(signing, span/3)
		down = time.Now()
		c.deaths.Add(1) // of the database, which undoes what the servers were about to note
		err := restart(ctx, watch.met)
		up = time.Now()
		<-signing.Done()
		pause(ctx, time.Until(up.Add(within))) // a slow machine meets the outage late
		for within == 0 && err == nil && ctx.Err() == nil && watch.lastGood.Load() < up.UnixNano() {
			pause(ctx, 10*time.Millisecond)
		}
		return err
	})
	took := time.Since(began)
	if err == nil {
		err = c.stop()
	}
	if err != nil {
		return err
	}
	ill := max(watch.lastBad.Sub(up), 0)
	err = c.count.print(out, took,
		[2]any{"the database was away for", up.Sub(down).Round(time.Millisecond)},
		[2]any{"calls answered with 503 meanwhile", watch.unavailable},
		[2]any{"of them without Retry-After", watch.noRetryAfter},
		[2]any{"other bad answers", watch.other},
		[2]any{"slowest answer", watch.slowest.Round(time.Millisecond)},
		[2]any{"last bad answer after its return", ill.Round(time.Millisecond)},
	)
	broken := len(c.count.faults) + c.count.lost + c.count.doubled + watch.noRetryAfter + watch.other
	if err == nil && (broken > 0 || within > 0 && ill > within || watch.unavailable == 0 || c.count.delivered == 0 || watch.lastGood.Load() < up.UnixNano()) {
		err = errBroken
	}
	return err
}

// watch makes whole signings one after another, and notes how each call was answered.
type watch struct {
	*signer
	met                              chan struct{} // closed when a call was answered with 503
	unavailable, noRetryAfter, other int
	slowest                          time.Duration
	lastBad                          time.Time    // answer
	lastGood                         atomic.Int64 // the same, in nanoseconds since 1970
}

func (c *crowd) newWatch(ctx context.Context) (*watch, error) {
	api, err := newClient(ctx, c.signers[0].addresses)
	if err != nil {
		return nil, err
	}
	s := &signer{client: api, count: c.count}
	return &watch{signer: s, met: make(chan struct{})}, s.addUser(ctx, len(c.signers), 0)
}

func (w *watch) run(ctx context.Context) {
	for ctx.Err() == nil {
		a := w.notes(ctx, w.post(ctx, "/api/v1/signing", w.startText(pdftest.Build(pdftest.Options{}), "")))
		for a.PollingID != "" && ctx.Err() == nil {
			id := a.PollingID
			if a = w.notes(ctx, w.do(ctx, http.MethodGet, "/api/v1/signing/"+id, nil)); a.ErrorCode == "AuthorizationPending" || a.lost() {
				a.PollingID = id
			}
		}
		pause(ctx, 10*time.Millisecond)
	}
}

func (w *watch) notes(ctx context.Context, a answer) answer {
	if ctx.Err() != nil {
		return a
	}
	w.slowest = max(w.slowest, a.received.Sub(a.sent))
	switch {
	case a.Status == http.StatusOK, a.ErrorCode == "AuthorizationPending":
		w.lastGood.Store(a.received.UnixNano())
		return a
	case a.Status == http.StatusServiceUnavailable:
		if w.unavailable++; w.unavailable == 1 {
			close(w.met)
		}
		if a.retryAfter == "" {
			w.noRetryAfter++
		}
	case a.Status == http.StatusNotFound: // the answer before was cut off
		return a
	default:
		w.other++
		w.count.fault("during the outage: %v", a)
	}
	w.lastBad = a.received
	return a
}
