package main

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/innsigli/innsigli/internal/postgrestest"
)

// points are where the server kills itself, in the order in which a request comes by.
var points = []string{
	"signing/stored", "signing/begun", "signing/prepared", "signing/asked",
	"signing/polled", "signing/signed", "signing/completed", "signing/delivered",
}

// The request is stored before the provider is called, the value before it is used, the
// signed document before it is delivered. So a server that is killed anywhere between
// start and delivery goes on after its restart: the client repeats the call that was cut
// off, and gets one document with one signature. INNSIGLI_KILLS says how often each
// point is tried.
func TestKilled(t *testing.T) {
	killing{
		times:   cmp.Or(os.Getenv("INNSIGLI_KILLS"), "2"),
		store:   func(t *testing.T, folder string) string { return "bolt:" + filepath.Join(folder, "store.db") },
		waiting: 0, // a server that has the store alone knows that the one before is dead
	}.run(t)
}

// On Postgres the lease that the server had lasts until it runs out, for another may have
// it. INNSIGLI_KILLS_POSTGRES says how often each point is tried.
func TestKilledOnPostgres(t *testing.T) {
	killing{
		times:   cmp.Or(os.Getenv("INNSIGLI_KILLS_POSTGRES"), "1"), // each waits for a lease
		store:   func(t *testing.T, _ string) string { return postgrestest.Database(t) },
		waiting: 30 * time.Second,
	}.run(t)
}

// killing is a backend on which servers are killed.
type killing struct {
	times   string // that each point is tried
	store   func(t *testing.T, folder string) string
	waiting time.Duration // for what the dead server had in hand
	program string
}

func (k killing) run(t *testing.T) {
	kills, err := strconv.Atoi(k.times)
	if err != nil || kills < 1 {
		t.Fatalf("%q kills: %v", k.times, err)
	}
	k.store(t, shortFolder(t)) // which may be absent
	k.program = build(t, "-tags", "failpoints")
	all := make([]tally, len(points))
	t.Run("at", func(t *testing.T) {
		for p, point := range points {
			t.Run(point, func(t *testing.T) {
				t.Parallel()
				for i := range kills {
					all[p].add(k.killAt(t, point, []string{"IdpApp", "IdpSim"}[(i+p)%2]))
				}
			})
		}
	})
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "point\tkills\tlost\tdoubled")
	for p, point := range points {
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\n", point, all[p].kills, all[p].lost, all[p].doubled)
	}
	table.Flush()
	for line := range strings.Lines(text.String()) {
		t.Logf("figure: %s", strings.TrimRight(line, "\n"))
	}
}

// tally counts what became of requests.
type tally struct{ kills, lost, doubled int }

func (a *tally) add(b tally) {
	a.kills, a.lost, a.doubled = a.kills+b.kills, a.lost+b.lost, a.doubled+b.doubled
}

// killAt takes one request through one death of the server.
func (k killing) killAt(t *testing.T, point, method string) (result tally) {
	t.Helper()
	folder := shortFolder(t)
	store, key := k.store(t, folder), filepath.Join(folder, "master.key")
	server := startSandbox(t, k.program, store, []string{"INNSIGLI_FAILPOINT=" + point}, "--master-key-file", key)
	c := server.signIn(t)
	c.addPeople(t, people...)
	r := request{signal: c.must(t, http.MethodPost, "/api/v1/signing/busy-signal", "").ID}
	r.body = startText(document, people[0], method, "B", r.signal)

	cut, err := r.goOn(t.Context(), c)
	if delivered := point == "signing/delivered"; delivered != (err == nil && cut.Status == http.StatusOK) {
		t.Errorf("%s: before the server died: %v, %v", method, cut, err)
	}
	if !server.killed() {
		t.Errorf("%s: the server did not end by SIGKILL: %s\n%s", method, server.command.ProcessState, server.talk())
		return result
	}
	result.kills++

	server = startSandbox(t, k.program, store, nil, "--master-key-file", key)
	c.base = server.BaseURL          // the token is good after the restart too
	if cut.Status != http.StatusOK { // a client that has the document whole finds it free
		r.checkHeld(t, c)
	}
	r.waiting = k.waiting
	ended, err := r.goOn(t.Context(), c)
	if err != nil || ended.Status != http.StatusOK {
		t.Errorf("%s: the request is lost: %v, %v\n%s", method, ended, err, server.talk())
		result.lost++
		return result
	}
	if n := r.checkDocument(t, ended.SignedFile, server.RootCertificate); n != 1 {
		t.Errorf("%s: %d signatures", method, n)
		result.doubled++
	}
	if cut.Status == http.StatusOK && !bytes.Equal(cut.SignedFile, ended.SignedFile) {
		t.Errorf("%s: the document delivered again is another one", method)
		result.doubled++
	}
	r.checkFree(t, c)
	if rest, err := server.stop(); err != nil || rest != "" {
		t.Errorf("%s: the end of the server: %q, %v\n%s", method, rest, err, server.talk())
	}
	return result
}
