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

// Deployment has what a configuration opens for a server. The caller closes it after the server.
type Deployment struct {
	// Server is the configuration of the server. The caller may change fields before it calls [server.New].
	Server server.Config

	db       DB
	renderer *pdfium.Renderer
	traces   *sdktrace.TracerProvider // nil: nothing is traced
	sources  *liveSources             // nil: there is no configuration file
	reload   *reload                  // nil: there is no configuration file
	tls      *tlsFiles                // nil: plain HTTP
	log      *slog.Logger
}

// RendererFlag sets the folder of the compiled page renderer of a server.
type RendererFlag struct {
	RendererCache string `placeholder:"FOLDER" help:"Folder for the compiled page renderer, which finds free space for stamps (default STORE.pdfium beside a store of the form bolt:PATH, else innsigli/pdfium in the user's cache folder)."`
}

// Folder returns the folder of the compiled page renderer for a server on a store; empty: it is not cached.
func (f RendererFlag) Folder(s Store) string {
	if s.InPostgres() {
		return cmp.Or(f.RendererCache, UserRendererFolder())
	}
	return cmp.Or(f.RendererCache, s.Path+".pdfium")
}

// UserRendererFolder returns the folder for the compiled page renderer in the user's cache folder; empty if the user
// has none.
func UserRendererFolder() string {
	folder, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(folder, "innsigli", "pdfium")
}

// Open migrates and opens the store, and opens all else that the configuration names. compile, if not nil, compiles the
// page renderer in its own process (see [pdfium.Options]).
func (c *Config) Open(ctx context.Context, log *slog.Logger, compile func(ctx context.Context, cache string) error) (*Deployment, error) {
	d := &Deployment{log: log, tls: c.tls}
	if c.Store.InsecureTLS {
		log.Warn("connection to the database not verified: anyone on the network between can read and change the data (--insecure-database-tls)")
	}
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

// OpenForCommand does the same for a command that does a part of a server's work. It does not migrate the store.
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

// pollOnly hides that a provider can send notifications.
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

// masterKeys reads the key file. The first start of a sandbox on a store creates it. If the store has encrypted secrets
// already, a missing key file is an error.
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
		return nil, fmt.Errorf("--master-key-file: %w: the secrets in this store were encrypted with another key file, as those of a backup are: name it with --master-key-file OLD.key", err)
	case err != nil:
		return nil, fmt.Errorf("--master-key-file: %w", err)
	}
	return keys, nil
}

// tracesTime is how long Close waits for the collector to accept the last spans.
const tracesTime = 3 * time.Second

// Close closes what Open has opened. The caller closes the server first. If the collector of traces does not answer, Close
// waits for three seconds and returns no error for it.
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

// watchInterval is the time between two checks of the configuration files for changes.
const watchInterval = 2 * time.Second

// Watch reloads the configuration file and the files that it names, at each SIGHUP and when one of them has changed, until
// the context ends. Without a configuration file SIGHUP has no effect.
func (d *Deployment) Watch(ctx context.Context) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP) // not stopped: a SIGHUP while the server drains would end the program
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	for {
		hangup := false
		select {
		case <-ctx.Done():
			return nil
		case <-signals:
			hangup = true
		case <-ticker.C:
		}
		if d.reload != nil && (hangup || d.reload.changed()) {
			d.reload.load()
		}
		if d.tls != nil && d.tls.changed() {
			d.tls.reload(d.log)
		}
	}
}

// reload loads a changed configuration file while the server runs. If the file has faults, the previous configuration stays
// in force as a whole.
type reload struct {
	path    string
	read    func(path string) (File, Faults)
	sources *liveSources
	started AtStart // sections that the server started with
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

// CheckTraces returns the address of the collector of traces, empty if there is none, and an error unless it accepts
// traces.
func (c *Config) CheckTraces(ctx context.Context) (endpoint string, err error) {
	if c.collector.Endpoint == "" {
		return "", nil
	}
	return c.collector.Endpoint, c.collector.Check(ctx)
}
