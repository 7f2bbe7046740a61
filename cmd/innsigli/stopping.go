package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

// errStopping is why a server that stops is not ready.
var errStopping = errors.New("the server is stopping")

// longestDrain is more than any load balancer needs.
const longestDrain = 10 * time.Minute

// drainFlag is for load balancers, which notice only after a while that a server stops.
type drainFlag struct {
	DrainDelay time.Duration `name:"drain-delay" default:"0s" placeholder:"TIME" help:"How long a server that is to stop still takes requests, while /readyz tells load balancers to send it none (default ${default})."`
}

func (f drainFlag) check(found *faults) {
	if f.DrainDelay < 0 || f.DrainDelay > longestDrain {
		found.add("--drain-delay", "is not between 0s and %v", longestDrain)
	}
}

// drain returns when the server is to take no more requests: a while after the context has ended, or when
// something has failed.
func (s *server) drain(ctx, failed context.Context) {
	select {
	case <-ctx.Done():
	case <-failed.Done():
		return
	}
	s.stopping.Store(true)
	s.tellSystemd("STOPPING=1")
	if s.delay > 0 {
		s.log.Info("stopping: /readyz says so, and requests are still taken", "for", s.delay)
	}
	timer := time.NewTimer(s.delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-failed.Done():
	}
}

// tellSystemd says how the server is to whom started it, if that wants to know (sd_notify(3)).
func (s *server) tellSystemd(state string) {
	if err := notify(os.Getenv("NOTIFY_SOCKET"), state); err != nil {
		s.log.Warn("systemd was not told", "state", state, "error", err)
	}
}

func notify(socket, state string) error {
	if socket == "" {
		return nil
	}
	conn, err := net.Dial("unixgram", socket)
	if err != nil {
		return fmt.Errorf("NOTIFY_SOCKET: %w", err)
	}
	_, err = conn.Write([]byte(state))
	return errors.Join(err, conn.Close())
}
