package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

// slowly is how much longer other requests may take while one client wastes a server's time, by the median.
const slowly = 2.0

func slowTrial(ctx context.Context, flags *flag.FlagSet, args []string, out io.Writer) error {
	l := slow{}
	store := flags.String("store", "", "URL of an empty database, or path of a new file")
	flags.IntVar(&l.clients, "clients", 200, "clients that send or take a byte a second, and as many that say nothing")
	flags.IntVar(&l.calls, "calls", 300, "calls of others that are timed, before and meanwhile")
	flags.Float64Var(&l.times, "times", slowly, "how many times as long these may take meanwhile, by the median")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return l.run(ctx, *store, out)
}

// slow is a trial of clients that waste a server's time and memory.
type slow struct {
	clients, calls int
	times          float64
}

func (l slow) run(ctx context.Context, store string, out io.Writer) error {
	var o wasted
	err := onNewServer(ctx, store, func(ctx context.Context, s *server) (err error) {
		if err = s.settle(ctx); err == nil {
			o, err = l.waste(ctx, s)
		}
		return err
	})
	if err != nil {
		return err
	}
	return l.judge(out, o)
}

// settle has the server started before, and its page renderer made: what a machine does once is not to slow down
// what the others are compared with.
func (s *server) settle(ctx context.Context) error {
	c, err := newClient(ctx, []string{s.address})
	if err != nil {
		return err
	}
	person := &signer{client: c, count: new(figures)}
	if err := person.addUser(ctx, 0, 0); err != nil {
		return err
	}
	const stamp = `{"signatureImage":{"alignment":"BottomRight","positioning":"Auto"},`
	body := stamp + strings.TrimPrefix(person.startTextAt(pdftest.Build(pdftest.Options{}), "", "B"), "{")
	if a := c.insist(ctx, func() answer { return c.post(ctx, "/api/v1/signing", body) }); a.Status != http.StatusOK {
		return fmt.Errorf("a first start: %v", a)
	}
	if err := s.stop(); err != nil {
		return err
	}
	return s.start(ctx)
}

// wasted is what became of it.
type wasted struct {
	before, meanwhile []time.Duration // what others' calls took
	peak              int64
	faults            []string
}

// waste measures others' calls, and then once more while the wasters are at it.
func (l slow) waste(ctx context.Context, s *server) (o wasted, err error) {
	other, err := newClient(ctx, []string{s.address})
	if err != nil {
		return o, err
	}
	if o.before, err = l.timed(ctx, other); err != nil {
		return o, err
	}
	wasting, end := context.WithCancel(ctx)
	var group errgroup.Group
	group.Go(func() (err error) {
		o.peak, err = peakOf(wasting, s)
		return err
	})
	var at sync.WaitGroup
	wasters := l.wasters(other.token)
	for i := range wasters {
		at.Go(func() { wasters[i].at(wasting, s.address) })
	}
	pause(ctx, time.Second) // all are connected
	o.meanwhile, err = l.timed(ctx, other)
	for _, w := range wasters {
		if w.want != "" && !w.hears(ctx) {
			o.faults = append(o.faults, fmt.Sprintf("%.30q is not answered", w.head))
		}
	}
	end()
	at.Wait()
	for _, w := range wasters {
		if w.fault != "" {
			o.faults = append(o.faults, w.fault)
		}
	}
	return o, errors.Join(err, group.Wait())
}

// timed times calls, one after another on one connection, each with a body and a write.
func (l slow) timed(ctx context.Context, c *client) (took []time.Duration, err error) {
	kept := *c
	kept.http.Transport = new(http.Transport)
	defer kept.http.CloseIdleConnections()
	for i := range l.calls {
		a := kept.post(ctx, "/api/v1/signing/busy-signal", "{}")
		if a.Status != http.StatusOK {
			return nil, fmt.Errorf("%w: call %d of the others: %v", errBroken, i, a)
		}
		took = append(took, a.received.Sub(a.sent))
		pause(ctx, 5*time.Millisecond)
	}
	slices.Sort(took)
	return took, nil
}

func (l slow) judge(out io.Writer, o wasted) error {
	ratio := float64(median(o.meanwhile)) / float64(median(o.before))
	faults := &figures{faults: o.faults}
	err := faults.table(out, [][2]any{
		{"others' calls, median", median(o.before).Round(time.Microsecond)},
		{"while time is wasted, median", fmt.Sprintf("%v (%.2f times as long)", median(o.meanwhile).Round(time.Microsecond), ratio)},
		{"99th percentile", fmt.Sprintf("%v and %v", percentile(o.before, 99), percentile(o.meanwhile, 99))},
		{"peak RssAnon of the server", fmt.Sprintf("%.1f MB", float64(o.peak)/(1<<20))},
	})
	if err == nil && (ratio > l.times || o.peak > largeMemory || len(o.faults) > 0) {
		err = errBroken
	}
	return err
}
