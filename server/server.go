// Package server is the reference server, assembled from the packages of the service: the Signing API and the Portal API
// over HTTP, the signing page, and background jobs. Another program can run it with its own backend, identity provider or
// mail transport:
//
//	db, err := bolt.Open("innsigli.db", bolt.Options{})
//	keys, err := sealed.ReadFile("innsigli.key")
//	s, err := server.New(ctx, server.Config{
//		BaseURL:   "https://sign.example",
//		Backend:   db,
//		MasterKey: keys,
//		Provider:  provider,
//		Listen:    "127.0.0.1:8080",
//	})
//	err = s.Run(ctx)
//	err = errors.Join(err, s.Close(), db.Close())
//
// [New] assembles the server and opens the listeners. [Server.Run] answers requests, runs jobs and cleans up until its
// context ends, and then lets running requests finish. A program with its own HTTP server leaves Listen empty and serves
// [Server.Handler], while Run does the rest.
//
// The command "innsigli serve" runs this package with the configuration that package server/config reads from flags, the
// environment and a file.
package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/httpapi"
	"github.com/innsigli/innsigli/internal/admission"
	"github.com/innsigli/innsigli/internal/promptlimit"
	"github.com/innsigli/innsigli/internal/queue"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/portal/page"
	"github.com/innsigli/innsigli/server/internal/front"
	"github.com/innsigli/innsigli/server/internal/notify"
	"github.com/innsigli/innsigli/server/internal/reference"
	"github.com/innsigli/innsigli/server/internal/telemetry"
	"github.com/innsigli/innsigli/server/operator"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/stamp/pdfium"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/sealed"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// Version returns the version of this module in the program, "(devel)" when it was built from a checkout.
func Version() string { return telemetry.Version() }

// Server is the service. Its methods may be called by several goroutines at once; Run may be called once.
type Server struct {
	config    Config // with defaults
	observer  telemetry.Observer
	tx        storage.Transactor // of the backend, observed
	people    people
	accounts  *account.Service
	signals   *busysignal.Service
	hooks     *delivery.Service
	signing   *signing.Service
	processes *portal.Service
	page      *page.Page       // nil in a Sandbox
	renderer  *pdfium.Renderer // closed with the server unless it is Config.Renderer
	rendering *admission.Queue // for the renderer
	queue     notify.Queue
	mailer    *notify.Mailer // nil: no mail is sent
	evidence  *evidenceKeeper
	handler   http.Handler
	stopping  atomic.Bool

	listener, metricsListener, operatorListener net.Listener // nil: the server does not listen there
}

