// Command trial runs servers as an operator would, treats them badly, and prints what
// became of the requests of their clients:
//
//	go run ./tools/trial servers -postgres URL      servers of one database, killed one after another
//	go run ./tools/trial outage -postgres URL -restart COMMAND      their database restarted under load
//	go run ./tools/trial idle -postgres URL      what a server without clients asks its database
//	go run ./tools/trial growth -postgres URL      start and poll beside a million ended requests
//	go run ./tools/trial processes -store URL      creation and reading of signing processes beside 100,000
//	go run ./tools/trial webhooks -postgres URL      processes that send events of one database, killed one after another
//	go run ./tools/trial sent -store URL      a process killed between sending events and storing that
//	go run ./tools/trial load -store URL      events at a steady rate, to endpoints of which some are slow or dead
//	go run ./tools/trial large -store URL      many large documents at once
//	go run ./tools/trial slow -store URL      clients that waste a server's time, and what others notice of them
//	go run ./tools/trial bombs -store URL      documents that are costly to render, and one account's flood of them
//	go run ./tools/trial capacity -store URL      whole signings, as many as servers manage or at a steady rate, beside a floor
//	go run ./tools/trial burst -store URL      many events at once, beside a bare loop that sends the same
//	go run ./tools/trial power      servers whose machine loses power, with what was not flushed (Linux, as root)
//
// URL names an empty database for each trial but growth and processes, which need two: the second
// with -beside. For a -store it may also be the path of a new file. The exit status is 1 when a promise of the service was not kept. -h lists the
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
		"servers":   serversTrial,
		"outage":    outageTrial,
		"idle":      idleTrial,
		"growth":    growthTrial,
		"processes": processesTrial,
		"webhooks":  webhooksTrial,
		"sent":      sentTrial,
		"load":      loadTrial,
		"burst":     burstTrial,
		"bombs":     bombsTrial,
		"capacity":  capacityTrial,
		"deliver":   deliverTrial,
		"large":     largeTrial,
		"slow":      slowTrial,
		"power":     powerTrial,
	}
	if len(args) == 0 || trials[args[0]] == nil {
		return errors.New("say which trial: servers, outage, idle, growth, processes, webhooks, sent, load, burst, bombs, capacity, large, slow or power")
	}
	return trials[args[0]](ctx, flag.NewFlagSet(args[0], flag.ContinueOnError), args[1:], out)
}
