package main

import (
	"bytes"
	"crypto/x509"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
)

// Each thing that may be wrong with a new database has an advice of its own, once, and after the last of them a server
// works: over TLS, as a role that neither is a superuser nor owns the tables.
func TestDatabaseAdvice(t *testing.T) {
	testenv.Slow(t, "a database of its own starts")
	cluster := postgrestest.Cluster(t)
	execute(t, cluster.URL("postgres"), "CREATE ROLE owner LOGIN PASSWORD 'SECRET'")
	execute(t, cluster.URL("postgres"), "CREATE ROLE server LOGIN PASSWORD 'SECRET'")
	execute(t, cluster.URL("postgres"), "CREATE DATABASE service OWNER owner")
	execute(t, cluster.URL("service"), "REVOKE CREATE ON SCHEMA public FROM PUBLIC; GRANT CREATE ON SCHEMA public TO owner") // as it is from Postgres 15 on

	authority := certtest.New(t, "Authority", nil, certtest.Authority)
	roots := filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(roots, certtest.PEM(authority.Cert), 0o600); err != nil {
		t.Fatal(err)
	}
	verified := verifiedURL(t, cluster.URL("service"), roots)
	owner, server := as(t, verified, "owner", "SECRET", "service"), as(t, verified, "server", "SECRET", "service")
	wantAdvice(t, server, "ssl = on", "ssl = on")
	for _, name := range []string{"db.example", "localhost"} {
		p := certtest.New(t, name, authority, func(c *x509.Certificate) { c.DNSNames = []string{name} })
		cluster.UseTLS(t, certtest.PEM(p.Cert), certtest.PEMKey(t, p.Key))
		if name != "localhost" {
			wantAdvice(t, server, "ssl = on", "ssl = on")
		}
	}

	wantAdvice(t, as(t, server, "server", "SECRET", "nowhere"), "createdb", "createdb")
	wantAdvice(t, as(t, server, "server", "another SECRET", "service"), "pg_hba.conf", "pg_hba.conf")
	wantAdvice(t, as(t, server, "missing", "SECRET", "service"), "pg_hba.conf", "pg_hba.conf")
	wantAdvice(t, server, `run "innsigli migrate" as a role that may`, "run innsigli migrate")
	output(t, done, "migrate", "--store", owner)
	wantAdvice(t, server, `run "innsigli migrate --server-role ROLE" as the owner`, `run "innsigli migrate --server-role ROLE" as the owner`)
	output(t, failed, "migrate", "--store", owner, "--server-role", "owner")
	output(t, done, "migrate", "--store", owner, "--server-role", "server")
	output(t, done, "migrate", "--store", owner, "--server-role", "server") // again

	key := filepath.Join(t.TempDir(), "master.key")
	p := startServers(t, 1, server, key, "--client-id", clientID, "--client-secret", clientSecret, "--insecure-database-tls")[0]
	c := p.signIn(t)
	c.addPeople(t, people[0])
	c.sign(t, document, people[0], "IdpSim", "Lt", "")
	if talk := p.talk(); strings.Count(talk, "connection to the database not verified") != 1 || !strings.Contains(talk, "WARN") {
		t.Errorf("--insecure-database-tls is not in the log: %s", talk)
	}
	for flag, doubts := range map[string]int{"--log-level=info": 0, "--insecure-database-tls": 1} {
		var found, stderr bytes.Buffer
		run(t.Context(), []string{"doctor", "--environment", "sandbox", "--listen", "127.0.0.1:0", "--base-url", p.BaseURL, "--store", server, "--master-key-file", key, flag}, &found, &stderr)
		if talk := found.String(); strings.Count(talk, "doubt  store          --insecure-database-tls permits") != doubts || !strings.Contains(talk, "ok     store ") {
			t.Errorf("doctor with %s:\n%s%s", flag, talk, &stderr)
		}
	}
}

// verifiedURL returns the URL at which a server with a certificate for localhost is verified.
func verifiedURL(t *testing.T, database, roots string) string {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	u.Host, u.RawQuery = "localhost:"+u.Port(), url.Values{"sslmode": {"verify-full"}, "sslrootcert": {roots}}.Encode()
	return u.String()
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
		for _, a := range []string{"createdb", "pg_hba.conf", `"innsigli migrate" as`, "run innsigli migrate", `"innsigli migrate --server-role`, "ssl = on"} {
			advice += strings.Count(talk, a)
		}
		if status != failed || advice != 1 || !strings.Contains(talk, known) || strings.Contains(talk, "SECRET") {
			t.Errorf("%s: exit status %d, advice %d times:\n%s", want, status, advice, talk)
		}
	}
}
