package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// warmUp is how long signings are made before they count.
	warmUp = 5 * time.Second
	// drain is how long signings that have begun may take to end.
	drain = 2 * time.Minute
	// tailFactor is how many times the median the 99th percentile may be at a steady rate.
	tailFactor = 4.0
	// driftFactor is how many times the median of the first part of a run that of the last may be.
	driftFactor = 1.5
	// levelFactor is the largest quotient of the median of a second and the level after which a burst counts as over, if
	// levelSeconds seconds in a row have no larger one.
	levelFactor  = 2.0
	levelSeconds = 5
)

func capacityTrial(ctx context.Context, flags *flag.FlagSet, args []string, out io.Writer) error {
	c := capacity{}
	store := flags.String("store", "", "URL of an empty database, or path of a new file")
	flags.IntVar(&c.servers, "servers", 1, "servers; a file has one")
	flags.IntVar(&c.clients, "clients", 16, "calls that are under way at a time")
	flags.Float64Var(&c.rate, "rate", 0, "signings that begin in a second, whatever becomes of those before; 0: as many as the clients manage")
	flags.IntVar(&c.burst, "burst", 0, "with -rate: so many more begin at once")
	flags.DurationVar(&c.span, "duration", 30*time.Second, "how long signings count")
	flags.DurationVar(&c.floor, "floor", 3*time.Second, "how long the floor is measured, before and after the signings; 0: not at all")
	flags.IntVar(&c.size, "size", 100<<10, "length of each document in bytes")
	flags.StringVar(&c.program, "program", "", "another program to try; default: this version")
	flags.Float64Var(&c.least, "least", 0, "the servers are to deliver so many in a second")
	flags.Float64Var(&c.commits, "commits", math.Inf(1), "a signing may take so many commits")
	flags.DurationVar(&c.cpu, "cpu", math.MaxInt64, "a signing may take so much CPU time of the servers")
	flags.Float64Var(&c.tail, "times", tailFactor, "with -rate: the 99th percentile may be so many times the median")
	flags.Float64Var(&c.drift, "drift", driftFactor, "with -rate: the median at the end may be so many times that at the beginning")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return c.run(ctx, *store, out)
}

// capacity is a trial of whole signings at level Lt, as many as servers in production can make or at a steady rate. An
// identity provider is simulated; its people answer after [personTime].
type capacity struct {
	servers, clients, burst, size int
	rate                          float64
	span, floor                   time.Duration
	program                       string

	least, commits, tail, drift float64 // what is demanded
	cpu                         time.Duration
}

// signed is one signing that a client began.
type signed struct {
	began time.Duration // since signings count; in the warm-up it is negative
	took  time.Duration // all but the time that the person takes to answer
	ended time.Duration // since signings count
	err   error
}

// measured is what a run came to.
type measured struct {
	all    []signed
	cost   spent
	memory int64 // bytes, the most that one server had
	floors []floorRate
}

func (c capacity) run(ctx context.Context, store string, out io.Writer) error {
	p, err := newDeployment(ctx, storeOf(store), c)
	if err != nil {
		return err
	}
	defer p.house.remove()
	m, err := c.measure(ctx, p)
	if err = errors.Join(err, p.stop()); err != nil {
		return err
	}
	return c.judge(out, m)
}

func (c capacity) measure(ctx context.Context, p *deployment) (m measured, err error) {
	if err := c.addFloor(ctx, p, &m); err != nil {
		return m, err
	}
	began := time.Now().Add(warmUp)
	watching, end := context.WithCancel(ctx)
	defer end()
	var group errgroup.Group
	peaks := make([]int64, len(p.servers))
	for i, s := range p.servers {
		group.Go(func() (err error) {
			peaks[i], err = peakOf(watching, s)
			return err
		})
	}
	group.Go(func() (err error) {
		m.cost, err = p.costDuring(watching, began, began.Add(c.span))
		return err
	})
	if c.rate > 0 {
		m.all = c.steady(ctx, p, began)
	} else {
		m.all = c.saturate(ctx, p, began)
	}
	pause(ctx, time.Until(began.Add(c.span))) // the last signing may have ended before
	end()
	if err := group.Wait(); err != nil {
		return m, err
	}
	m.memory = slices.Max(peaks)
	return m, errors.Join(ctx.Err(), c.addFloor(ctx, p, &m))
}

