// Command trial runs servers as an operator would, treats them badly, and prints what
// became of the requests of their clients:
//
//	go run ./internal/trial servers -postgres URL      servers of one database, killed one after another
//	go run ./internal/trial outage -postgres URL -restart COMMAND      their database restarted under load
//	go run ./internal/trial growth -postgres URL      start and poll beside a million ended requests
//
// URL names an empty database for each trial but growth, which needs two: the second with
// -beside. The exit status is 1 when a promise of the service was not kept. -h lists the
// flags of a trial.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "trial:", err)
		os.Exit(1)
	}
}

// errBroken: a promise was not kept; the figures say which.
var errBroken = errors.New("a promise was not kept")

func run(ctx context.Context, args []string, out io.Writer) error {
	trials := map[string]func(context.Context, *flag.FlagSet, []string, io.Writer) error{
		"servers": serversTrial,
		"outage":  outageTrial,
		"growth":  growthTrial,
	}
	if len(args) == 0 || trials[args[0]] == nil {
		return errors.New("say which trial: servers, outage or growth")
	}
	return trials[args[0]](ctx, flag.NewFlagSet(args[0], flag.ContinueOnError), args[1:], out)
}
