package main

import (
	"context"
	"flag"
	"fmt"
	"io"
)

func processesTrial(ctx context.Context, flags *flag.FlagSet, args []string, out io.Writer) error {
	full := flags.String("store", "", "URL of an empty database, or path of a new file, which is filled")
	empty := flags.String("beside", "", "another, which is not")
	number := flags.Int("processes", 100_000, "signing processes")
	rounds := flags.Int("rounds", 300, "calls of each kind on each store")
	if err := flags.Parse(args); err != nil {
		return err
	}
	list, err := processTimes(ctx, *empty, *full, *number, *rounds)
	if err != nil {
		return err
	}
	return printRatios(out, fmt.Sprintf("%d processes", *number), list)
}

// aFew processes are in the store that counts as empty, for there has to be something to read.
const aFew = 20

// processTimes times the calls of the portal on two stores, of which one has so many processes.
func processTimes(ctx context.Context, empty, full string, number, rounds int) (list []timed, err error) {
	var archives []*archive
	for _, one := range []struct {
		store     string
		processes int
	}{{empty, aFew}, {full, number}} {
		a, err := openArchive(ctx, one.store)
		if err != nil {
			return nil, err
		}
		defer a.Close()
		if err := a.fill(ctx, one.processes); err != nil {
			return nil, fmt.Errorf("filling the store: %w", err)
		}
		archives = append(archives, a)
	}
	for range rounds { // in turns, so that both see the same machine
		for _, a := range archives {
			if err := a.measure(ctx); err != nil {
				return nil, err
			}
		}
	}
	for _, one := range archiveCalls {
		list = append(list, timed{one.name, archives[0].took[one.name], archives[1].took[one.name]})
	}
	return list, nil
}
