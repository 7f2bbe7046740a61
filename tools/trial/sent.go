package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os/exec"
	"time"
)

func sentTrial(ctx context.Context, flags *flag.FlagSet, args []string, out io.Writer) error {
	store := flags.String("store", "", "URL of an empty database, or path of a new file")
	events := flags.Int("events", 10, "events")
	if err := flags.Parse(args); err != nil {
		return err
	}
	s := newStreet(new(figures))
	defer s.close()
	if err := waiting(ctx, *store, s, *events); err != nil {
		return err
	}
	first, err := dieHavingSent(ctx, *store, s)
	if err != nil {
		return err
	}
	crew, err := newCrew(ctx, *store, 1)
	if err != nil {
		return err
	}
	defer crew.remove()
	if err := crew.start(); err != nil {
		return err
	}
	long := 2*shortLease + catchUp
	missing := s.await(ctx, *events, long)
	repeats := s.awaitRepeats(ctx, first, long)
	if err := crew.stop(); err != nil {
		return err
	}
	o, err := openOffice(ctx, *store, patient)
	if err != nil {
		return err
	}
	defer o.close()
	logged, queued, err := o.left(ctx, s)
	if err != nil {
		return err
	}
	err = s.faults.table(out, [][2]any{
		{"events", *events},
		{"sent when the process died", first},
		{"sent again, the same", repeats},
		{"lost", missing},
		{"attempts in the log", logged},
		{"jobs left", queued},
	})
	if broken := missing + queued + len(s.faults.faults); err == nil && (broken > 0 || first == 0 || repeats != first || logged != *events) {
		err = errBroken
	}
	return err
}

// waiting makes a store in which events wait for one endpoint.
func waiting(ctx context.Context, store string, s *street, events int) error {
	o, err := openOffice(ctx, store, patient)
	if err != nil {
		return err
	}
	err = s.build(ctx, o, 0, 1)
	if err == nil {
		err = o.fill(ctx, s, events)
	}
	return errors.Join(err, o.close())
}

// dieHavingSent has a process send events and die before it has stored that, and says how many had
// come by then.
func dieHavingSent(ctx context.Context, store string, s *street) (sent int, err error) {
	crew, err := newCrew(ctx, store, 1, "INNSIGLI_FAILPOINT=webhook.sent")
	if err != nil {
		return 0, err
	}
	defer crew.remove()
	if err := crew.start(); err != nil {
		return 0, err
	}
	var killed *exec.ExitError
	if err := crew.all[0].wait(stopTime); !errors.As(err, &killed) || killed.Exited() {
		return 0, fmt.Errorf("the process was to die when it had sent something: %w\n%s", err, &crew.all[0].talk)
	}
	time.Sleep(time.Second) // what it sent before may still be on its way
	sent, repeats := s.count()
	if repeats > 0 {
		err = fmt.Errorf("%w: %d repeats before anything failed", errBroken, repeats)
	}
	return sent, err
}

// awaitRepeats waits for so many requests that were made before, and says how many there are.
func (a *arrivals) awaitRepeats(ctx context.Context, n int, long time.Duration) (repeats int) {
	for over := time.Now().Add(long); repeats < n && time.Now().Before(over) && ctx.Err() == nil; pause(ctx, 20*time.Millisecond) {
		_, repeats = a.count()
	}
	return repeats
}
