package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

func growthTrial(ctx context.Context, flags *flag.FlagSet, args []string, out io.Writer) error {
	full := flags.String("postgres", "", "URL of an empty database, which is filled")
	empty := flags.String("beside", "", "URL of another, which is not")
	ended := flags.Int("ended", 1_000_000, "ended requests")
	live := flags.Int("live", 10_000, "live requests")
	rounds := flags.Int("rounds", 300, "calls of each kind on each store")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var stores []*grown
	for _, store := range []string{*empty, *full} {
		g, err := newGrown(ctx, store)
		if err != nil {
			return err
		}
		defer g.remove()
		stores = append(stores, g)
	}
	if err := stores[1].fill(ctx, *ended, *live); err != nil {
		return err
	}
	for range *rounds { // in turns, so that both see the same machine
		for _, g := range stores {
			if err := g.measure(ctx); err != nil {
				return err
			}
		}
	}
	cost, err := stores[1].costOfWaiting(ctx, *rounds)
	if err != nil {
		return err
	}
	return printGrowth(out, stores[0], stores[1], *ended, *live, cost)
}

// grown is a server whose calls are timed.
type grown struct {
	*crowd
	signer *signer
	db     *pgx.Conn
	start  []time.Duration
	poll   []time.Duration // of a request whose signer takes his time
}

const delay = 300 // seconds until the sandbox user answers

func newGrown(ctx context.Context, store string) (*grown, error) {
	c, err := newCrowd(ctx, store, 1, 1)
	if err != nil {
		return nil, err
	}
	db, err := pgx.Connect(ctx, store)
	if err != nil {
		return nil, errors.Join(err, c.remove())
	}
	s := &signer{client: c.signers[0].client, count: c.count}
	return &grown{crowd: c, signer: s, db: db}, s.addUser(ctx, 1000, delay)
}

func (g *grown) remove() error {
	return errors.Join(g.stop(), g.db.Close(context.Background()), g.crowd.remove())
}

// fill copies one request that has ended and one that is waiting as often as asked, each
// with an age and names of its own.
func (g *grown) fill(ctx context.Context, ended, live int) error {
	g.crowd.signers[0].signOnce(ctx)
	if _, err := g.begin(ctx); err != nil {
		return err
	}
	for _, f := range []struct {
		phase  string
		copies int
		age    string
	}{
		{"ended", ended, "interval '20 hours'"},
		{"waiting", live, "interval '4 minutes'"},
	} {
		if err := g.multiply(ctx, f.phase, f.copies, f.age); err != nil {
			return fmt.Errorf("filling the store with %s requests: %w", f.phase, err)
		}
	}
	for _, statement := range []string{
		`INSERT INTO documents (id, started_at, complete, kept, size) SELECT document::uuid, created_at, true, true, 1000
			FROM signing_requests WHERE phase = 'waiting' ON CONFLICT DO NOTHING`,
		`INSERT INTO document_chunks SELECT seq, 0, decode(repeat('00', 1000), 'hex') FROM documents ON CONFLICT DO NOTHING`,
		`INSERT INTO evidence (subject, account, kind, at, facts) SELECT id, account, 'signature.asked', created_at, person FROM signing_requests`,
		`VACUUM (ANALYZE) signing_requests, documents, document_chunks, evidence`,
	} {
		if _, err := g.db.Exec(ctx, statement); err != nil {
			return fmt.Errorf("filling the store: %w", err)
		}
	}
	return nil
}

// multiply copies a request of the phase whatever columns there are.
func (g *grown) multiply(ctx context.Context, phase string, copies int, age string) error {
	rows, err := g.db.Query(ctx, `SELECT column_name::text FROM information_schema.columns
		WHERE table_name = 'signing_requests' AND is_identity = 'NO' AND is_generated = 'NEVER' ORDER BY ordinal_position`)
	if err != nil {
		return err
	}
	columns, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	values := slices.Clone(columns)
	for i, column := range columns {
		switch column {
		case "id", "document", "key":
			values[i] = "gen_random_uuid()"
			if column != "id" {
				values[i] += "::text"
			}
		case "created_at", "updated_at":
			values[i] = "now() - random() * " + age
		case "expires":
			values[i] = "now() + interval '9 minutes'"
		}
	}
	_, err = g.db.Exec(ctx, fmt.Sprintf(`WITH one AS (SELECT * FROM signing_requests WHERE phase = $1 LIMIT 1)
		INSERT INTO signing_requests (%s) SELECT %s FROM one, generate_series(1, $2)`,
		strings.Join(columns, ", "), strings.Join(values, ", ")), phase, copies)
	return err
}

