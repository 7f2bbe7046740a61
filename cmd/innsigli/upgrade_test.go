package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
	"github.com/innsigli/innsigli/storage/bolt"
)

// earlierStore is a store of version 3, with documents in its file.
func earlierStore(t *testing.T) (path string) {
	t.Helper()
	packed, err := os.Open("../../storage/bolt/testdata/earlier/schema3.db.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "store.db")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Only serve, sandbox and migrate change a store of an earlier version. The other commands name migrate, and change nothing.
func TestCommandsDoNotMigrate(t *testing.T) {
	path := earlierStore(t)
	store, before := "bolt:"+path, fileContent(t, path)
	out, other := filepath.Join(t.TempDir(), "backup.tar"), filepath.Join(t.TempDir(), "other.db")
	db, err := bolt.Open(other, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	db.Close()
	for _, args := range [][]string{
		{"account", "list"}, {"account", "create", "Example Ltd."}, {"account", "statement", "a"},
		{"client", "list", "a"}, {"client", "create", "a", "n"},
		{"process", "show", "p"}, {"process", "events", "p"},
		{"webhook", "list", "a"}, {"webhook", "log", "s"}, {"webhook", "dropped", "s"}, {"webhook", "keys"},
		{"evidence", "export"},
		{"backup", "-o", out}, {"store", "compact"}, {"store", "copy", store, "bolt:" + other}, {"store", "copy", "bolt:" + other, store},
		{"doctor", "--environment", "sandbox", "--listen", "127.0.0.1:0", "--base-url", "http://127.0.0.1"},
	} {
		if args[1] != "copy" {
			args = append(args, "--store", store)
		}
		var stdout, stderr bytes.Buffer
		if status := run(t.Context(), args, &stdout, &stderr); status != failed {
			t.Errorf("innsigli %s: exit status %d", strings.Join(args, " "), status)
		}
		said := stderr.String() + stdout.String() // doctor's is on stdout
		if want := "it is at 3, but this program needs 6: run innsigli migrate"; !strings.Contains(said, want) {
			t.Errorf("innsigli %s says: %s", strings.Join(args, " "), said)
		}
		if !bytes.Equal(fileContent(t, path), before) {
			t.Fatalf("innsigli %s has changed the store", strings.Join(args, " "))
		}
	}
	if left, err := filepath.Glob(path + "?*"); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
	if said := output(t, done, "migrate", "--store", store); said != "schema 3 -> 6\n" {
		t.Errorf("migrate says: %q", said)
	}
	output(t, done, "account", "list", "--store", store)
	output(t, done, "evidence", "export", "--store", store)
}

// Nor is a database of an earlier version migrated by being copied to; only one without tables gets them.
func TestCopyDoesNotMigrate(t *testing.T) {
	from, to := filepath.Join(t.TempDir(), "from.db"), postgrestest.Database(t)
	db, err := bolt.Open(from, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	db.Close()
	copyTo := func(status int) (said string) {
		var stdout, stderr bytes.Buffer
		if got := run(t.Context(), []string{"store", "copy", "bolt:" + from, to}, &stdout, &stderr); got != status {
			t.Errorf("store copy: exit status %d, want %d: %s", got, status, &stderr)
		}
		return stderr.String()
	}
	copyTo(done)
	conn, err := pgx.Connect(t.Context(), to)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	var last int
	err = conn.QueryRow(t.Context(), "DELETE FROM innsigli_schema WHERE version = (SELECT max(version) FROM innsigli_schema) RETURNING version - 1").Scan(&last)
	if err != nil {
		t.Fatal(err)
	}
	if said := copyTo(failed); !strings.Contains(said, "run innsigli migrate") {
		t.Errorf("store copy says: %s", said)
	}
	var now int
	if err := conn.QueryRow(t.Context(), "SELECT max(version) FROM innsigli_schema").Scan(&now); err != nil || now != last {
		t.Errorf("the tables are at %d, %v, want %d", now, err, last)
	}
}

func fileContent(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
