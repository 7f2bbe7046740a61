package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
	"github.com/innsigli/innsigli/storage"
)

// current returns the version of this package's tables.
func current(t testing.TB) int {
	t.Helper()
	steps, err := readMigrations(embedded)
	if err != nil {
		t.Fatal(err)
	}
	return len(steps)
}

// versions returns the package's migrations up to a version, and made-up ones for versions to come.
func versions(t testing.TB, upTo int) fs.FS {
	t.Helper()
	steps, err := readMigrations(embedded)
	if err != nil {
		t.Fatal(err)
	}
	files := make(fstest.MapFS)
	for version := 1; version <= upTo; version++ {
		if version <= len(steps) {
			files[steps[version-1].name] = &fstest.MapFile{Data: []byte(steps[version-1].sql)}
			continue
		}
		files[fmt.Sprintf("migrations/%04d_more.sql", version)] = &fstest.MapFile{Data: fmt.Appendf(nil, `
			ALTER TABLE accounts ADD COLUMN note%[1]d text;
			ALTER TABLE signing_requests ADD COLUMN note%[1]d text NOT NULL DEFAULT 'none';
			CREATE INDEX clients_by_name%[1]d ON clients (name);
			CREATE TABLE notes%[1]d (id bigint PRIMARY KEY);`, version)}
	}
	return files
}

// execute runs statements on a connection of its own.
func execute(t testing.TB, url, statements string) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url) // also in a cleanup
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(context.Background(), statements); err != nil {
		t.Fatal(err)
	}
}

