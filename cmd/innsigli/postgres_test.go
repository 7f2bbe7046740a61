package main

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sync/errgroup"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
)

// The scripts of testdata/postgres are those of testdata/script for stores in Postgres.
// DATABASE is the URL of an empty database, and PASSWORD what it must not be printed with.
func TestPostgresScripts(t *testing.T) {
	testenv.Slow(t, "each script has a database")
	params := scriptParams("postgres")
	setup := params.Setup
	params.Setup = func(env *testscript.Env) error {
		database := postgrestest.Database(t)
		u, err := url.Parse(database)
		if err != nil {
			return err
		}
		env.Setenv("DATABASE", database)
		if password, ok := u.User.Password(); ok {
			env.Setenv("PASSWORD", password)
		} else {
			env.Setenv("PASSWORD", "(it has none)")
		}
		return setup(env)
	}
	postgrestest.Database(t) // which may be absent
	testscript.Run(t, params)
}

// Servers on one database are one service: what one has begun another goes on with, and
// what one has delivered the other has no more.
func TestTwoServers(t *testing.T) {
	t.Parallel()
	database, key := postgrestest.Database(t), filepath.Join(t.TempDir(), "master.key")
	servers := startServers(t, 2, database, key, "--client-id", clientID, "--client-secret", clientSecret)
	one, other := servers[0].signIn(t), clientOf(servers[1].BaseURL)
	other.token = one.token // good at both
	one.addPeople(t, people...)
	signal := one.must(t, http.MethodPost, "/api/v1/signing/busy-signal", "").ID
	body := startText(document, people[0], "IdpApp", "Lt", signal)
	started := one.must(t, http.MethodPost, "/api/v1/signing", body, "Idempotency-Key", "one-request")
	if again := other.must(t, http.MethodPost, "/api/v1/signing", body, "Idempotency-Key", "one-request"); again.PollingID != started.PollingID {
		t.Errorf("the start repeated at the other server is another request")
	}
	held, err := other.call(t.Context(), http.MethodPost, "/api/v1/signing", strings.NewReader(startText(document, people[0], "IdpApp", "Lt", signal)))
	if err != nil || held.Status != http.StatusLocked {
		t.Errorf("the busy signal at the other server: %v, %v", held, err)
	}
	ended, err := other.pollOn(t.Context(), started.PollingID)
	if err != nil || ended.Status != http.StatusOK {
		t.Fatalf("the poll at the other server: %v, %v", ended, err)
	}
	r := request{signal: signal, pollingID: started.PollingID}
	if n := r.checkDocument(t, ended.SignedFile, servers[0].RootCertificate); n != 1 {
		t.Errorf("%d signatures", n)
	}
	for _, c := range []*client{one, other} {
		if a, err := c.call(t.Context(), http.MethodGet, "/api/v1/signing/"+started.PollingID, nil); err != nil || a.Status != http.StatusNotFound {
			t.Errorf("a poll after the delivery: %v, %v", a, err)
		}
	}
	r.checkFree(t, one)
	for _, p := range servers {
		if rest, err := p.stop(); err != nil || rest != "" || p.talkInTime() != "" {
			t.Errorf("the end: %v, %q\n%s", err, rest, p.talk())
		}
	}
}

// startServers starts sandboxes on a database at the same time.
func startServers(t *testing.T, number int, database, key string, flags ...string) []*sandboxProcess {
	t.Helper()
	program, err := exec.LookPath("innsigli")
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{"sandbox", "--json", "--listen", "127.0.0.1:0", "--store", database, "--master-key-file", key}, flags...)
	servers := make([]*sandboxProcess, number)
	var group errgroup.Group
	for i := range servers {
		group.Go(func() (err error) {
			servers[i], err = launch(program, "", os.Environ(), args...)
			return err
		})
	}
	err = group.Wait()
	for _, p := range servers {
		if p != nil {
			p.killLater(t)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return servers
}

// Of servers that start at once on an empty database each finds the same tables, master
// key, account, client and authority, and one of them is told the client's secret.
func TestServersThatStartAtOnce(t *testing.T) {
	database, key := postgrestest.Database(t), filepath.Join(t.TempDir(), "master.key")
	secrets := 0
	roots := make(map[string]bool)
	servers := startServers(t, 4, database, key)
	for _, p := range servers {
		roots[p.RootCertificate] = true
		if p.ClientID != "sandbox" {
			t.Errorf("the client %q", p.ClientID)
		}
		if p.ClientSecret == nil {
			continue
		}
		secrets++
		for _, q := range servers {
			if status, _, err := clientOf(q.BaseURL).issue(p.ClientID, *p.ClientSecret); err != nil || status != http.StatusOK {
				t.Errorf("the secret at another server: status %d, %v", status, err)
			}
		}
	}
	if secrets != 1 || len(roots) != 1 {
		t.Errorf("%d secrets and %d roots", secrets, len(roots))
	}
	accounts := output(t, done, "account", "list", "--store", database)
	if n := strings.Count(accounts, "\n"); n != 2 { // and the heading
		t.Errorf("the accounts are\n%s", accounts)
	}
	if clients := output(t, done, "client", "list", sandboxAccount, "--store", database); strings.Count(clients, "\n") != 2 {
		t.Errorf("the clients are\n%s", clients)
	}
}

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

// Two servers in production are one service: what one starts the other ends, and a
// certificate that one has learnt the other knows.
func TestProductionOnPostgres(t *testing.T) {
	testenv.Slow(t, "people are asked at the pace of production")
	t.Parallel()
	store := postgrestest.Database(t)
	p := startProduction(t, installed(t), productionOptions{provider: eager, store: store})
	p.person(t, people[0], openidtest.Answer{})
	servers := []string{p.BaseURL}
	p.run(t)
	servers = append(servers, p.BaseURL)
	for i, prompts := range []int{2, 1} { // the first teaches the certificate
		p.client.base = servers[i]
		before := len(p.provider.Asked())
		started := p.order(t, order{people[0], "IdpSim", "Lt"})
		p.client.base = servers[1-i]
		if a := p.finish(t, started.PollingID); a.Status != http.StatusOK {
			t.Fatalf("started at server %d: %v %s\n%s", i, a, a.Body, p.logs())
		}
		if n := len(p.provider.Asked()) - before; n != prompts {
			t.Errorf("started at server %d: asked %d times, want %d", i, n, prompts)
		}
	}
}