// New returns a server for a configuration and opens its listeners; [Server.Run] answers requests. An error names each
// field that is missing or wrong. The caller closes the server.
func New(ctx context.Context, c Config) (*Server, error) {
	c.BaseURL = strings.TrimSuffix(c.BaseURL, "/")
	if err := c.check(); err != nil {
		return nil, err
	}
	c.Retention, c.Limits = c.Retention.withDefaults(), c.Limits.withDefaults()
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	c.Log = slog.New(front.LogHandler{Handler: c.Log.Handler()})
	s := &Server{config: c}
	if err := s.assemble(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// assemble creates the parts of the server. Later parts need earlier ones.
func (s *Server) assemble(ctx context.Context) (err error) {
	s.observer = telemetry.Observer{Metrics: telemetry.NewMetrics(), Traces: telemetry.NewTraces(s.config.Traces)}
	s.config.MasterKey = s.config.MasterKey.WithReport(s.refusedSecret)
	c, b := s.config, s.config.Backend
	if s.people, err = c.people(ctx); err != nil {
		return err
	}
	if n, err := c.reseal(ctx); err != nil {
		return err
	} else if n > 0 {
		c.Log.Info("secrets encrypted again with the first master key", "count", n)
	}
	s.tx = s.observer.Transactor(b)
	s.accounts = account.New(b.Accounts(), s.tx, account.Options{})
	s.signals = busysignal.New(b.BusySignals(), s.tx, busysignal.Options{CheckAccount: s.accounts.CheckOpen})
	sources := s.people.sources(c.Sources)
	s.evidence = newEvidenceKeeper(c, func() ades.Timestamper { return s.observer.Sources(sources()).Time })
	s.assembleMail()
	if err = s.assembleWebhooks(ctx); err != nil {
		return err
	}
	if s.renderer = c.Renderer; s.renderer == nil {
		s.renderer = pdfium.New(pdfium.Options{})
	}
	s.rendering = admission.NewQueue(s.renderer.Instances(), maxRendering)
	s.assembleSigning()
	s.observer.Metrics.WatchJobs(b.Jobs(), s.kindNames())
	if file, ok := b.(interface {
		FileSize() (size, free int64, err error)
	}); ok {
		s.observer.Metrics.WatchFileSize(file.FileSize)
	}
	if err = s.listen(); err != nil {
		return err
	}
	if s.people.authority != nil {
		if err = s.people.authority.SetBaseURL(ctx, s.config.BaseURL); err != nil {
			return err
		}
	}
	if s.page, err = s.newPage(); err != nil {
		return err
	}
	s.handler = s.newHandler()
	return nil
}

// refusedSecret logs and counts a secret of the store that did not open. The error names the record.
func (s *Server) refusedSecret(err error) {
	reason := "damaged"
	switch {
	case errors.Is(err, sealed.ErrPlain):
		reason = "plain"
	case errors.Is(err, sealed.ErrKey):
		reason = "key"
	}
	s.observer.Metrics.RefusedSecret(reason)
	s.config.Log.Error("secret in the store refused", "error", err)
}

func (s *Server) assembleMail() {
	c, b := s.config, s.config.Backend
	s.queue = notify.Queue{Tx: b, Jobs: b.Jobs(), Log: c.Log, Evidence: b.EvidenceLog()}
	if c.Mail != nil {
		s.queue.Out = transport{c.Mail}
		s.mailer = &notify.Mailer{
			Queue: s.queue, Processes: sealed.Processes(b.Processes(), c.MasterKey), Accounts: s.accounts,
			BaseURL: c.BaseURL, Letterhead: notify.LetterheadOf(c.Operator),
		}
	}
}

// noMail returns the mail of a server that sends none. In a sandbox, which never sends mail (spec 6), it does not log that.
func (s *Server) noMail() notify.NoMail {
	log := s.config.Log
	if s.config.Environment == Sandbox {
		log = slog.New(slog.DiscardHandler)
	}
	return notify.NoMail{Queue: s.queue, Log: log}
}

// assembleWebhooks creates the webhook service, and its signing key if there is none yet.
func (s *Server) assembleWebhooks(ctx context.Context) error {
	c, b := s.config, s.config.Backend
	if c.Webhooks.AllowPrivate {
		c.Log.Warn("webhooks to this machine and to private networks are allowed")
	}
	o := delivery.Options{
		EventTypes:       portal.EventTypes(),
		MaxSubscriptions: c.Webhooks.MaxSubscriptions,
		Endpoints:        delivery.Endpoints{AllowPrivate: c.Webhooks.AllowPrivate, Proxy: c.Webhooks.Proxy},
		Observed:         s.observer.Metrics.Attempt,
		CheckAccount:     s.accounts.CheckOpen,
	}
	if c.Environment != Sandbox { // a sandbox sends no mail (spec 6)
		alerts := notify.Alerts{Accounts: s.accounts, Letterhead: notify.LetterheadOf(c.Operator), Log: c.Log}
		if s.mailer != nil {
			alerts.Mail = s.queue
		}
		o.Alerts = alerts
	}
	s.hooks = delivery.New(sealed.Webhooks(b.Webhooks(), c.MasterKey), s.tx, b.Jobs(), o)
	s.observer.Metrics.WatchDeliveries(s.hooks.OldestDue)
	return s.hooks.EnsureKey(ctx)
}

// endDelay is for how long the ends of delivered requests are collected, to be stored in one transaction.
const endDelay = 50 * time.Millisecond

// assembleSigning creates the services of signing requests and of signing processes.
func (s *Server) assembleSigning() {
	c, b := s.config, s.config.Backend
	now := time.Now()
	o := portal.Options{Events: s.hooks, Mail: s.noMail(), KeyRetention: now.Sub(c.Retention.IdempotencyKeys.before(now))}
	if s.mailer != nil {
		o.Mail = s.mailer
	}
	if s.people.users != nil {
		o.SandboxUsers = sandboxUsers{b.Sandbox()}
	}
	owner := portal.NewOwner(sealed.Processes(b.Processes(), c.MasterKey), s.tx, b.Documents(), b.EvidenceLog(), operator.PortalAccounts{Service: s.accounts}, o)
	options := c.signingOptions(s.people, now)
	sources := options.Sources
	options.Renderer, options.Rendering = s.renderer, s.rendering
	options.Sources = func() ades.Sources { return s.observer.Sources(sources()) }
	options.OnStep = s.logStep
	options.SingleProcess, options.EndDelay = isSingleProcess(b), endDelay
	options.Owner, options.Ledger, options.CheckAccount, options.DocumentPolicy = owner, s.accounts, s.accounts.CheckOpen, s.accounts.DocumentPolicy
	options.Prompts = s.promptLimiter(promptlimit.Sign, promptlimit.Limits{Hourly: c.Limits.PersonStarts, Pending: c.Limits.PersonPending})
	s.signing = signing.New(sealed.Requests(b.Requests(), c.MasterKey), s.tx, b.Documents(), b.Jobs(), b.EvidenceLog(), s.observer.Provider(s.people.provider), s.signals, options)
	s.processes = portal.New(owner, s.signing)
}

// promptLimiter returns the limiter of one kind of prompts; nil in a Sandbox, whose users may be asked in parallel (spec 1.9).
func (s *Server) promptLimiter(kind promptlimit.Kind, limits promptlimit.Limits) *promptlimit.Limiter {
	c := s.config
	if c.Environment == Sandbox {
		return nil
	}
	limits.Hourly, limits.Pending = max(limits.Hourly, 0), max(limits.Pending, 0) // NoLimit is 0 there
	return promptlimit.New(sealed.Pages(c.Backend.Pages(), c.MasterKey), c.MasterKey.Derive("innsigli prompts of a person"), kind, limits)
}

// signingOptions returns the options of the signing service that depend only on the configuration.
func (c Config) signingOptions(p people, now time.Time) signing.Options {
	options := p.options
	options.Sources = p.sources(c.Sources)
	options.AllowDigitalSignature = c.AllowDigitalSignature
	options.Keep = c.Retention.requests(now)
	return options
}

// NewSigning returns the signing service of a configuration without a server, for a command that uses
// [signing.Service.Recover]. It needs the Environment, Backend, MasterKey, Provider, Sources, AllowDigitalSignature and
// Retention of the configuration. The caller closes it.
func NewSigning(ctx context.Context, c Config) (*signing.Service, error) {
	c.Retention, c.Log = c.Retention.withDefaults(), slog.New(slog.DiscardHandler)
	p, err := c.people(ctx)
	if err != nil {
		return nil, err
	}
	b := c.Backend
	signals := busysignal.New(b.BusySignals(), b, busysignal.Options{})
	return signing.New(sealed.Requests(b.Requests(), c.MasterKey), b, b.Documents(), b.Jobs(), b.EvidenceLog(), p.provider, signals, c.signingOptions(p, time.Now())), nil
}

// logStep logs a step of a signing request with its pollingId. Steps of each poll have the level debug.
func (s *Server) logStep(ctx context.Context, step signing.Step) {
	s.observer.Metrics.Step(step)
	level, attributes := s.config.RequestLevel, []slog.Attr{slog.String("pollingId", step.Request), slog.String("step", step.Name)}
	if step.Code != "" {
		attributes = append(attributes, slog.String("errorCode", string(step.Code)))
	}
	if step.Reason != "" {
		attributes = append(attributes, slog.String("reason", step.Reason))
	}
	if step.Note != "" {
		level, attributes = slog.LevelDebug, append(attributes, slog.String("call", step.Note))
	}
	if step.Err != nil {
		level, attributes = slog.LevelWarn, append(attributes, slog.Any("error", step.Err))
	}
	s.config.Log.LogAttrs(ctx, level, "signing request", attributes...)
}

// isSingleProcess reports whether only one process can use a backend, as it has no rates that several could share.
func isSingleProcess(b Backend) bool { return bucketsOf(b) == nil }

// bucketsOf returns the rates of a backend that several servers may share, or nil if it has none.
func bucketsOf(b Backend) storage.Buckets {
	if shared, ok := b.(interface{ Buckets() storage.Buckets }); ok {
		return shared.Buckets()
	}
	return nil
}

// listen opens the listeners, and fills in the base URL of a sandbox that has none.
func (s *Server) listen() (err error) {
	c := &s.config
	if c.Listen != "" {
		if s.listener, err = net.Listen("tcp", c.Listen); err != nil {
			return fmt.Errorf("listening: %w", err)
		}
		if c.BaseURL == "" {
			c.BaseURL = urlOf(s.listener.Addr(), c.TLS)
		}
	}
	if c.ListenMetrics != "" {
		if s.metricsListener, err = net.Listen("tcp", c.ListenMetrics); err != nil {
			return fmt.Errorf("listening for metrics: %w", err)
		}
	}
	if c.OperatorSocket != "" {
		s.operatorListener, err = operator.Listen(c.OperatorSocket)
	}
	return err
}

// urlOf returns a URL that reaches an address from this machine.
func urlOf(a net.Addr, tlsConfig *tls.Config) string {
	u := url.URL{Scheme: "http", Host: a.String()}
	if tlsConfig != nil {
		u.Scheme = "https"
	}
	if host, port, err := net.SplitHostPort(u.Host); err == nil && net.ParseIP(host).IsUnspecified() {
		u.Host = net.JoinHostPort("localhost", port)
	}
	return u.String()
}

// maxRendering is how many pages wait to be rendered at once.
const maxRendering = 1024

// pageTimeout is how long the signing page waits for the picture of one page. It is long, so that a busy server does not
// leave a page out; a start call, which searches for space for a stamp, has a shorter limit.
const pageTimeout = 15 * time.Second

// newPage returns the signing page, on which people log in, read and sign; nil in a Sandbox. Without a login provider the
// page exists too, because invitations link to it, and says that login is not possible.
func (s *Server) newPage() (*page.Page, error) {
	c := s.config
	if c.Environment == Sandbox {
		return nil, nil
	}
	return page.New(page.Config{
		BaseURL:   c.BaseURL,
		Portal:    s.processes,
		Store:     sealed.Pages(c.Backend.Pages(), c.MasterKey),
		Tx:        s.tx,
		Login:     s.people.login,
		Renderer:  s.renderer.Within(pageTimeout),
		Rendering: s.rendering,
		Methods:   signingMethods(s.people.provider),
		Sender: func(ctx context.Context, id string) (string, error) {
			a, err := s.accounts.Account(ctx, id)
			return a.Name, err
		},
		Operator: c.Operator,
		Address:  front.Proxies(c.Proxies).Client,
		Trial:    c.Environment == Trial,
		LoginFailed: func(_ context.Context, reason page.LoginFailure) {
			s.observer.Metrics.AuthFailed("login_" + string(reason))
		},
		Prompts: s.promptLimiter(promptlimit.Login, promptlimit.Limits{Hourly: c.Limits.PersonLogins}),
		Failed: func(ctx context.Context, err error) {
			c.Log.ErrorContext(ctx, "rendering a page failed", "error", err)
		},
	})
}

// newHandler returns the handler of all paths. From the outermost to the innermost: the least rate at which clients must
// read, the middleware, the signing page, the API.
func (s *Server) newHandler() http.Handler {
	c, proxies := s.config, front.Proxies(s.config.Proxies)
	limited := func(r storage.Rate) storage.Rate {
		if r == Unlimited {
			return storage.Rate{}
		}
		return r
	}
	api := httpapi.Config{
		BaseURL:  c.BaseURL,
		Accounts: front.RecordClients(s.accounts),
		Signals:  s.signals,
		Signing:  s.signing,
		Webhooks: s.hooks,
		Portal:   s.processes,
		Ready:    s.ready,
		Wrap:     front.RecordRoute,
		MaxBody:  c.Limits.Body,
		Limits: httpapi.Limits{
			Client: limited(c.Limits.Client), Address: limited(c.Limits.Address), Buckets: bucketsOf(c.Backend),
			Documents: c.Limits.Documents, Watch: s.observer.Metrics.WatchBytes,
		},
		Address: proxies.Client,
		AuthFailed: func(ctx context.Context, kind httpapi.AuthFailure, client string) {
			s.observer.Metrics.AuthFailed(string(kind))
			front.RecordAuthFailure(ctx, kind, client)
		},
		Failed: func(ctx context.Context, err error) {
			if !errors.Is(err, errStopping) && !errors.Is(err, errStarting) { // these are logged already
				c.Log.ErrorContext(ctx, "request failed", "error", err)
			}
		},
	}
	environment := "Production"
	if s.people.users != nil {
		api.Sandbox, environment = s.people.users, "Sandbox"
	}
	api.Reference = reference.Handler(reference.Config{Title: "Innsigli", Environment: environment, Document: "openapi.json"})
	if s.people.authority != nil {
		api.TestCA = s.people.authority
	}
	if s.people.notifier != nil {
		api.Notifier, api.Notifications = s.people.notifier, s.signing
	}
	h := s.withPage(httpapi.New(api))
	if c.Environment == Trial {
		h = front.LoopbackOnly(h)
	}
	h = front.Middleware{Next: h, Proxies: proxies, Metrics: s.observer.Metrics, Traces: s.observer.Traces, Log: c.Log, Level: c.RequestLevel}
	return admission.MinRate{Grace: c.Limits.SlowAfter, Rate: c.Limits.LeastRate}.Handler(h)
}

// signingPath is the prefix of the paths of the signing page.
const signingPath = "/sign/"

// withPage returns a handler that serves the signing page, the login page of a trial's simulated provider, and the API. It
// does not clean paths: the API refuses those of a wrong form.
func (s *Server) withPage(api http.Handler) http.Handler {
	if s.page == nil {
		return api
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, signingPath):
			s.page.ServeHTTP(w, r)
		case s.config.Environment == Trial && r.URL.Path == trialLoginPath:
			serveTrialLogin(w, r)
		default:
			api.ServeHTTP(w, r)
		}
	})
}

