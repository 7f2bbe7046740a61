// The tests call the API over HTTP, and check what the specification requires. The services behind it are real: a
// store in a file, accounts, busy signals and the sandbox, assembled as the program does.
package httpapi_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/httpapi"
	"github.com/innsigli/innsigli/idp"
	openapitest "github.com/innsigli/innsigli/internal/test/openapi"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// wiring is how the server of a test differs from the sandbox.
type wiring struct {
	production bool                     // no sandbox paths, and production's pace and expiry
	breaks     bool                     // the test breaks connections, which the server may complain about
	store      func(*testing.T) backend // nil: one in a file
	provider   func(*sandbox.Sandbox) idp.Provider
	signing    func(httpapi.Signing) httpapi.Signing
	renderer   stamp.Renderer
	webhooks   delivery.Options
	hooks      func(httpapi.Webhooks) httpapi.Webhooks
	portal     func(httpapi.Portal) httpapi.Portal
	limits     httpapi.Limits
	around     func(http.Handler) http.Handler
}

// smallBuffer limits what the kernel buffers of a connection that a test closes.
const smallBuffer = 64 << 10

// server is the assembled service.
type server struct {
	url       string
	dial      func(ctx context.Context, network, address string) (net.Conn, error)
	http      *http.Client
	stop      func() // waits until nothing is being answered any more
	store     *faultyStore
	documents *documents
	accounts  *account.Service
	people    *sandbox.Sandbox
	hooks     *delivery.Service
	requests  *signing.Service
	processes *portal.Service
	running   *sync.Map // requests that the server is not through with
	pages     *sync.Map // that explain problems and were read
}

// start starts a server on loopback.
func start(t *testing.T, w wiring) *server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var dialer net.Dialer
	return serve(t, listener, dialer.DialContext, w)
}

// bubble runs a test with a synthetic clock. Connections are pipes, since real sockets take real time.
func bubble(t *testing.T, w wiring, test func(t *testing.T, s *server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
		test(t, serve(t, p, p.dial, w))
	})
}

