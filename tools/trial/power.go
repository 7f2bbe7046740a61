package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
	"github.com/innsigli/innsigli/internal/test/powerloss"
)

// powerTrial runs a server whose store is on a disk that loses power again and again, each time before a random call of
// the disk, with what was not flushed. With -postgres, two servers share a Postgres server on that disk. What the servers
// acknowledged has to be there afterwards. With -ignore, flushes do nothing, and the trial has to find that something was lost.
func powerTrial(ctx context.Context, flags *flag.FlagSet, args []string, out io.Writer) error {
	losses := flags.Int("losses", 50, "how often the power is lost")
	seed := flags.Uint64("seed", uint64(time.Now().UnixNano()), "seed of the random numbers")
	calls := flags.Int("calls", 3000, "most calls of the disk between two losses")
	clients := flags.Int("clients", 4, "clients that sign at once, and as many that make processes")
	inPostgres := flags.Bool("postgres", false, "store in a Postgres server on the disk, for two servers")
	ignore := flags.String("ignore", "", "flushes that do nothing: files, folders or all")
	if err := flags.Parse(args); err != nil {
		return err
	}
	ignored, known := map[string]powerloss.Ignored{
		"": {}, "files": {Files: true}, "folders": {Folders: true}, "all": {Files: true, Folders: true},
	}[*ignore]
	if !known {
		return errors.New("-ignore is files, folders or all")
	}
	fmt.Fprintf(out, "seed\t%d\n", *seed)
	m, err := newMachine(ctx, rand.New(rand.NewPCG(*seed, 0)), *inPostgres)
	if err != nil {
		return err
	}
	began := time.Now()
	err = errors.Join(m.run(ctx, *losses, *calls, *clients, ignored), m.end())
	if err == nil {
		err = m.print(out, time.Since(began))
	}
	if err != nil {
		return err
	}
	return m.verdict(ignored != powerloss.Ignored{})
}

// verdict returns errBroken if the trial failed: something was lost or hardly anything happened, or, in a control whose
// flushes were ignored, no loss was noticed.
func (m *machine) verdict(control bool) error {
	passed := m.count.found() == 0 && m.count.delivered > 0 && m.kept.made() > 0
	if control {
		passed = m.noticed()
	}
	if !passed {
		return errBroken
	}
	return nil
}

// noticed reports whether something is known to be lost. Clients that wait do not show it: the machine may be slow.
func (m *machine) noticed() bool {
	return m.count.losses() > m.abandoned || m.kept.isMissing() || m.unopened
}

// machine is a disk with one server and its file, or with a Postgres server and two servers, and clients elsewhere.
type machine struct {
	*crowd
	random   *rand.Rand
	disk     atomic.Pointer[powerloss.Disk]
	mounted  *powerloss.Mounted // nil: the machine is off
	mount    string
	postgres *postgrestest.Durable // nil: the store is a file
	kept     *kept
	lost     int // losses of power

	abandoned int  // requests that count as lost because their clients were stopped
	unopened  bool // the servers did not start on what was left
	over      atomic.Bool
}

// newMachine mounts an empty disk and starts the servers on it.
func newMachine(ctx context.Context, random *rand.Rand, inPostgres bool) (*machine, error) {
	h, err := newHouse(ctx, "")
	if err != nil {
		return nil, err
	}
	m := &machine{
		crowd:  &crowd{house: h, holders: &holders{held: make(map[string][]*hold)}, count: new(figures)},
		random: random, mount: filepath.Join(h.folder, "disk"), kept: new(kept),
	}
	disk := powerloss.NewDisk()
	if inPostgres {
		disk.KeepNames() // Postgres counts on it for the files of tables
	}
	m.disk.Store(disk)
	if err = os.Mkdir(m.mount, 0o755); err == nil {
		m.mounted, err = powerloss.Mount(m.mount, disk)
	}
	if err == nil {
		err = m.newServers(ctx, inPostgres)
	}
	if err != nil {
		return nil, errors.Join(err, m.end())
	}
	return m, nil
}

// newServers creates the store and starts the servers.
func (m *machine) newServers(ctx context.Context, inPostgres bool) (err error) {
	m.store = "bolt:" + filepath.Join(m.mount, "store.db")
	number := 1
	if inPostgres {
		number = 2
		if err := os.Chmod(m.folder, 0o711); err != nil { // the Postgres server has an account of its own
			return err
		}
		if m.postgres, err = postgrestest.NewDurable(ctx, filepath.Join(m.folder, "postgres"), filepath.Join(m.mount, "postgres")); err != nil {
			return err
		}
		if err := m.postgres.Start(ctx); err != nil {
			return err
		}
		m.store = m.postgres.URL()
	}
	for range number {
		s, err := m.newServer(ctx)
		if err != nil {
			return err
		}
		m.servers = append(m.servers, s)
	}
	return nil
}

// down returns a channel that is closed when the power is lost.
func (m *machine) down() <-chan struct{} { return m.disk.Load().Down() }

// end switches the machine off and removes it.
func (m *machine) end() error {
	return errors.Join(m.off(), m.remove())
}