// BaseURL returns the URL at which clients reach the server.
func (s *Server) BaseURL() string { return s.config.BaseURL }

// Addr returns the address that the server listens on; nil: it does not listen.
func (s *Server) Addr() net.Addr { return addrOf(s.listener) }

// MetricsAddr returns the address that the server serves metrics on; nil: it does not.
func (s *Server) MetricsAddr() net.Addr { return addrOf(s.metricsListener) }

func addrOf(l net.Listener) net.Addr {
	if l == nil {
		return nil
	}
	return l.Addr()
}

// RootPEM returns the root certificate of the server's test authority, in PEM; nil in Production.
func (s *Server) RootPEM() []byte {
	if s.people.authority == nil {
		return nil
	}
	return s.people.authority.RootPEM()
}

// Handler returns the handler of all paths: the API, the signing page, and those beside them such as /healthz.
func (s *Server) Handler() http.Handler { return s.handler }

// Metrics returns the handler of /metrics, for Prometheus, and of profiles at /debug/pprof/. Only operators may reach it.
func (s *Server) Metrics() http.Handler { return s.observer.Metrics.Handler() }

// errStopping and errStarting are the reasons why a stopping server, and one that has just started, are not ready.
var (
	errStopping = errors.New("the server is stopping")
	errStarting = errors.New("the page renderer is being made ready")
)

