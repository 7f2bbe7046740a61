package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// deliverTrial is not a trial but what trials kill: a process that sends the events of a store.
func deliverTrial(ctx context.Context, flags *flag.FlagSet, args []string, out io.Writer) error {
	store := flags.String("store", "", "URL of a database, or path of a file")
	lease := flags.Duration("lease", 0, "how long a process that died holds up its jobs; 0: as long as in a server")
	if err := flags.Parse(args); err != nil {
		return err
	}
	o, err := openOffice(ctx, *store, 0)
	if err != nil {
		return err
	}
	defer o.close()
	fmt.Fprintln(out, "ready")
	return o.open(ctx, *lease)
}

// shortLease saves the trials some waiting. It is longer than an endpoint may take to answer, by
// what the runner needs.
const shortLease = 21 * time.Second

// crew is processes that send the events of one store.
type crew struct {
	folder string // of the program
	all    []*process
}

func newCrew(ctx context.Context, store string, processes int, environment ...string) (*crew, error) {
	folder, err := os.MkdirTemp("", "trial")
	if err != nil {
		return nil, err
	}
	c := &crew{folder: folder}
	program := filepath.Join(folder, "trial")
	if err := build(ctx, program, "tools/trial"); err != nil {
		return nil, errors.Join(err, c.remove())
	}
	for range processes {
		c.all = append(c.all, &process{
			program: program, arguments: []string{"deliver", "-store", store, "-lease", shortLease.String()}, environment: environment,
		})
	}
	return c, nil
}

func (c *crew) start() error {
	for _, p := range c.all {
		if _, err := p.start(); err != nil {
			return err
		}
	}
	return nil
}

func (c *crew) stop() error {
	var errs []error
	for _, p := range c.all {
		if p.command != nil {
			errs = append(errs, p.stop())
		}
	}
	return errors.Join(errs...)
}

func (c *crew) remove() error { return os.RemoveAll(c.folder) }