// begin starts a request of the user that takes his time.
func (g *grown) begin(ctx context.Context) (answer, error) {
	a := g.signer.post(ctx, "/api/v1/signing", g.signer.startText(pdftest.Build(pdftest.Options{}), ""), "Idempotency-Key", uuid.NewString())
	if a.Status != http.StatusOK {
		return a, fmt.Errorf("start: %v", a)
	}
	return a, nil
}

// measure times a start and a poll that waits. The first poll of a request asks the test
// user's phone and is not it.
func (g *grown) measure(ctx context.Context) error {
	started, err := g.begin(ctx)
	if err != nil {
		return err
	}
	var last answer
	for range 2 {
		last = g.signer.do(ctx, http.MethodGet, "/api/v1/signing/"+started.PollingID, nil)
		if last.ErrorCode != "AuthorizationPending" {
			return fmt.Errorf("poll: %v", last)
		}
	}
	g.start = append(g.start, started.received.Sub(started.sent))
	g.poll = append(g.poll, last.received.Sub(last.sent))
	return nil
}

// cost is what a number of polls that wait did to the tables.
type cost struct{ polls, reads, writes int64 }

// broken says whether polls write, or read more than once. What the server does by itself
// reads now and then, too.
func (c cost) broken() bool { return c.writes > 0 || c.reads > c.polls+c.polls/20 }

// costOfWaiting counts, by the database's own statistics, which come with a delay.
func (g *grown) costOfWaiting(ctx context.Context, polls int) (cost, error) {
	started, err := g.begin(ctx)
	if err != nil {
		return cost{}, err
	}
	poll := func() answer { return g.signer.do(ctx, http.MethodGet, "/api/v1/signing/"+started.PollingID, nil) }
	poll()
	for jobs := 1; jobs > 0; pause(ctx, time.Second) { // of signatures made before: they write
		if err := g.db.QueryRow(ctx, "SELECT count(*) FROM jobs").Scan(&jobs); err != nil {
			return cost{}, err
		}
	}
	before, err := g.statistics(ctx)
	if err != nil {
		return cost{}, err
	}
	for range polls {
		if a := poll(); a.ErrorCode != "AuthorizationPending" {
			return cost{}, fmt.Errorf("poll: %v", a)
		}
	}
	after, err := g.statistics(ctx)
	return cost{int64(polls), after.reads - before.reads, after.writes - before.writes}, err
}

// statistics waits until the server's connections have passed theirs on, and counts how
// often tables were read, but those of the token and the jobs, which are read anyway, and
// the rows of any table that were written.
func (g *grown) statistics(ctx context.Context) (c cost, err error) {
	pause(ctx, 12*time.Second)
	if _, err := g.db.Exec(ctx, "SELECT pg_stat_clear_snapshot()"); err != nil {
		return c, err
	}
	err = g.db.QueryRow(ctx, `SELECT
		(SELECT sum(coalesce(idx_scan, 0) + seq_scan) FROM pg_stat_user_tables WHERE relname NOT IN ('tokens', 'clients', 'jobs'))::bigint,
		(SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_user_tables)::bigint`).Scan(&c.reads, &c.writes)
	return c, err
}

func printGrowth(out io.Writer, empty, full *grown, ended, live int, c cost) error {
	err := printRatios(out, fmt.Sprintf("%d ended, %d live", ended, live), []timed{
		{"start", empty.start, full.start},
		{"poll that waits", empty.poll, full.poll},
	})
	fmt.Fprintf(out, "%d polls that wait: %d reads, %d rows written\n", c.polls, c.reads, c.writes)
	if err == nil && c.broken() {
		err = errBroken
	}
	return err
}

func median[N cmp.Ordered](all []N) N {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}