// checker is a backend whose schema another process may change while it is open.
type checker interface{ Check(context.Context) error }

// ready returns nil if the backend answers, with a schema that this version knows, and the page renderer is compiled. The
// first call starts its compilation, if it has not begun.
func (s *Server) ready(ctx context.Context) error {
	if s.stopping.Load() {
		return errStopping
	}
	rendererErr := s.renderer.Ready()
	if err := s.checkBackend(ctx); err != nil {
		return err
	}
	switch {
	case errors.Is(rendererErr, stamp.ErrNotReady):
		return errStarting
	case rendererErr != nil:
		return fmt.Errorf("the page renderer: %w", rendererErr)
	}
	return nil
}

// checkBackend returns nil if the backend answers, with a schema that this version knows.
func (s *Server) checkBackend(ctx context.Context) error {
	if b, ok := s.config.Backend.(checker); ok {
		return b.Check(ctx)
	}
	if _, err := s.accounts.Account(ctx, sandboxAccount); !errors.Is(err, account.ErrNotFound) {
		return err
	}
	return nil
}

// Run answers requests, runs jobs and cleans up until the context ends. Then it accepts requests for DrainDelay more, and
// lets running requests finish. It returns an error if a listener failed, or if requests were cut off.
func (s *Server) Run(ctx context.Context) error {
	accepting, stop := context.WithCancel(context.WithoutCancel(ctx)) // ends when no more requests are accepted
	defer stop()
	measured, end := context.WithCancel(context.WithoutCancel(ctx)) // ends when all requests have been answered
	defer end()
	group, running := errgroup.WithContext(accepting)
	group.Go(func() error {
		defer stop()
		s.drain(ctx, running)
		return nil
	})
	if s.operatorListener != nil {
		o := operator.New(s.config.Backend, operator.Options{
			Webhooks: s.hooks, Processes: s.processes, Signing: s.signing, PaymentMethod: new(s.config.Environment == Sandbox),
		})
		group.Go(func() error {
			return front.Serve(running, s.operatorListener, nil, o.Handler(), s.config.Log)
		})
	}
	if s.listener != nil {
		proxies := front.Proxies(s.config.Proxies)
		listener := proxies.Connections(s.listener, s.config.Limits.Connections, s.config.Limits.ConnectionsPerAddress)
		group.Go(func() error { return front.Serve(running, listener, s.config.TLS, s.handler, s.config.Log) })
	}
	group.Go(func() error { return every(running, cleanupInterval, s.cleanup) })
	group.Go(func() error { return every(running, chainInterval, s.evidence.tick) })
	group.Go(func() error { return every(running, cleanupInterval, s.renewCertificates) })
	group.Go(func() error { return s.runner().Run(running) })
	group.Go(func() error { return s.warmRenderer(running) })

	metrics := errgroup.Group{}
	if s.metricsListener != nil { // metrics are served until the end, so that a stop can be watched
		metrics.Go(func() error { return front.Serve(measured, s.metricsListener, nil, s.Metrics(), s.config.Log) })
	}
	err := errors.Join(group.Wait(), s.closeSigning()) // before the last entries are chained
	s.evidence.stop(ctx)
	end()
	err = errors.Join(err, metrics.Wait())
	if s.stopping.Load() {
		s.config.Log.Info("stopped")
	}
	return err
}

