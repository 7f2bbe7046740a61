package config

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/server"
	"github.com/innsigli/innsigli/stamp/pdfium"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"
	"github.com/innsigli/innsigli/storage/sealed"
)

// Deployment is what a configuration opens for a server. It is closed after the server.
type Deployment struct {
	// Server is the configuration of the server, of which the caller may change the rest.
	Server server.Config

	db       DB
	renderer *pdfium.Renderer
	traces   *sdktrace.TracerProvider // nil: there are none
	sources  *liveSources             // nil: there is no file
	reload   *reload                  // nil: there is no file
	tls      *tlsFiles                // nil: plain HTTP
	log      *slog.Logger
}

// RendererFlag is that of a server, whose store stays.
type RendererFlag struct {
	RendererCache string `placeholder:"FOLDER" help:"Folder for the compiled page renderer, which finds free spots for stamps (default STORE.pdfium beside a store of the form bolt:PATH, else innsigli/pdfium in the user's cache folder)."`
}

// Folder returns the folder of the compiled page renderer for a store; empty: there is none.
func (f RendererFlag) Folder(s Store) string {
	if s.InPostgres() {
		return cmp.Or(f.RendererCache, UserRendererFolder())
	}
	return cmp.Or(f.RendererCache, s.Path+".pdfium")
}

// UserRendererFolder returns the folder of the user's caches for the compiled page renderer; empty: there is none.
func UserRendererFolder() string {
	folder, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(folder, "innsigli", "pdfium")
}

// Open opens the store and all else that the configuration names. compile, unless nil, compiles the page renderer in a
// process of its own (see pdfium.Options).
func (c *Config) Open(ctx context.Context, log *slog.Logger, compile func(ctx context.Context, cache string) error) (*Deployment, error) {
	d := &Deployment{log: log, tls: c.tls}
	openStore := func(ctx context.Context) (DB, error) {
		from, to, err := c.Store.Migrate(ctx)
		if errors.Is(err, bolt.ErrNotCompacted) {
			log.Warn("store file not compacted: each start tries again", "error", err)
		} else if err != nil {
			return nil, err
		}
		if from > 0 && from < to {
			log.Info("store schema migrated", "from", from, "to", to)
		}
		return c.Store.Open(ctx, "")
	}
	if err := d.open(ctx, c, compile, openStore); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// OpenForCommand opens the same for a command that does a part of a server's work. It does not change the tables of a
// database.
func (c *Config) OpenForCommand(ctx context.Context, log *slog.Logger) (*Deployment, error) {
	d := &Deployment{log: log, tls: c.tls}
	openStore := func(ctx context.Context) (DB, error) { return c.Store.Open(ctx, "innsigli-command") }
	if err := d.open(ctx, c, nil, openStore); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

func (d *Deployment) open(ctx context.Context, c *Config, compile func(ctx context.Context, cache string) error, openStore func(context.Context) (DB, error)) (err error) {
	f := c.Flags
	if d.traces, err = c.collector.Open(ctx, func(err error) { d.log.Warn("sending traces failed", "error", err) }); err != nil {
		return err
	}
	if d.db, err = openStore(ctx); err != nil {
		return err
	}
	keys, err := f.masterKeys(ctx, c.Store, d.db.Sandbox())
	if err != nil {
		return err
	}
	d.renderer = newRenderer(f.Folder(c.Store), compile)
	d.Server = server.Config{
		Environment:    f.environment(),
		BaseURL:        f.base(),
		Backend:        d.db,
		MasterKey:      keys,
		Operator:       c.Operator,
		Renderer:       d.renderer,
		TestKeys:       f.TestKeys,
		Webhooks:       c.webhooks,
		Retention:      c.retention,
		Limits:         c.limits,
		Proxies:        c.proxies,
		Listen:         f.listen(),
		TLS:            c.tls.config(),
		ListenMetrics:  orLoopback(f.AdminListen),
		OperatorSocket: c.Store.Socket(),
		DrainDelay:     f.DrainDelay,
		Log:            d.log,
	}
	d.Server.Webhooks.AllowPrivate = f.PrivateWebhooks
	if d.traces != nil {
		d.Server.Traces = d.traces
	}
	if out := c.transport(); out != nil {
		d.Server.Mail = mailer{out}
	}
	if f.Config != "" {
		d.sources = new(liveSources)
		d.sources.take(c.File)
		d.Server.Sources = d.sources.Sources
		d.reload = &reload{path: f.Config, read: f.readFile, sources: d.sources, started: c.AtStart, log: d.log, fileWatch: c.File.files}
	}
	if d.Server.Environment != server.Production {
		return nil
	}
	d.Server.AllowDigitalSignature = c.IdentityProvider.DigitalSignature
	return d.openProvider(c)
}

// pollOnly is a provider that tells no news.
type pollOnly struct{ idp.Provider }

func (d *Deployment) openProvider(c *Config) error {
	_, provider, err := c.Provider.Open()
	if err != nil {
		return fmt.Errorf("the identity provider: %w", err)
	}
	if d.Server.Provider = provider; !c.Provider.Adapter.Ping {
		d.Server.Provider = pollOnly{provider}
	}
	if c.Logins == nil {
		return nil
	}
	if d.Server.Login, err = c.Logins.open(c.Flags.base(), provider.Refusal, d.log); err != nil {
		return fmt.Errorf("the login: %w", err)
	}
	return nil
}

func newRenderer(cache string, compile func(ctx context.Context, cache string) error) *pdfium.Renderer {
	o := pdfium.Options{Cache: cache}
	if compile != nil {
		o.Compile = func(ctx context.Context) error { return compile(ctx, cache) }
	}
	return pdfium.New(o)
}

// masterKeys reads the keys. The first start of a sandbox on a store makes them; where
// something is sealed already a missing file has to be found, and is not made anew.
func (f Flags) masterKeys(ctx context.Context, s Store, users sandbox.Store) (*sealed.Keys, error) {
	path := f.KeyFile(s)
	authority, err := users.Authority(ctx)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return nil, err
	}
	if !f.production() && !sealed.Is(authority) {
		if err := sealed.MakeFile(path); err != nil {
			return nil, fmt.Errorf("--master-key-file: %w", err)
		}
	}
	keys, err := sealed.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("--master-key-file: %w: this store was sealed with the key of another file, as a backup is: name that, --master-key-file OLD.key", err)
	case err != nil:
		return nil, fmt.Errorf("--master-key-file: %w", err)
	}
	return keys, nil
}

