package main

import (
	"bytes"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
)

// Each thing that may be wrong with a new database has an advice of its own, once, and
// after the last of them a server of a role that may make no tables works.
func TestDatabaseAdvice(t *testing.T) {
	testenv.Slow(t, "a database of its own starts")
	owner := postgrestest.Cluster(t).URL("postgres")
	execute(t, owner, "CREATE ROLE server LOGIN PASSWORD 'SECRET'")
	execute(t, owner, "REVOKE CREATE ON SCHEMA public FROM PUBLIC") // as it is from Postgres 15 on
	server := as(t, owner, "server", "SECRET", "postgres")

	wantAdvice(t, as(t, owner, "server", "SECRET", "nowhere"), "createdb", "createdb")
	wantAdvice(t, as(t, owner, "server", "another SECRET", "postgres"), "pg_hba.conf", "pg_hba.conf")
	wantAdvice(t, as(t, owner, "nobody", "SECRET", "postgres"), "pg_hba.conf", "pg_hba.conf")
	wantAdvice(t, server, `run "innsigli migrate" as a role that may`, "run innsigli migrate")
	output(t, done, "migrate", "--store", owner)
	wantAdvice(t, server, "have its owner run the GRANTs", "have its owner run the GRANTs")

	for statement := range strings.SplitSeq(strings.ReplaceAll(grants, "SERVER", "server"), ";") {
		if statement = strings.TrimSpace(statement); statement != "" {
			execute(t, owner, statement)
		}
	}
	if help := (migrateCommand{}).Help(); !strings.Contains(help, grants) {
		t.Errorf("the GRANTs are not in the help: %s", help)
	}
	p := startServers(t, 1, server, filepath.Join(t.TempDir(), "master.key"), "--client-id", clientID, "--client-secret", clientSecret)[0]
	c := p.signIn(t)
	c.addPeople(t, people[0])
	c.sign(t, document, people[0], "IdpSim", "Lt", "")
}

// as is the URL for a role and a database of the server.
func as(t *testing.T, server, role, password, database string) string {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	u.User, u.Path = url.UserPassword(role, password), "/"+database
	return u.String()
}

// wantAdvice wants what a server and an operator's command are told, once and nothing else.
func wantAdvice(t *testing.T, database, toServer, toCommand string) {
	t.Helper()
	for want, args := range map[string][]string{
		"a server: " + toServer:   {"sandbox", "--json", "--listen", "127.0.0.1:0", "--master-key-file", filepath.Join(t.TempDir(), "master.key")},
		"a command: " + toCommand: {"account", "list"},
	} {
		var stdout, stderr bytes.Buffer
		status := run(t.Context(), append(args, "--store", database), &stdout, &stderr)
		talk, advice, known := stderr.String(), 0, strings.SplitN(want, ": ", 2)[1]
		for _, a := range []string{"createdb", "pg_hba.conf", `"innsigli migrate" as`, "run innsigli migrate", "have its owner"} {
			advice += strings.Count(talk, a)
		}
		if status != failed || advice != 1 || !strings.Contains(talk, known) || strings.Contains(talk, "SECRET") {
			t.Errorf("%s: exit status %d, advice %d times:\n%s", want, status, advice, talk)
		}
	}
}