// drain returns when the server accepts no more requests: DrainDelay after ctx has ended, or at once when failed has ended.
func (s *Server) drain(ctx, failed context.Context) {
	select {
	case <-ctx.Done():
	case <-failed.Done():
		return
	}
	s.stopping.Store(true)
	if s.config.Stopping != nil {
		s.config.Stopping()
	}
	delay := s.config.DrainDelay
	s.config.Log.Info("stopping",
		"drainDelay", delay, "timeToFinish", front.StopTime)
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-failed.Done():
	}
}

// Close releases the resources of the server. The caller calls it after Run has returned and no request is running, or if
// Run was never called.
func (s *Server) Close() error {
	err := s.closeSigning()
	if s.hooks != nil {
		s.hooks.Close()
	}
	if s.page != nil {
		s.page.Close()
	}
	if s.renderer != nil && s.config.Renderer == nil {
		err = errors.Join(err, s.renderer.Close())
	}
	for _, l := range []net.Listener{s.listener, s.metricsListener, s.operatorListener} {
		if l != nil {
			l.Close() // Run may have closed it already
		}
	}
	if s.operatorListener != nil {
		os.Remove(s.config.OperatorSocket)
	}
	return err
}

// closeSigning waits for what calls left to be stored. It may be called again.
func (s *Server) closeSigning() error {
	if s.signing == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), front.StopTime)
	defer cancel()
	return s.signing.Close(ctx)
}