// off ends all programs of the machine as a loss of power does.
func (m *machine) off() error {
	for _, s := range m.servers {
		if s.command != nil {
			s.process.kill()
			s.command = nil
		}
	}
	if m.postgres != nil {
		m.postgres.Kill()
	}
	if m.mounted == nil {
		return nil
	}
	mounted := m.mounted
	m.mounted = nil
	return mounted.Unmount()
}

// run has clients work while the power is lost, and checks at the end that all is there.
func (m *machine) run(ctx context.Context, losses, calls, clients int, ignored powerloss.Ignored) error {
	if err := m.gather(ctx, clients); err != nil {
		return err
	}
	for _, s := range m.signers {
		s.down = m.down
	}
	makers, err := m.makers(ctx, clients)
	if err != nil {
		return err
	}
	m.disk.Load().Ignore(ignored)
	working, stop := context.WithCancel(ctx)
	defer stop()
	var all sync.WaitGroup
	work := func(once func(context.Context)) {
		all.Go(func() {
			for !m.over.Load() && working.Err() == nil {
				once(working)
			}
		})
	}
	for _, s := range m.signers {
		work(s.signOnce)
	}
	for _, k := range makers {
		work(k.makeOnce)
	}
	control := ignored != powerloss.Ignored{}
	for m.lost < losses && err == nil && !(control && m.noticed()) {
		m.disk.Load().CutAfter(m.random.IntN(calls))
		err = m.lose(ctx)
	}
	m.over.Store(true)
	waiting := err == nil && !m.ends(ctx, &all, control) // without a server they would wait for it
	known := m.count.losses()
	stop()
	all.Wait()
	m.abandoned = m.count.losses() - known
	switch {
	case errors.Is(err, errUnopened):
		m.unopened = true
		m.count.fault("after loss %d: %v", m.lost, err)
	case err != nil:
		return fmt.Errorf("after loss %d: %w", m.lost, err)
	case waiting && !control:
		m.count.fault("clients still wait for answers that the server owes them")
	default:
		checking, cancel := ctx, context.CancelFunc(func() {})
		if control { // the server may not answer any more
			checking, cancel = context.WithTimeout(ctx, drainTime)
		}
		defer cancel()
		makers[0].checkAll(checking)
	}
	return ctx.Err()
}

// ends waits for the clients to end what they have begun, and reports whether they do. In a control, some may wait for
// what was lost.
func (m *machine) ends(ctx context.Context, clients *sync.WaitGroup, control bool) bool {
	patience := drainTime
	if control {
		patience = 20 * time.Second
	}
	ended := make(chan struct{})
	go func() {
		clients.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return true
	case <-time.After(patience):
	case <-ctx.Done():
	}
	return false
}

// mostTime is when the power is lost at the latest: a server whose clients all wait makes few calls of the disk.
const mostTime = 20 * time.Second

// errUnopened is the error of servers that do not start on what was left, though it has power.
var errUnopened = errors.New("the servers do not start")

// start starts all programs of the machine, as long as it has power.
func (m *machine) start(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	down := m.down()
	go func() {
		select {
		case <-down:
			cancel()
		case <-ctx.Done():
		}
	}()
	if m.postgres != nil {
		if err := m.postgres.Start(ctx); err != nil {
			return err
		}
	}
	for _, s := range m.servers {
		if err := s.start(ctx); err != nil {
			return err
		}
	}
	return nil
}

// callsAtStart returns about how many calls of the disk a start makes. A Postgres server flushes each of its files.
func (m *machine) callsAtStart() int {
	if m.postgres != nil {
		return 2500
	}
	return 60
}

// lose waits for the loss of power, and starts the servers on what is left. Errors: errUnopened, and those of the machine.
func (m *machine) lose(ctx context.Context) error {
	for {
		select {
		case <-m.down():
		case <-time.After(mostTime):
			m.disk.Load().Cut()
		case <-ctx.Done():
			return ctx.Err()
		}
		m.deaths.Add(1)
		m.lost++
		if err := m.off(); err != nil {
			return err
		}
		m.disk.Store(m.disk.Load().Survivor(m.random))
		var err error
		if m.mounted, err = powerloss.Mount(m.mount, m.disk.Load()); err != nil {
			return err
		}
		if m.random.IntN(4) == 0 { // the power is lost again during the start
			m.disk.Load().CutAfter(m.random.IntN(m.callsAtStart()))
		}
		if err = m.start(ctx); err == nil {
			m.disk.Load().CutAfter(math.MaxInt32) // the start made fewer calls: run does not expect a loss now
			select {
			case <-m.down():
				continue
			default:
				return nil
			}
		}
		select {
		case <-m.down():
		default:
			return errors.Join(ctx.Err(), fmt.Errorf("%w: %w", errUnopened, err))
		}
	}
}

func (m *machine) print(out io.Writer, took time.Duration) error {
	return m.count.print(out, took,
		[2]any{"losses of power", m.lost},
		[2]any{"processes made", m.kept.made()},
		[2]any{"signatures in them", m.kept.signed()},
		[2]any{"documents read and compared", m.kept.checked},
	)
}
