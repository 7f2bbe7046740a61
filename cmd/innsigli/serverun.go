package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sync/errgroup"
)

func (c serveCommand) serve(ctx context.Context, server *server, conf configuration, in place) error {
	address, err := c.address()
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	metricsListener, err := c.listenMetrics()
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	base := c.base()
	if c.inTheClear(conf) {
		server.log.Warn("others than this machine can speak to the server without TLS, and tokens and documents be read on the way: see --tls-cert and [proxy]")
	}
	if c.unknownProxy(conf) {
		server.log.Warn("there is no [proxy]: behind one, callers cannot be told apart, and limits by address are for all of them together, or none if it is on this machine")
	}
	group, ctx := errgroup.WithContext(ctx)
	beside, end := context.WithCancel(context.WithoutCancel(ctx)) // what goes on until the server has stopped
	defer end()
	if metricsListener != nil {
		server.log.Info("metrics are served", "on", metricsListener.Addr().String())
		group.Go(func() error { return serveHTTP(beside, metricsListener, nil, server.metrics.handler(), server.log) })
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP) // without a file there is nothing to read again, and no reason to end
	defer signal.Stop(signals)
	if c.Config != "" {
		server.evidence.take(conf)
		r := &reload{path: c.Config, read: c.readFile, evidence: server.evidence, started: conf.atStart, log: server.log, fileWatch: fileWatch{seen: conf.versions}}
		group.Go(func() error { return r.watch(ctx, signals) })
	}
	if conf.tls != nil {
		group.Go(func() error { return conf.tls.watch(beside, server.log) })
	}
	group.Go(func() error {
		defer end()
		return server.serve(ctx, listener, base, in.socket(), func() error {
			server.log.Info("listening", "address", listener.Addr().String(), "baseURL", base)
			server.tellSystemd("READY=1")
			return nil
		})
	})
	return group.Wait()
}

// listenMetrics listens where metrics are served; nil when they are not.
func (c serveCommand) listenMetrics() (net.Listener, error) {
	if c.AdminListen == "" {
		return nil, nil
	}
	address, err := orLoopback(c.AdminListen)
	if err != nil {
		return nil, fmt.Errorf("listening for --admin-listen: %w", err)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listening for --admin-listen: %w", err)
	}
	return listener, nil
}
