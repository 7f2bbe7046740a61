package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/server/config"

	"github.com/jackc/pgx/v5"

	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
	"github.com/innsigli/innsigli/storage/sealed"
)

// What a store holds gives away no secret: the keys of sandbox users, of the authority and of
// webhooks are sealed, tokens and client secrets are there as hashes alone, and the master key is
// elsewhere.
func TestStoresHoldNoSecrets(t *testing.T) {
	for name, backend := range map[string]func(t *testing.T) (store string, content func(*testing.T) []byte){
		"bolt": func(t *testing.T) (string, func(*testing.T) []byte) {
			path := filepath.Join(shortFolder(t), "store.db")
			return "bolt:" + path, func(t *testing.T) []byte { return testenv.ReadFile(t, path) }
		},
		"Postgres": func(t *testing.T) (string, func(*testing.T) []byte) {
			database := postgrestest.Database(t)
			return database, func(t *testing.T) []byte { return rowsOf(t, database) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			store, content := backend(t)
			key := filepath.Join(t.TempDir(), "master.key")
			program, err := exec.LookPath("innsigli")
			if err != nil {
				t.Fatal(err)
			}
			p := startSandbox(t, program, store, nil, "--master-key-file", key)
			c := p.signIn(t)
			c.addPeople(t, people[0])
			c.sign(t, document, people[0], "IdpApp", "Lt", "")
			hook, err := c.call(t.Context(), http.MethodPost, "/api/v1/portal/webhooks", strings.NewReader(`{"url":"https://hooks.example/","eventTypes":["process.completed"]}`))
			if err != nil || hook.Status != http.StatusCreated {
				t.Fatal(hook, err)
			}
			made := c.createProcess(t, processText(document, people[0]))
			_, link, _ := strings.Cut(*made.Participants[0].SigningURL, "/sign/")
			if rest, err := p.stop(); err != nil || rest != "" {
				t.Fatal(rest, err)
			}
			public, secret := kept(t, store, key)
			sum := sha256.Sum256([]byte(link))
			public["hash of a link"], secret["link"] = sum[:], []byte(link)
			secret["client secret"], secret["token"] = []byte(clientSecret), []byte(c.token)
			found := content(t)
			for what, value := range public {
				if !holds(found, value) {
					t.Errorf("the test does not see the %s", what)
				}
			}
			for what, value := range secret {
				if holds(found, value) {
					t.Errorf("the store holds the %s", what)
				}
			}
		})
	}
}

// kept is what the store keeps, the public and the secret, by what it is.
func kept(t *testing.T, store, key string) (public, secret map[string][]byte) {
	t.Helper()
	in, err := config.ParseStore(store, config.DatabaseFlag{})
	if err != nil {
		t.Fatal(err)
	}
	db, err := in.Open(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	keys, err := sealed.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	people := sealed.Sandbox(db.Sandbox(), keys)
	users, err := people.Users(t.Context(), sandboxAccount)
	if err != nil || len(users) != 1 {
		t.Fatalf("%d users, %v", len(users), err)
	}
	hooks := sealed.Webhooks(db.Webhooks(), keys)
	subscriptions, err := hooks.Subscriptions(t.Context(), sandboxAccount)
	if err != nil || len(subscriptions) != 1 {
		t.Fatalf("%d subscriptions, %v", len(subscriptions), err)
	}
	signing, err := hooks.Keys(t.Context())
	if err != nil || len(signing) != 1 {
		t.Fatalf("%d keys of webhooks, %v", len(signing), err)
	}
	authority, err := people.Authority(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	raw, err := db.Sandbox().Authority(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(string(testenv.ReadFile(t, key)))
	master, err := base64.StdEncoding.DecodeString(lines[len(lines)-1])
	if err != nil {
		t.Fatal(err)
	}
	public = map[string][]byte{"user's certificate": users[0].Certificate, "sealed authority": raw, "public key of webhooks": signing[0].Public}
	secret = map[string][]byte{
		"user's key": users[0].Key, "authority": authority, "master key": master,
		"subscription's secret": subscriptions[0].Secret, "private key of webhooks": signing[0].Private,
	}
	return public, secret
}

// holds says whether a value is in what a store holds, in a form that the backends use.
func holds(content, value []byte) bool {
	return bytes.Contains(content, value) ||
		bytes.Contains(content, []byte(base64.StdEncoding.EncodeToString(value))) ||
		bytes.Contains(content, []byte(hex.EncodeToString(value)))
}

// rowsOf are all rows of all tables, as text.
func rowsOf(t *testing.T, database string) []byte {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var all bytes.Buffer
	tables := column(t, conn, "SELECT quote_ident(table_name) FROM information_schema.tables WHERE table_schema = 'public'")
	for _, table := range tables {
		for _, row := range column(t, conn, fmt.Sprintf("SELECT r::text FROM %s AS r", table)) {
			all.WriteString(row + "\n")
		}
	}
	return all.Bytes()
}

// column is the first column of a query's rows.
func column(t *testing.T, conn *pgx.Conn, query string) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	values, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return values
}
