package postgres_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
)

func TestMain(m *testing.M) { postgrestest.Main(m) }

func TestDatabasesAreApart(t *testing.T) {
	first, second := postgrestest.Database(t), postgrestest.Database(t)
	run(t, first, "CREATE TABLE here (n int)")
	run(t, second, "CREATE TABLE here (n int)")
}

func TestADatabaseIsDroppedAtTheEnd(t *testing.T) {
	var gone string
	t.Run("its test", func(t *testing.T) {
		gone = postgrestest.Database(t)
		conn, err := pgx.Connect(t.Context(), gone) // left open: that is no reason to stay
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.PgConn().Conn().Close() })
	})
	if conn, err := pgx.Connect(t.Context(), gone); err == nil {
		conn.Close(t.Context())
		t.Error("the database is still there")
	}
}

func TestAServerKeepsWhatIsStoredWhenItStops(t *testing.T) {
	server := postgrestest.Cluster(t)
	url := server.URL("postgres")
	run(t, url, "CREATE TABLE kept (n int)")
	server.Stop(t)
	if conn, err := pgx.Connect(t.Context(), url); err == nil {
		conn.Close(t.Context())
		t.Error("a stopped server answers")
	}
	server.Start(t)
	run(t, url, "INSERT INTO kept VALUES (1)")
	server.Restart(t)
	run(t, url, "DROP TABLE kept")
}

func run(t *testing.T, url, statement string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}
