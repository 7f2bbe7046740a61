package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"
)

// What a burst is to reach of the rate of a bare loop, at least.
const leastInFile, leastInPostgres = 0.30, 0.15

func burstTrial(ctx context.Context, flags *flag.FlagSet, args []string, out io.Writer) error {
	store := flags.String("store", "", "URL of an empty database, or path of a new file")
	events := flags.Int("events", 20_000, "events, all committed before the first is sent")
	endpoints := flags.Int("endpoints", 50, "endpoints, each of an account of its own")
	rounds := flags.Int("rounds", 1, "times that all is done")
	if err := flags.Parse(args); err != nil {
		return err
	}
	o, err := openOffice(ctx, *store, patient)
	if err != nil {
		return err
	}
	defer o.close()
	var all []rates
	for i := range *rounds {
		r, err := burst(ctx, o, i**endpoints, *endpoints, *events)
		if err != nil {
			return err
		}
		all = append(all, r)
	}
	least := leastInFile
	if strings.Contains(*store, "://") {
		least = leastInPostgres
	}
	return printBurst(out, all, least)
}

// rates are events a second.
type rates struct{ service, loop, loops float64 }

// share is the service's rate as one of the loop's.
func (r rates) share() float64 { return r.service / r.loop }

// burst sends a number of events that wait already, and then the same requests by bare loops: one,
// and as many as there are processors.
func burst(ctx context.Context, o *office, from, endpoints, events int) (r rates, err error) {
	s := newStreet(new(figures))
	defer s.close()
	if err := s.build(ctx, o, from, endpoints); err != nil {
		return r, err
	}
	if err := o.fill(ctx, s, events); err != nil {
		return r, err
	}
	working, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	began := time.Now()
	go func() { ended <- o.open(working, 0) }()
	missing := s.await(ctx, events, 5*time.Minute)
	r.service = float64(events) / s.last.Sub(began).Seconds()
	stop()
	if err := <-ended; err != nil {
		return r, err
	}
	if _, repeats := s.count(); missing+repeats+len(s.faults.faults) > 0 {
		return r, fmt.Errorf("%w: %d of %d events lost, %d sent again, %s", errBroken, missing, events, repeats, s.faults.faults)
	}
	if r.loop, err = s.bareRate(ctx, o, 1); err != nil {
		return r, err
	}
	r.loops, err = s.bareRate(ctx, o, runtime.NumCPU())
	return r, err
}

// fill has so many events happen, for each of the endpoints in its turn.
func (o *office) fill(ctx context.Context, s *street, events int) error {
	const together = 200 // in one transaction
	for first := 0; first < events; first += together {
		err := o.InTx(ctx, func(ctx context.Context) error {
			for i := first; i < min(first+together, events); i++ {
				if err := o.emit(ctx, s.endpoints[i%len(s.endpoints)].account, i); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// bareRate has all that came sent again, by bare loops. The endpoints do the same with it as before.
func (s *street) bareRate(ctx context.Context, o *office, loops int) (float64, error) {
	var all []parcel
	for i := range len(s.all) { // in the order in which they were told
		l := letter{s.endpoints[i%len(s.endpoints)].number, i}
		all = append(all, parcel{s.endpoints[i%len(s.endpoints)], s.all[l].id, s.all[l].body})
	}
	b, err := newBare(ctx, o, loops)
	if err != nil {
		return 0, err
	}
	took, err := b.send(ctx, loops, all)
	return float64(len(all)) / took.Seconds(), err
}

func printBurst(out io.Writer, all []rates, least float64) error {
	var shares []float64
	for _, r := range all {
		shares = append(shares, r.share())
		fmt.Fprintf(out, "%.0f events a second; a bare loop %.0f, as many as processors %.0f; share %.2f\n", r.service, r.loop, r.loops, r.share())
	}
	share := median(shares)
	fmt.Fprintf(out, "median %.2f, to be at least %.2f\n", share, least)
	if share < least {
		return errBroken
	}
	return nil
}