func (c capacity) addFloor(ctx context.Context, p *deployment, m *measured) error {
	if c.floor == 0 {
		return nil
	}
	f, err := measureFloor(ctx, p.house.folder, p.content, c.floor)
	m.floors = append(m.floors, f)
	return err
}

// saturate has clients sign as fast as they can, and returns what they began. A client makes one call at a time; while
// people answer, it begins other signings.
func (c capacity) saturate(ctx context.Context, p *deployment, began time.Time) (all []signed) {
	end := began.Add(c.span)
	var mu sync.Mutex
	var number atomic.Int64
	var group sync.WaitGroup
	for range c.clients {
		group.Go(func() {
			var waiting []begun
			for ctx.Err() == nil {
				if len(waiting) > 0 && (time.Now().After(waiting[0].due) || time.Now().After(end)) {
					b := waiting[0]
					waiting = waiting[1:]
					pause(ctx, time.Until(b.due))
					s := p.finish(ctx, b, began)
					mu.Lock()
					all = append(all, s)
					mu.Unlock()
				}
				switch over := time.Now().After(end); {
				case over && len(waiting) == 0:
					return
				case !over:
					waiting = append(waiting, p.begin(ctx, int(number.Add(1)), time.Now()))
				}
			}
		})
	}
	group.Wait()
	return all
}

// steady has signings begin at random times with a mean rate, as those of many independent people do, and, if asked, a
// burst of them when they begin to count.
func (c capacity) steady(ctx context.Context, p *deployment, began time.Time) (all []signed) {
	var mu sync.Mutex
	var group sync.WaitGroup
	number := 0
	sign := func(at time.Time) {
		number++
		n := number
		group.Go(func() {
			s := p.finish(ctx, p.begin(ctx, n, at), began)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, s)
		})
	}
	burst := c.burst
	for at := began.Add(-warmUp); at.Before(began.Add(c.span)) && ctx.Err() == nil; at = at.Add(gap(c.rate)) {
		pause(ctx, time.Until(at))
		for ; burst > 0 && !at.Before(began); burst-- {
			sign(at)
		}
		sign(at)
	}
	group.Wait()
	return all
}

// load describes what the servers are asked to do.
func (c capacity) load() string {
	if c.rate > 0 {
		return fmt.Sprintf("%.1f a second", c.rate)
	}
	return fmt.Sprintf("%d clients", c.clients)
}

// judge prints the figures. [errBroken]: a demand was not kept.
func (c capacity) judge(out io.Writer, m measured) error {
	faults := new(figures)
	var counted []signed
	delivered := 0
	for _, s := range m.all {
		switch {
		case s.err != nil:
			faults.fault("%v", s.err)
			continue
		case s.began >= 0 && s.began < c.span:
			counted = append(counted, s)
		}
		if s.ended >= 0 && s.ended < c.span {
			delivered++
		}
	}
	all := took(counted)
	perSecond := float64(delivered) / c.span.Seconds()
	cost := m.cost.each(delivered)
	rows := [][2]any{
		{"servers, load", fmt.Sprintf("%d, %s", c.servers, c.load())},
		{"signings a second", fmt.Sprintf("%.1f", perSecond)},
		{"p50, p95, p99, without the person's time", fmt.Sprintf("%v, %v, %v", percentile(all, 50), percentile(all, 95), percentile(all, 99))},
		{"CPU of the servers a signing", cost.cpu},
	}
	rows = append(rows, cost.rows()...)
	rows = append(rows, [2]any{"most memory of a server (RssAnon)", fmt.Sprintf("%.1f MB", float64(m.memory)/1e6)})
	for i, f := range m.floors {
		rows = append(rows, [2]any{[]string{"floor before", "floor after"}[i], f})
	}
	if n := len(m.floors); n > 0 && m.floors[n-1].cpu > 0 {
		rows = append(rows, [2]any{"CPU of the servers, times the floor's", fmt.Sprintf("%.2f", float64(cost.cpu)/float64(m.floors[n-1].cpu))})
	}
	broken := perSecond < c.least || cost.commits > c.commits || cost.cpu > c.cpu || len(all) == 0
	if c.rate > 0 {
		more, bad := c.judgeSteady(counted)
		rows, broken = append(rows, more...), broken || bad
	}
	if err := faults.table(out, rows); err != nil {
		return err
	}
	if err := c.printParts(out, counted); err != nil {
		return err
	}
	if broken || len(faults.faults) > 0 {
		return errBroken
	}
	return nil
}

