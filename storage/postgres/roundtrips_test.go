package postgres

import (
	"bytes"
	"context"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/simulated"
	"github.com/innsigli/innsigli/internal/promptlimit"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
)

// wire counts the round trips of a store's connections, and the statements that they carry.
type wire struct {
	mu         sync.Mutex
	trips      int
	statements map[string]int
}

// countedConn is a connection on which each write that follows a read begins a round trip. Pings are not counted: the pool
// sends one if a connection was idle for a second, which depends on the machine.
type countedConn struct {
	net.Conn
	wire *wire
	read bool
}

func (c *countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.wire.mu.Lock()
	defer c.wire.mu.Unlock()
	c.read = true
	return n, err
}

func (c *countedConn) Write(p []byte) (int, error) {
	c.wire.mu.Lock()
	if c.read && !bytes.Contains(p, []byte("-- ping")) {
		c.wire.trips++
	}
	c.read = false
	c.wire.mu.Unlock()
	return c.Conn.Write(p)
}

// statementTracer also counts statements, by their first words.
type statementTracer struct {
	queryTimeout
	wire *wire
}

func (s statementTracer) TraceQueryStart(ctx context.Context, c *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	s.wire.note(d.SQL)
	return s.queryTimeout.TraceQueryStart(ctx, c, d)
}

func (s statementTracer) TraceBatchQuery(_ context.Context, _ *pgx.Conn, d pgx.TraceBatchQueryData) {
	s.wire.note(d.SQL)
}

func (s statementTracer) TraceCopyFromStart(ctx context.Context, c *pgx.Conn, d pgx.TraceCopyFromStartData) context.Context {
	s.wire.note("COPY " + d.TableName[0])
	return s.queryTimeout.TraceCopyFromStart(ctx, c, d)
}

func (w *wire) note(sql string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := strings.Join(strings.Fields(sql), " ")
	w.statements[text[:min(len(text), 60)]]++
}

func (w *wire) reset() (trips int, statements map[string]int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	trips, statements = w.trips, w.statements
	w.trips, w.statements = 0, make(map[string]int)
	return trips, statements
}

// openedOnWire returns a store in a new database, and its wire.
func openedOnWire(t *testing.T) (*DB, *wire) {
	t.Helper()
	config, err := settings(migrated(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{statements: make(map[string]int)}
	dial := config.ConnConfig.DialFunc
	config.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		return &countedConn{Conn: conn, wire: w}, err
	}
	config.ConnConfig.Tracer = statementTracer{queryTimeout(time.Minute), w}
	db, err := connect(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db, w
}

// TestRoundTripsOfASigning counts what one signing at level Lt of a document of 100 KB asks the database, from the upload to the
// delivery.
func TestRoundTripsOfASigning(t *testing.T) {
	db, w := openedOnWire(t)
	accounts := account.New(db.Accounts(), db, account.Options{})
	owner, err := accounts.CreateAccount(t.Context(), "owner")
	if err != nil {
		t.Fatal(err)
	}
	authority, err := sandbox.Open(t.Context(), db.Sandbox(), db, sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	provider, err := simulated.New(simulated.Options{Issue: authority.Issue})
	if err != nil {
		t.Fatal(err)
	}
	s := signing.New(db.Requests(), db, db.Documents(), db.Jobs(), db.EvidenceLog(), provider,
		busysignal.New(db.BusySignals(), db, busysignal.Options{}), signing.Options{
			Sources: authority.Sources, IgnoreInterval: true,
			Ledger: accounts, CheckAccount: accounts.CheckOpen, DocumentPolicy: accounts.DocumentPolicy,
			Prompts: promptlimit.New(db.Pages(), []byte("a key"), promptlimit.Sign, promptlimit.Limits{Hourly: 100, Pending: 100}),
		})
	content := pdftest.Build(pdftest.Options{Payload: 100 << 10})
	sign := func() {
		t.Helper()
		document, err := s.Upload(t.Context(), bytes.NewReader(content), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		started, err := s.Start(t.Context(), signing.Start{
			Account: owner.ID, Document: document, Name: "contract.pdf", Level: ades.LT,
			Person: idp.Person{Method: idp.SIM, Kennitala: "0101302989", Phone: "5550101"},
		})
		if err != nil {
			t.Fatal(err)
		}
		delivered := false
		err = s.Poll(t.Context(), owner.ID, started.ID, func(a signing.Answer) error {
			if delivered = a.Document != nil; delivered {
				_, err := a.Document.ReadAt(make([]byte, a.Document.Size()), 0)
				return err
			}
			return nil
		})
		if err != nil || !delivered {
			t.Fatalf("delivered: %v, %v", delivered, err)
		}
	}
	for range account.FreeSignatures + 1 { // statements are prepared, and the free signatures used
		sign()
	}
	w.reset()
	const times = 10
	for range times {
		sign()
	}
	trips, statements := w.reset()
	total := 0
	for _, text := range slices.SortedFunc(maps.Keys(statements), func(a, b string) int { return statements[b] - statements[a] }) {
		t.Logf("figure: %4.1f %s", float64(statements[text])/times, text)
		total += statements[text]
	}
	t.Logf("figure: %.1f round trips, %.1f statements a signing", float64(trips)/times, float64(total)/times)
	if trips > times*roundTripsOfASigning {
		t.Errorf("%.1f round trips, want %d at most", float64(trips)/times, roundTripsOfASigning)
	}
}

// roundTripsOfASigning is how many round trips a signing may take. BEGIN and COMMIT take none of their own.
const roundTripsOfASigning = 33
