package main

import (
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sync/errgroup"

	testenv "github.com/innsigli/innsigli/internal/test/env"
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