// judgeSteady reports whether a run at a steady rate broke what is demanded of its times, and returns rows about them.
func (c capacity) judgeSteady(counted []signed) (rows [][2]any, broken bool) {
	if c.burst > 0 {
		level, after := c.recovery(counted)
		return [][2]any{{"after the burst of " + fmt.Sprint(c.burst), fmt.Sprintf("median %v again after %v", level, after)}}, after >= c.span/2
	}
	parts := slices.DeleteFunc(c.parts(counted, c.part()), func(part []signed) bool { return len(part) == 0 })
	if len(parts) == 0 {
		return nil, true
	}
	first, last := percentile(took(parts[0]), 50), percentile(took(parts[len(parts)-1]), 50)
	all := took(counted)
	tail, drift := quotient(percentile(all, 99), percentile(all, 50)), quotient(last, first)
	return [][2]any{
		{"p99 / p50", fmt.Sprintf("%.2f", tail)},
		{"p50 at the end / at the beginning", fmt.Sprintf("%.2f", drift)},
	}, tail > c.tail || drift > c.drift
}

func quotient(a, b time.Duration) float64 { return float64(a) / float64(max(b, 1)) }

// recovery returns the median of the signings that began in the second half of a run, and after how long those of
// levelSeconds seconds in a row were near it.
func (c capacity) recovery(counted []signed) (level, after time.Duration) {
	var late []signed
	for _, s := range counted {
		if s.began >= c.span/2 {
			late = append(late, s)
		}
	}
	level = percentile(took(late), 50)
	for i, part := range c.parts(counted, time.Second) {
		switch near := quotient(percentile(took(part), 50), level) <= levelFactor; {
		case !near:
			after = time.Duration(i+1) * time.Second
		case time.Duration(i+1)*time.Second-after >= levelSeconds*time.Second:
			return level, after
		}
	}
	return level, after
}

// part is the length of the parts whose figures are printed: a minute, less in a short run, and a second after a burst.
func (c capacity) part() time.Duration {
	if c.burst > 0 {
		return time.Second
	}
	return min(time.Minute, max(c.span/5, time.Second))
}

// parts divides signings by when they began.
func (c capacity) parts(counted []signed, length time.Duration) [][]signed {
	parts := make([][]signed, (c.span+length-1)/length)
	for _, s := range counted {
		i := s.began / length
		parts[i] = append(parts[i], s)
	}
	return parts
}

// printParts prints the times of the parts of a run.
func (c capacity) printParts(out io.Writer, counted []signed) error {
	columns := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, "began after\tsignings\tp50\tp95\tp99")
	for i, part := range c.parts(counted, c.part()) {
		all := took(part)
		fmt.Fprintf(columns, "%v\t%d\t%v\t%v\t%v\n", time.Duration(i)*c.part(), len(all), percentile(all, 50), percentile(all, 95), percentile(all, 99))
	}
	return columns.Flush()
}

// took returns the times of signings, sorted.
func took(list []signed) (all []time.Duration) {
	for _, s := range list {
		all = append(all, s.took)
	}
	slices.Sort(all)
	return all
}