func serve(t *testing.T, listener net.Listener, dial func(context.Context, string, string) (net.Conn, error), w wiring) *server {
	t.Helper()
	if w.store == nil {
		w.store = inFile
	}
	db := &faultyStore{backend: w.store(t)}
	people, err := sandbox.Open(t.Context(), db.Sandbox(), db, sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := &server{
		url:  "http://" + listener.Addr().String(),
		dial: dial,
		http: &http.Client{
			Transport:     &http.Transport{DialContext: dial},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		store:     db,
		documents: &documents{Documents: db.Documents()},
		accounts:  account.New(db.Accounts(), db, account.Options{}),
		people:    people,
		hooks:     hooks(t, db, w.webhooks),
		running:   new(sync.Map),
		pages:     new(sync.Map),
	}
	handler := s.handler(t, db, w)
	s.http.Transport = openapitest.Transport(s.http.Transport, func(err error) { t.Error(err) }, described(t, handler, w))
	h := &http.Server{Handler: replaced(w.around, s.watch(handler))}
	if w.breaks {
		h.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
			if tcp, ok := c.(*net.TCPConn); ok {
				_ = tcp.SetWriteBuffer(smallBuffer) // the test fails if it stays large
			}
			return ctx
		}
	}
	served := make(chan error, 1)
	go func() { served <- h.Serve(listener) }()
	s.stop = sync.OnceFunc(func() {
		s.http.CloseIdleConnections()
		if err := h.Shutdown(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		<-served
	})
	t.Cleanup(func() {
		s.stop()
		s.hooks.Close()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *server) handler(t *testing.T, db *faultyStore, w wiring) http.Handler {
	signals := busysignal.New(db.BusySignals(), db, busysignal.Options{})
	options := signing.Options{Expiry: sandbox.Expiry, Interval: time.Second, IgnoreInterval: true, Sources: s.people.Sources, SingleProcess: true}
	if w.production {
		options = signing.Options{Sources: s.people.Sources, SingleProcess: true}
	}
	options.Renderer = w.renderer
	var provider idp.Provider = s.people
	if w.provider != nil {
		provider = w.provider(s.people)
	}
	owner := s.processOwner(db)
	options.Owner, options.Ledger, options.DocumentPolicy = owner, s.accounts, s.accounts.DocumentPolicy
	s.requests = signing.New(db.Requests(), db, s.documents, db.Jobs(), db.EvidenceLog(), provider, signals, options)
	s.processes = portal.New(owner, s.requests)
	config := httpapi.Config{
		BaseURL:  s.url,
		Accounts: s.accounts,
		Signals:  signals,
		Signing:  replaced(w.signing, httpapi.Signing(s.requests)),
		Webhooks: replaced(w.hooks, httpapi.Webhooks(s.hooks)),
		Portal:   replaced(w.portal, httpapi.Portal(s.processes)),
		Sandbox:  s.people,
		TestCA:   s.people,
		Ready:    db.ready,
		Limits:   w.limits,
		Address:  addressIn,
		Failed: func(_ context.Context, err error) {
			if noRoom := strings.Contains(err.Error(), "as many requests as it can"); !w.breaks || noRoom { // which is meant
				t.Errorf("the server failed: %v", err)
			}
		},
	}
	if w.production {
		config.Sandbox, config.TestCA = nil, nil
		config.Notifier, config.Notifications = pingNotifier{}, conversations{"one": "secret"}
	}
	return httpapi.New(config)
}

// addressHeader is the header with the address of the caller. Without it, the address is the loopback address.
const addressHeader = "X-Test-Address"

func addressIn(r *http.Request) netip.Addr {
	address, err := netip.ParseAddr(r.Header.Get(addressHeader))
	if err != nil {
		return netip.IPv6Loopback()
	}
	return address
}

// replaced returns the test's replacement of a service, or the service.
func replaced[T any](replace func(T) T, service T) T {
	if replace == nil {
		return service
	}
	return replace(service)
}

// hooks returns the webhook service of a store, with the event types of spec 5.4.
func hooks(t *testing.T, db *faultyStore, o delivery.Options) *delivery.Service {
	t.Helper()
	o.EventTypes = portal.EventTypes()
	s := delivery.New(db.Webhooks(), db, db.Jobs(), o)
	if err := s.EnsureKey(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// pipes is a listener whose connections are pipes within the process.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.conns <- far:
		return near, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// diff reports a difference from what the specification requires.
func diff(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func readAll(t *testing.T, r io.Reader) []byte {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// met runs all tests, then reports the operations and statuses of the OpenAPI documents that no test met. Every
// operation must be met with one status at least.
type met struct{ *testing.M }

func (m met) Run() int {
	code := m.M.Run()
	for _, name := range []string{"run", "skip", "list", "fuzz"} {
		if flag.Lookup("test."+name).Value.String() != "" {
			return code
		}
	}
	return max(code, untested())
}

// untested prints what was not met. It returns 1 if an operation was not.
func untested() (code int) {
	descriptions.mu.Lock()
	defer descriptions.mu.Unlock()
	for production, d := range descriptions.of {
		unseen := d.Unseen()
		if testing.Verbose() {
			fmt.Printf("statuses of the document that no test met (production: %v): %s\n", production, strings.Join(unseen, ", "))
		}
		for _, id := range d.Unmet() {
			if !production { // which has what the sandbox has
				fmt.Printf("no test meets the operation %s\n", id)
				code = 1
			}
		}
	}
	return code
}

// descriptions are the OpenAPI documents of the environments, against which every answer is checked. They are read
// once, because they differ between servers only in the URL.
var descriptions struct {
	mu sync.Mutex
	of map[bool]*openapitest.Document // by whether it is production's
}

// described returns the document of a server.
func described(t *testing.T, api http.Handler, w wiring) *openapitest.Document {
	t.Helper()
	descriptions.mu.Lock()
	defer descriptions.mu.Unlock()
	if d := descriptions.of[w.production]; d != nil {
		return d
	}
	answer := httptest.NewRecorder()
	api.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/openapi.json", nil))
	d, err := openapitest.Parse(answer.Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if descriptions.of == nil {
		descriptions.of = make(map[bool]*openapitest.Document)
	}
	descriptions.of[w.production] = d
	return d
}
