package main

import (
	"context"
	"errors"
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
	h, err := newHouse(ctx, "")
	if err != nil {
		return err
	}
	list, err := h.processTimes(ctx, *empty, *full, *number, *rounds)
	if err = errors.Join(err, h.remove()); err != nil {
		return err
	}
	return printRatios(out, fmt.Sprintf("%d processes", *number), list)
}

// aFew processes are in the store that counts as empty, for there has to be something to read.
const aFew = 20

// processTimes times the calls of servers on two stores, of which one has so many processes.
func (h *house) processTimes(ctx context.Context, empty, full string, number, rounds int) (list []timed, err error) {
	var archives []*archive
	for _, one := range []struct {
		store     string
		processes int
	}{{empty, aFew}, {full, number}} {
		a, err := openArchive(ctx, h, one.store, one.processes)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, a.stop()) }()
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
