package postgres

import (
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
)

// What the sessions of a store are set to: the options come before the URL, and that
// before what is usual.
func TestSession(t *testing.T) {
	names := []string{"application_name", "statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"}
	u, err := url.Parse(postgrestest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	for _, name := range names {
		query.Del(name)
	}
	u.RawQuery = query.Encode()
	database := u.String()
	if _, _, err := Migrate(t.Context(), database); err != nil {
		t.Fatal(err)
	}
	chosen := with(t, database, "application_name", "other", "statement_timeout", "7000", "lock_timeout", "3000", "pool_max_conns", "3")
	opts := Options{Connections: 2, LockTimeout: time.Second, IdleTimeout: 2 * time.Second}
	for name, test := range map[string]struct {
		db          *DB
		connections int32
		want        []string
	}{
		"usual":               {openedAt(t, database, Options{}), 16, []string{"innsigli", "15s", "10s", "30s"}},
		"by the URL":          {openedAt(t, chosen, Options{}), 3, []string{"other", "7s", "3s", "30s"}},
		"also by the options": {openedAt(t, chosen, opts), 2, []string{"other", "7s", "1s", "2s"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, setting := range names {
				var value string
				if err := test.db.pool.QueryRow(t.Context(), "SELECT current_setting($1)", setting).Scan(&value); err != nil {
					t.Fatal(err)
				}
				got = append(got, value)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("of %v (-want +got):\n%s", names, diff)
			}
			if n := test.db.pool.Config().MaxConns; n != test.connections {
				t.Errorf("%d connections at most, want %d", n, test.connections)
			}
		})
	}
}

func TestPatience(t *testing.T) {
	const base = "postgres://user@localhost/database"
	for name, test := range map[string]struct {
		url  string
		opts Options
		want pgx.QueryTracer
	}{
		"usual":           {base, Options{}, patience(20 * time.Second)},
		"by the options":  {base, Options{StatementTimeout: time.Minute}, patience(65 * time.Second)},
		"by the URL":      {base + "?statement_timeout=1000", Options{}, patience(6 * time.Second)},
		"in other words":  {base + "?statement_timeout=1h", Options{}, nil},
		"without a limit": {base + "?statement_timeout=0", Options{}, nil},
	} {
		config, err := settings(test.url, test.opts)
		if err != nil || config.ConnConfig.Tracer != test.want {
			t.Errorf("%s: %v, %v, want %v", name, config.ConnConfig.Tracer, err, test.want)
		}
	}
}

func TestConnectTimeout(t *testing.T) {
	const base = "postgres://user@localhost/database"
	for name, test := range map[string]struct {
		url  string
		opts Options
		want time.Duration
	}{
		"usual":          {base, Options{}, 2 * time.Second},
		"by the options": {base + "?connect_timeout=7", Options{ConnectTimeout: 3 * time.Second}, 3 * time.Second},
		"by the URL":     {base + "?connect_timeout=7", Options{}, 7 * time.Second},
	} {
		config, err := settings(test.url, test.opts)
		if err != nil || config.ConnConfig.ConnectTimeout != test.want || config.PingTimeout != test.want {
			t.Errorf("%s: %v, %v, %v, want %v", name, config.ConnConfig.ConnectTimeout, config.PingTimeout, err, test.want)
		}
	}
}