func TestConcurrentMigrations(t *testing.T) {
	url, version := postgrestest.Database(t), current(t)
	const processes = 8
	began := make(chan int, processes)
	var group errgroup.Group
	for range processes {
		group.Go(func() error {
			from, to, err := Migrate(t.Context(), url, Options{})
			if err == nil && to != version {
				err = fmt.Errorf("it ends at %d, want %d", to, version)
			}
			began <- from
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	close(began)
	times := map[int]int{}
	for from := range began {
		times[from]++
	}
	if times[0] != 1 || times[version] != processes-1 {
		t.Errorf("the versions from which they began, and how often: %v", times)
	}
}

// TestFailedMigration checks that a migration that fails changes nothing, and does not roll back the earlier ones.
func TestFailedMigration(t *testing.T) {
	url, version := postgrestest.Database(t), current(t)
	files := versions(t, version+1).(fstest.MapFS)
	broken := fmt.Sprintf("migrations/%04d_more.sql", version+1)
	files[broken].Data = append(files[broken].Data, "SELECT 1/0;"...)
	for _, before := range []int{0, version} {
		from, to, err := migrate(t.Context(), url, Options{}, files)
		if err == nil || !strings.Contains(err.Error(), broken) || from != before || to != version {
			t.Errorf("from %d to %d: %v", from, to, err)
		}
	}
	files[broken].Data = versions(t, version+1).(fstest.MapFS)[broken].Data
	if from, to, err := migrate(t.Context(), url, Options{}, files); from != version || to != version+1 || err != nil {
		t.Errorf("mended, from %d to %d: %v", from, to, err)
	}
}

func TestMigrationsAreNumberedWithoutGaps(t *testing.T) {
	for _, names := range [][]string{{"0002_b.sql"}, {"0001_a.sql", "0003_c.sql"}, {"0001_a.sql", "0001_b.sql"}, {"first.sql"}} {
		files := make(fstest.MapFS)
		for _, name := range names {
			files["migrations/"+name] = &fstest.MapFile{}
		}
		if _, err := readMigrations(files); err == nil {
			t.Errorf("%v are taken for migrations", names)
		}
	}
}

// TestVersions checks with which versions of the tables a program works, and what its Migrate does.
func TestVersions(t *testing.T) {
	program := current(t)
	for _, test := range []struct {
		database   int
		open       error
		advice     string
		to         int
		migrateErr error
	}{
		{0, ErrSchema, "innsigli migrate", program, nil},
		{program - 1, ErrSchema, "innsigli migrate", program, nil},
		{program, nil, "", program, nil},
		{program + 1, nil, "", program + 1, nil},
		{program + 2, ErrSchema, "use a newer version", program + 2, ErrSchema},
	} {
		t.Run(fmt.Sprint(test.database-program), func(t *testing.T) {
			url := postgrestest.Database(t)
			if _, _, err := migrate(t.Context(), url, Options{}, versions(t, test.database)); err != nil {
				t.Fatal(err)
			}
			db, err := Open(t.Context(), url, Options{})
			if !errors.Is(err, test.open) || err != nil && !strings.Contains(err.Error(), test.advice) {
				t.Errorf("Open: %v, want %v", err, test.open)
			}
			if err == nil {
				db.Close()
			}
			from, to, err := Migrate(t.Context(), url, Options{})
			if from != test.database || to != test.to || !errors.Is(err, test.migrateErr) {
				t.Errorf("Migrate: from %d to %d, %v", from, to, err)
			}
		})
	}
}

// Servers claim and finish jobs while the migration from version 11 waits for processes, or writes them anew.
func TestJobsGoOnWhileProcessesMigrate(t *testing.T) {
	url := postgrestest.Database(t)
	if _, _, err := migrate(t.Context(), url, Options{}, versions(t, 11)); err != nil {
		t.Fatal(err)
	}
	server := connected(t, url)
	if _, err := server.Exec(t.Context(), "BEGIN; LOCK TABLE processes IN ROW EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, _, err := migrate(t.Context(), url, Options{}, versions(t, 12))
		done <- err
	}()
	waitForSessions(t, url, "wait_event_type = 'Lock'", 1)
	if _, err := server.Exec(t.Context(), "LOCK TABLE accounts, jobs IN ROW EXCLUSIVE MODE NOWAIT"); err != nil {
		t.Errorf("a transaction that works on jobs, too: %v", err)
	}
	if _, err := server.Exec(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err, _ := testenv.Receive(t, "the migration", done); err != nil {
		t.Error(err)
	}
}

// locksBoth is a step that locks accounts and then jobs.
func locksBoth(t *testing.T) fs.FS {
	t.Helper()
	version := current(t) + 1
	files := versions(t, version).(fstest.MapFS)
	files[fmt.Sprintf("migrations/%04d_more.sql", version)].Data = []byte("SET LOCAL lock_timeout = '2s'; LOCK TABLE accounts; LOCK TABLE jobs")
	return files
}

// A step is tried again after a deadlock with a server, or when a server held a lock for too long.
func TestAMigrationThatServersAreInTheWayOf(t *testing.T) {
	url := migrated(t)
	server := connected(t, url)
	if _, err := server.Exec(t.Context(), "SET deadlock_timeout = '10min'; BEGIN; LOCK TABLE jobs IN ROW EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, _, err := migrate(t.Context(), url, Options{}, locksBoth(t))
		done <- err
	}()
	waitForSessions(t, url, "wait_event_type = 'Lock'", 1)
	if _, err := server.Exec(t.Context(), "LOCK TABLE accounts IN ROW EXCLUSIVE MODE; COMMIT"); err != nil {
		t.Errorf("the server: %v", err)
	}
	if err, _ := testenv.Receive(t, "the migration", done); err != nil {
		t.Error(err)
	}
}

// A step is not tried for ever.
func TestAMigrationThatGetsNoLock(t *testing.T) {
	url := migrated(t)
	server := connected(t, url)
	if _, err := server.Exec(t.Context(), "BEGIN; LOCK TABLE jobs IN ROW EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	from, to, err := migrate(t.Context(), url, Options{}, locksBoth(t))
	if !errors.Is(err, storage.ErrUnavailable) || !strings.Contains(err.Error(), "gave up after 6 tries") || from != to {
		t.Errorf("from %d to %d: %v", from, to, err)
	}
}

// TestMigrationWhileServersRun checks that no transaction of a running server fails during the next version's migration.
func TestMigrationWhileServersRun(t *testing.T) {
	db, url := opened(t, Options{})
	addAccounts(t, db, "a")
	load := startLoad(t, db)
	load.waitForEach(t, "a stored call", &load.stored)
	if _, to, err := migrate(t.Context(), url, Options{}, versions(t, current(t)+1)); err != nil || to != current(t)+1 {
		t.Errorf("to %d: %v", to, err)
	}
	load.waitForEach(t, "a stored call", &load.stored)
	load.stop()
	if stored, failed := load.stored.sum(), load.failed.sum(); failed != 0 || quota(t, db, "a") != stored {
		t.Errorf("%d transactions, %d failed, and the quota is %d", stored, failed, quota(t, db, "a"))
	}
}

// TestEvidenceIsAppendOnly checks that the database itself refuses to change entries.
func TestEvidenceIsAppendOnly(t *testing.T) {
	db, url := opened(t, Options{})
	conn := connected(t, url)
	entry := storage.Entry{Subject: "s", Kind: "asked", At: time.Now(), Facts: json.RawMessage("{}")}
	do(t, db, func(ctx context.Context) error { return db.EvidenceLog().Record(ctx, entry) })
	for _, change := range []string{
		`UPDATE evidence SET facts = '{"changed":true}'`,
		`INSERT INTO evidence (seq, subject, account, kind, at, facts) VALUES (1, 's', '', 'asked', now(), '{}')`,
		`INSERT INTO evidence (seq, subject, account, kind, at, facts) OVERRIDING SYSTEM VALUE VALUES (1, 's', '', 'x', now(), '{}')
			ON CONFLICT (seq) DO UPDATE SET kind = 'x'`,
	} {
		if _, err := conn.Exec(t.Context(), change, pgx.QueryExecModeSimpleProtocol); err == nil {
			t.Errorf("succeeded: %s", change)
		}
	}
	var kinds string
	err := conn.QueryRow(t.Context(), "SELECT string_agg(kind, ' ') FROM evidence WHERE facts::text = '{}'").Scan(&kinds)
	if err != nil || kinds != "asked" {
		t.Errorf("the kinds of the entries are %q, error %v", kinds, err)
	}
}