// runner returns the runner of all jobs, with metrics and traces.
func (s *Server) runner() queue.Runner {
	kinds := s.kinds()
	for i, k := range kinds {
		kinds[i] = s.observer.Kind(k)
	}
	return queue.Runner{
		Jobs:          s.config.Backend.Jobs(),
		Tx:            s.tx,
		Kinds:         kinds,
		SingleProcess: isSingleProcess(s.config.Backend),
		Failed: func(ctx context.Context, job storage.Job, err error) {
			if job.ID == "" {
				s.config.Log.ErrorContext(ctx, "store failed", "error", err)
				return
			}
			s.config.Log.ErrorContext(ctx, "job failed", "kind", job.Kind, "job", job.ID, "attempt", job.Attempt, "failures", job.Failures, "error", err)
		},
		Parked: func(ctx context.Context, job storage.Job) {
			s.config.Log.ErrorContext(ctx, "job parked: see innsigli job show", "kind", job.Kind, "job", job.ID, "failures", job.Failures)
		},
	}
}

// kinds are the kinds of jobs.
func (s *Server) kinds() (all []queue.Kind) {
	// These jobs mostly wait for the identity provider, timestamps and revocation status, so many may run at once, and many
	// for one account. A signing process has one every two seconds for each of its live requests.
	for name, do := range s.signing.Handlers() {
		all = append(all, queue.Kind{Name: name, Do: do, Concurrency: 128, PerGroup: 64, MaxAttempts: s.signing.MaxAttempts(name)})
	}
	for _, w := range s.hooks.Work() {
		all = append(all, queue.Kind{
			Name: w.Kind, DoThen: w.Do, Concurrency: w.Concurrency, PerGroup: w.PerGroup, Timeout: w.Timeout, MaxAttempts: w.MaxAttempts,
		})
	}
	if s.mailer == nil {
		return append(all, queue.Kind{Name: notify.ProcessKind, Do: s.noMail().Drop, MaxAttempts: notify.MaxAttempts})
	}
	return append(all,
		queue.Kind{Name: notify.MessageKind, Do: s.queue.Send, PerGroup: 8, MaxAttempts: notify.MaxAttempts},
		queue.Kind{Name: notify.ProcessKind, DoThen: s.mailer.Send, Concurrency: 16, PerGroup: 8, MaxAttempts: notify.MaxAttempts})
}

func (s *Server) kindNames() (names []string) {
	for _, k := range s.kinds() {
		names = append(names, k.Name)
	}
	return names
}

// renewCertificates renews the certificates of the server's test authority, if it has one.
func (s *Server) renewCertificates(ctx context.Context) {
	if s.people.authority == nil {
		return
	}
	if err := s.people.authority.Renew(ctx); err != nil && ctx.Err() == nil {
		s.config.Log.Error("renewing the certificates of the test authority failed", "error", err)
	}
}

// rendererDelay is how long after its start a server begins to compile the page renderer: waiting requests come first. A
// request for a stamp starts the compilation at once.
const rendererDelay = time.Second

// warmRenderer compiles the page renderer before a request needs it.
func (s *Server) warmRenderer(ctx context.Context) error {
	select {
	case <-time.After(rendererDelay):
	case <-ctx.Done():
		return nil
	}
	err := s.renderer.WarmNotify(ctx, func(text string) { s.config.Log.Info(text) })
	if err != nil && ctx.Err() == nil {
		s.config.Log.Error("stamps cannot be placed automatically", "error", err)
	}
	return nil
}
