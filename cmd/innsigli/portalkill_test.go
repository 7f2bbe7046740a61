package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/innsigli/innsigli/internal/postgrestest"
)

// portalDeaths are where servers kill themselves while somebody works on a process, and in which
// call. Where there are several, nobody repeats the call before the last server has died: all but the
// first do so in their jobs. The second poll of a test person brings the signature.
var portalDeaths = []struct{ points, call string }{
	{"portal/reserved", "create"}, {"portal/planned", "create"}, {"portal/created", "create"},
	{"signing/stored", "sign"}, {"signing/begun", "sign"}, {"signing/prepared", "sign"}, {"signing/asked", "sign"}, {"portal/begun", "sign"},
	{"signing/polled", "sign"}, {"signing/signed", "sign"}, {"signing/completed", "sign"}, {"portal/driven", "sign"},
	{"portal/begun signing/driven", "sign"}, {"signing/polled signing/polled", "sign"},
	{"signing/signed signing/signed", "sign"}, {"signing/signed signing/signed signing/due", "sign"},
	{"portal/declined", "decline"}, {"portal/deleted", "delete"},
}

// A process of two signers goes on after its server was killed between any two steps: whoever
// repeats the call that was cut off finds it done, or has it done. Each signer has one signature in
// the document, one event and one line in the ledger, and no turn is left to anybody.
// INNSIGLI_KILLS_PROCESSES says how often each death is tried.
func TestPortalKilled(t *testing.T) {
	t.Parallel()
	portalKilling{killing{
		times: cmp.Or(os.Getenv("INNSIGLI_KILLS_PROCESSES"), "1"),
		store: func(_ *testing.T, folder string) string { return "bolt:" + filepath.Join(folder, "store.db") },
	}}.run(t)
}

// On Postgres, leases of a server that died last until they run out. INNSIGLI_KILLS_POSTGRES says how
// often each death is tried.
func TestPortalKilledOnPostgres(t *testing.T) {
	t.Parallel()
	portalKilling{killing{
		times: cmp.Or(os.Getenv("INNSIGLI_KILLS_POSTGRES"), "1"),
		store: func(t *testing.T, _ string) string { return postgrestest.Database(t) },
	}}.run(t)
}

// portalKilling is a backend on which servers are killed.
type portalKilling struct{ killing }

func (k portalKilling) run(t *testing.T) {
	kills, err := strconv.Atoi(k.times)
	if err != nil || kills < 1 {
		t.Fatalf("%q kills: %v", k.times, err)
	}
	k.store(t, shortFolder(t)) // which may be absent
	k.program = build(t, "-tags", "failpoints")
	all := make([]int, len(portalDeaths))
	var waiting, tests []subtest
	for d, death := range portalDeaths {
		points := strings.Fields(death.points)
		if len(points) == 1 {
			tests = append(tests, subtest{death.points, func(t *testing.T) { all[d] = k.kill(t, points, death.call, kills) }})
			continue
		}
		for i := range kills { // on a store of its own: each waits for the jobs of the dead
			all[d] += len(points)
			waiting = append(waiting, subtest{death.points + "/" + strconv.Itoa(i), func(t *testing.T) { k.kill(t, points, death.call, 1) }})
		}
	}
	abreast(t, 4, append(waiting, tests...))
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "points\tkills")
	for d, death := range portalDeaths {
		fmt.Fprintf(table, "%s\t%d\n", death.points, all[d])
	}
	table.Flush()
	for line := range strings.Lines(text.String()) {
		t.Logf("figure: %s", strings.TrimRight(line, "\n"))
	}
}
