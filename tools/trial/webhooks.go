package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"
)

func webhooksTrial(ctx context.Context, flags *flag.FlagSet, args []string, out io.Writer) error {
	w := webhooks{}
	flags.StringVar(&w.store, "postgres", "", "URL of an empty database")
	flags.IntVar(&w.processes, "servers", 2, "processes that send")
	flags.IntVar(&w.events, "events", 10_000, "events")
	flags.IntVar(&w.rate, "rate", 200, "events a second")
	flags.IntVar(&w.endpoints, "endpoints", 50, "endpoints, each of an account of its own")
	flags.DurationVar(&w.every, "kill-every", 10*time.Second, "pause between two deaths of a process; 0: none dies")
	flags.Float64Var(&w.repeated, "repeated", 0.1, "percentage that the events sent again stay below, each after a death")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return w.run(ctx, out)
}

// webhooks is a trial of processes that are killed while they send the events of one database.
type webhooks struct {
	store                              string
	processes, events, rate, endpoints int
	every                              time.Duration
	repeated                           float64
}

func (w webhooks) run(ctx context.Context, out io.Writer) error {
	o, err := openOffice(ctx, w.store, patient)
	if err != nil {
		return err
	}
	defer o.close()
	s := newStreet(new(figures))
	defer s.close()
	if err := s.build(ctx, o, 0, w.endpoints); err != nil {
		return err
	}
	crew, err := newCrew(ctx, w.store, w.processes)
	if err != nil {
		return err
	}
	defer crew.remove()
	if err := crew.start(); err != nil {
		return errors.Join(err, crew.stop())
	}
	kills, err := w.sendAndKill(ctx, o, s, crew)
	if err = errors.Join(err, o.drain(ctx, shortLease+catchUp), crew.stop()); err != nil {
		return err
	}
	missing := s.await(ctx, w.events, 0)
	repeats, unexplained := s.repeats(kills)
	share := 100 * float64(repeats) / float64(w.events)
	logged, queued, err := o.left(ctx, s)
	if err != nil {
		return err
	}
	err = s.faults.table(out, [][2]any{
		{"events, endpoints", fmt.Sprintf("%d, %d", w.events, w.endpoints)},
		{"processes killed", len(kills)},
		{"events lost", missing},
		{"sent again", fmt.Sprintf("%d (%.2f %%)", repeats, share)},
		{"of them without a death in between", unexplained},
		{"attempts in the log", logged},
		{"jobs left", queued},
	})
	broken := missing + unexplained + queued + (logged - w.events) + len(s.faults.faults)
	if err == nil && (broken != 0 || share >= w.repeated) {
		err = errBroken
	}
	return err
}

// sendAndKill has events happen at their rate, and processes die meanwhile, one after another. It
// says when they did.
func (w webhooks) sendAndKill(ctx context.Context, o *office, s *street, crew *crew) (kills []time.Time, err error) {
	during, stop := context.WithCancel(ctx)
	var killing sync.WaitGroup
	killing.Go(func() {
		for w.every > 0 {
			pause(during, w.every)
			if during.Err() != nil || err != nil {
				return
			}
			victim := crew.all[rand.IntN(len(crew.all))]
			victim.kill()
			kills = append(kills, time.Now())
			_, err = victim.start()
		}
	})
	l := load{span: time.Duration(w.events) * time.Second / time.Duration(w.rate), rate: w.rate, endpoints: w.endpoints}
	l.send(ctx, o, s.faults)
	stop()
	killing.Wait()
	return kills, err
}

// repeats counts the requests that were made again, and those among them that no process had been
// at work on when it died: the first came, the process died, and the next came when its lease had
// run out.
func (a *arrivals) repeats(kills []time.Time) (all, unexplained int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, known := range a.all {
		for i, again := range known.times[1:] {
			all++
			died := false
			for _, at := range kills {
				after := at.Sub(known.times[i])
				died = died || -notedLate < after && after < answerTime && at.Before(again)
			}
			if !died {
				unexplained++
			}
		}
	}
	return all, unexplained
}

const (
	// answerTime is what an attempt takes at most (spec 5.2).
	answerTime = 15 * time.Second
	// notedLate is how long after it was sent a request may be noted here, where all endpoints share the machine with
	// their senders: who sent it may have died in between.
	notedLate = 5 * time.Second
)

// left is what a trial leaves behind: deliveries in the log, and those that wait.
func (o *office) left(ctx context.Context, s *street) (logged, queued int, err error) {
	if logged, err = o.logged(ctx, s); err != nil {
		return 0, 0, err
	}
	queued, err = o.queued(ctx, s.endpoints)
	return logged, queued, err
}

// logged counts the deliveries in the log: each was made once as far as that knows.
func (o *office) logged(ctx context.Context, s *street) (n int, err error) {
	for _, e := range s.endpoints {
		for attempt, err := range o.hooks.Attempts(ctx, e.to.ID) {
			if err != nil {
				return 0, err
			}
			if attempt.Number > 0 {
				n++
			}
		}
	}
	return n, nil
}
