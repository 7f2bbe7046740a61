package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

const (
	// slowTime is what slow endpoints take for an answer, and atOnce how many requests one has at
	// a time: what it is sent in all comes that slowly.
	slowTime = 10 * time.Second
	atOnce   = 8
	// catchUp is how long the others may take after the last event.
	catchUp = 30 * time.Second
)

func loadTrial(ctx context.Context, flags *flag.FlagSet, args []string, out io.Writer) error {
	l := load{}
	store := flags.String("store", "", "URL of an empty database, or path of a new file")
	flags.DurationVar(&l.span, "for", time.Minute, "how long events happen")
	flags.IntVar(&l.rate, "rate", 200, "events a second")
	flags.IntVar(&l.endpoints, "endpoints", 50, "endpoints, each of an account of its own")
	flags.IntVar(&l.dead, "dead", 5, "of them dead: refuse connections, or never answer")
	flags.IntVar(&l.slow, "slow", 5, "of them slow: answer after 10 seconds")
	flags.BoolVar(&l.recover, "recover", false, "slow endpoints are well again after the last event")
	flags.DurationVar(&l.within, "within", time.Second, "99 of 100 events are to be sent this soon")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return l.run(ctx, *store, out)
}

// load is a trial of events that happen at a rate of their own, whatever becomes of those before,
// while some endpoints are slow or dead.
type load struct {
	span                        time.Duration
	rate, endpoints, dead, slow int
	recover                     bool
	within                      time.Duration
}

// town has endpoints of all sorts.
type town struct{ well, slow, dead *street }

func (t town) close() {
	t.well.close()
	t.slow.close()
	t.dead.close()
}

// build makes the endpoints. What ails some begins when all are active.
func (l load) build(ctx context.Context, o *office, faults *figures) (town, error) {
	t := town{newStreet(faults), newStreet(faults), newStreet(faults)}
	well := l.endpoints - l.slow - l.dead
	err := t.well.build(ctx, o, 0, well)
	if err == nil {
		err = t.slow.build(ctx, o, well, l.slow)
	}
	if err == nil {
		err = t.dead.build(ctx, o, well+l.slow, l.dead)
	}
	for i, e := range t.dead.endpoints {
		err = errors.Join(err, e.die(i%2 == 0))
	}
	t.slow.answerIn(slowTime)
	return t, err
}

func (l load) run(ctx context.Context, store string, out io.Writer) (err error) {
	o, err := openOffice(ctx, store, patient)
	if err != nil {
		return err
	}
	defer o.close()
	faults := new(figures)
	t, err := l.build(ctx, o, faults)
	defer t.close()
	if err != nil {
		return err
	}
	working, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- o.open(working, 0) }()

	began := time.Now()
	committed := l.send(ctx, o, faults)
	took := time.Since(began)
	each := len(committed) / l.endpoints
	lost := t.well.await(ctx, each*len(t.well.endpoints), max(catchUp, l.within))
	early, _ := t.slow.count()
	if l.recover {
		t.slow.answerIn(0)
	}
	lostSlow := t.slow.await(ctx, each*l.slow, catchUp+slowTime*time.Duration(each/atOnce))
	stop()
	if err := <-ended; err != nil {
		return err
	}

	_, again := t.well.count()
	_, againSlow := t.slow.count()
	queued, err := o.queued(ctx, t.dead.endpoints)
	if err != nil {
		return err
	}
	after := t.well.delays(committed)
	err = faults.table(out, [][2]any{
		{"events", fmt.Sprintf("%d, the last committed after %v", len(committed), took.Round(time.Millisecond))},
		{"to endpoints that are well", each * len(t.well.endpoints)},
		{"from commit to first attempt, median", percentile(after, 50)},
		{"99th percentile", percentile(after, 99)},
		{"maximum", percentile(after, 100)},
		{"to slow endpoints", each * l.slow},
		{"of them while events happened", early},
		{"lost", lost + lostSlow},
		{"sent again", again + againSlow},
		{"to dead endpoints", each * l.dead},
		{"of them in the queue", queued},
	})
	broken := lost + lostSlow + again + againSlow + len(faults.faults)
	if err == nil && (broken > 0 || queued != each*l.dead || percentile(after, 99) >= l.within) {
		err = errBroken
	}
	return err
}

// send has an event happen at each of its times, and returns when they were committed.
func (l load) send(ctx context.Context, o *office, faults *figures) []time.Time {
	n := int(l.span.Seconds()*float64(l.rate)) / l.endpoints * l.endpoints
	committed := make([]time.Time, n)
	began := time.Now()
	var all sync.WaitGroup
	for i := range n {
		pause(ctx, time.Until(began.Add(time.Duration(i)*time.Second/time.Duration(l.rate))))
		all.Go(func() {
			err := o.InTx(ctx, func(ctx context.Context) error { return o.emit(ctx, accountOf(i%l.endpoints), i) })
			if err != nil {
				faults.fault("event %d: %v", i, err)
			}
			committed[i] = time.Now()
		})
	}
	all.Wait()
	return committed
}

// delays are the times from the commit of events to their first arrival, sorted. One that came
// before its sender had heard of its commit has taken no time.
func (a *arrivals) delays(committed []time.Time) (all []time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for l, known := range a.all {
		all = append(all, max(0, known.times[0].Sub(committed[l.number])))
	}
	slices.Sort(all)
	return all
}

// percentile is one of sorted times.
func percentile(sorted []time.Duration, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)-1)*percent/100].Round(10 * time.Microsecond)
}
