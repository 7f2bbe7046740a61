package main

import (
	"context"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
)

// While the database is away everything is answered with 503, and once it is back the servers are well again.
func TestDatabaseGoesAway(t *testing.T) {
	testenv.Slow(t, "a database ends and starts")
	t.Parallel()
	cluster := postgrestest.Cluster(t)
	p := startServers(t, 1, cluster.URL("postgres"), filepath.Join(t.TempDir(), "master.key"), "--client-id", clientID, "--client-secret", clientSecret)[0]
	c := p.signIn(t)
	c.addPeople(t, people[0])
	started := c.must(t, http.MethodPost, "/api/v1/signing", startText(document, people[0], "IdpSim", "Lt", ""))
	cluster.Stop(t)
	for _, path := range []string{"/readyz", "/api/v1/sandbox/users", "/api/v1/signing/" + started.PollingID} {
		a, err := c.call(t.Context(), http.MethodGet, path, nil)
		if err != nil || a.Status != http.StatusServiceUnavailable || a.RetryAfter != "1" {
			t.Errorf("%s: %v, Retry-After %q, %v", path, a, a.RetryAfter, err)
		}
	}
	cluster.Start(t)
	p.waitUntil(t, func() bool {
		response, err := http.Get(p.BaseURL + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
	ended, err := c.pollOn(t.Context(), started.PollingID)
	if err != nil || ended.Status != http.StatusOK {
		t.Errorf("the request after the outage: %v, %v\n%s", ended, err, p.talk())
	}
	if rest, err := p.stop(); err != nil || rest != "" {
		t.Errorf("the end: %v, %q\n%s", err, rest, p.talk())
	}
	u, err := url.Parse(cluster.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	if password, ok := u.User.Password(); !ok || strings.Contains(p.talk(), password) {
		t.Errorf("the log has the password:\n%s", p.talk())
	}
}

func execute(t *testing.T, database, statement string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// A server whose database has moved on by two versions is not ready.
func TestTablesOfALaterVersion(t *testing.T) {
	database := postgrestest.Database(t)
	p := startServers(t, 1, database, filepath.Join(t.TempDir(), "master.key"))[0]
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	ready := func() int {
		response, err := http.Get(p.BaseURL + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		return response.StatusCode
	}
	p.waitUntil(t, func() bool { return ready() == http.StatusOK })
	for _, want := range []int{http.StatusOK, http.StatusServiceUnavailable} { // one version ahead, and two
		if _, err := conn.Exec(t.Context(), "INSERT INTO innsigli_schema (version) SELECT max(version) + 1 FROM innsigli_schema"); err != nil {
			t.Fatal(err)
		}
		if status := ready(); status != want {
			t.Errorf("readyz: %d, want %d", status, want)
		}
	}
}