// tracesTime is how long a collector may take for what has not been sent yet.
const tracesTime = 3 * time.Second

// Close closes what Open has opened. It is called when the server is closed. A collector of traces that is away keeps it
// for three seconds, and is no error.
func (d *Deployment) Close() error {
	var err error
	if d.renderer != nil {
		err = d.renderer.Close()
	}
	if d.db != nil {
		err = errors.Join(err, d.db.Close())
	}
	if d.traces != nil {
		ctx, cancel := context.WithTimeout(context.Background(), tracesTime)
		defer cancel()
		if err := d.traces.Shutdown(ctx); err != nil {
			d.log.Warn("sending traces failed", "error", err)
		}
	}
	return err
}

// watchInterval is how often the files of a configuration are looked at.
const watchInterval = 2 * time.Second

// Watch takes changes of the file, and of files that it names, until the context ends: at each SIGHUP, and when one of them
// was changed. Without a file SIGHUP does nothing.
func (d *Deployment) Watch(ctx context.Context) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP) // and never stop that: a SIGHUP while the server drains would end the program
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	for {
		asked := false
		select {
		case <-ctx.Done():
			return nil
		case <-signals:
			asked = true
		case <-ticker.C:
		}
		if d.reload != nil && (asked || d.reload.changed()) {
			d.reload.load()
		}
		if d.tls != nil && d.tls.changed() {
			d.tls.reload(d.log)
		}
	}
}

// reload takes a changed file while the server runs. It is taken whole or not at
// all: while it has faults the one before stays in force.
type reload struct {
	path    string
	read    func(path string) (File, Faults)
	sources *liveSources
	started AtStart // what the server started with
	log     *slog.Logger
	fileWatch
}

func (r *reload) load() {
	f, faults := r.read(r.path)
	r.seen = f.files.seen
	if len(faults) > 0 {
		for _, fault := range faults {
			r.log.Error("configuration reload failed: the previous configuration stays in force", "fault", fault)
		}
		return
	}
	r.sources.take(f)
	for _, section := range f.changed(r.started) {
		r.log.Warn("changed section takes effect at the next start", "section", section)
	}
	r.log.Info("configuration reloaded", "roots", len(f.Roots), "intermediates", len(f.Intermediates), "timestampAuthorities", len(f.Timestamps))
}

// CheckTraces reports whether the collector of traces takes them, and returns its address; empty: there is none.
func (c *Config) CheckTraces(ctx context.Context) (endpoint string, err error) {
	if c.collector.Endpoint == "" {
		return "", nil
	}
	return c.collector.Endpoint, c.collector.Check(ctx)
}
