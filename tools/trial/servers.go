package main

import (
	"context"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// crowd is servers of one database and the clients that sign over all of them.
type crowd struct {
	*house
	servers []*server
	signers []*signer
	holders *holders
	count   *figures
	deaths  atomic.Int64
}

// drainTime is how long requests that have begun may take to end: the lease of a server
// that was killed lasts for ten seconds.
const drainTime = 5 * time.Minute

func serversTrial(ctx context.Context, flags *flag.FlagSet, args []string, out io.Writer) error {
	store := flags.String("postgres", "", "URL of an empty database")
	span := flags.Duration("for", time.Minute, "how long clients begin requests")
	servers := flags.Int("servers", 4, "servers")
	clients := flags.Int("clients", 32, "clients that sign at once")
	every := flags.Duration("kill-every", 3*time.Second, "pause between two deaths of a server")
	within := flags.Duration("within", 20*time.Second, "how long a document may be waited for; 0: as long as it takes")
	if err := flags.Parse(args); err != nil {
		return err
	}
	c, err := newCrowd(ctx, *store, *servers, *clients)
	if err != nil {
		return err
	}
	defer c.remove()
	began, kills := time.Now(), 0
	err = c.signFor(ctx, *span, func(ctx context.Context) error {
		for ; ; kills++ {
			pause(ctx, *every)
			if ctx.Err() != nil {
				return nil
			}
			victim := c.servers[rand.IntN(len(c.servers))]
			c.deaths.Add(1)
			if err := errors.Join(victim.kill(), victim.start(ctx)); err != nil && ctx.Err() == nil {
				return err
			}
		}
	})
	took := time.Since(began)
	if err = errors.Join(err, c.stop()); err != nil {
		return err
	}
	calls, err := readTrace(c.trace())
	if err != nil {
		return err
	}
	overlaps := c.holders.overlaps()
	err = c.count.print(out, took,
		[2]any{"servers, clients", fmt.Sprintf("%d, %d for %v", *servers, *clients, took.Round(time.Second))},
		[2]any{"servers killed", kills},
		[2]any{"two holders of one signal", overlaps},
		[2]any{"provider calls", calls.made},
		[2]any{"of them by two servers at once", calls.overlap},
		[2]any{"of them made again", calls.doubled},
		[2]any{"the same for a server that was killed with the answer", calls.again},
	)
	if err == nil && *within > 0 && c.count.longest > *within {
		err = errBroken
	}
	if err == nil && (len(c.count.faults)+c.count.lost+c.count.doubled+overlaps+calls.overlap+calls.doubled > 0 || c.count.delivered == 0) {
		err = errBroken
	}
	return err
}

// newCrowd starts the servers, all at once on the empty database, and makes the clients.
func newCrowd(ctx context.Context, store string, servers, clients int) (*crowd, error) {
	h, err := newHouse(ctx, store)
	if err != nil {
		return nil, err
	}
	c := &crowd{house: h, servers: make([]*server, servers), holders: &holders{held: make(map[string][]*hold)}, count: new(figures)}
	var group errgroup.Group
	for i := range c.servers {
		group.Go(func() (err error) {
			c.servers[i], err = h.newServer(ctx)
			return err
		})
	}
	err = group.Wait()
	if err == nil {
		err = c.gather(ctx, clients)
	}
	if err != nil {
		return nil, errors.Join(err, c.stop(), h.remove())
	}
	return c, nil
}

// gather makes the clients, their sandbox users, and fewer busy signals than clients.
func (c *crowd) gather(ctx context.Context, clients int) error {
	var addresses []string
	roots := x509.NewCertPool()
	for _, s := range c.servers {
		addresses = append(addresses, s.address)
		roots.AppendCertsFromPEM(s.root)
	}
	var signals []string
	for i := range clients {
		api, err := newClient(ctx, addresses)
		if err != nil {
			return err
		}
		if i%4 == 0 {
			a := api.post(ctx, "/api/v1/signing/busy-signal", "")
			if a.Status != http.StatusOK {
				return fmt.Errorf("making a busy signal: %v", a)
			}
			signals = append(signals, a.ID)
		}
		s := &signer{client: api, holders: c.holders, roots: roots, count: c.count, deaths: &c.deaths}
		if err := s.addUser(ctx, i, i%3/2); err != nil {
			return err
		}
		c.signers = append(c.signers, s)
	}
	for _, s := range c.signers {
		s.signals = signals
	}
	return nil
}

// signFor lets all clients sign while something happens to the servers, until the time is
// over; then they end what they have begun.
func (c *crowd) signFor(ctx context.Context, span time.Duration, happens func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, span+drainTime)
	defer cancel()
	meanwhile, stop := context.WithTimeout(ctx, span)
	defer stop()
	broken := make(chan error, 1)
	go func() { broken <- happens(meanwhile) }()
	end := time.Now().Add(span)
	var all sync.WaitGroup
	for _, s := range c.signers {
		all.Go(func() { s.signUntil(ctx, end) })
	}
	all.Wait()
	stop()
	return <-broken
}

func (c *crowd) stop() error {
	var errs []error
	for _, s := range c.servers {
		if s != nil && s.command != nil {
			errs = append(errs, s.stop())
		}
	}
	return errors.Join(errs...)
}
