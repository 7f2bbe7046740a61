package main

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
)

// portalDeaths are where servers kill themselves while somebody works on a process, and in which
// call. Where there are several, nobody repeats the call before the last server has died: all but the
// first do so in their jobs. The second poll of a test user brings the signature.
var portalDeaths = []struct {
	points, call string
	long         bool // what a job of the dead server was doing is done again after minutes
}{
	{"portal/reserved", "create", false}, {"portal/planned", "create", false}, {"portal/created", "create", false},
	{"signing/stored", "sign", false}, {"signing/begun", "sign", false}, {"signing/prepared", "sign", false}, {"signing/asked", "sign", false},
	{"portal/begun", "sign", false}, {"signing/polled", "sign", false}, {"signing/signed", "sign", false}, {"signing/completed", "sign", false},
	{"portal/driven", "sign", false},
	{"portal/begun signing/driven", "sign", true}, {"signing/polled signing/polled", "sign", true},
	{"signing/signed signing/signed", "sign", true}, {"signing/signed signing/signed signing/due", "sign", true},
	{"portal/declined", "decline", true}, {"portal/deleted", "delete", false},
}

// A process of two signers goes on after its server was killed between any two steps: whoever
// repeats the call that was cut off finds it done, or has it done. Each signer has one signature in
// the document, one event and one line in the ledger, and no turn is left to anybody.
// INNSIGLI_KILLS_PROCESSES says how often each death is tried; without it the long ones are not.
func TestPortalKilled(t *testing.T) {
	testenv.Slow(t, "servers die, and others wait for what they had in hand")
	t.Parallel()
	portalKilling{killing{
		times: "INNSIGLI_KILLS_PROCESSES",
		store: func(_ *testing.T, folder string) string { return "bolt:" + filepath.Join(folder, "store.db") },
	}}.run(t)
}

// On Postgres, leases of a server that died last until they run out. INNSIGLI_KILLS_POSTGRES says how
// often each death is tried; without it the long ones are not.
func TestPortalKilledOnPostgres(t *testing.T) {
	testenv.Slow(t, "servers die, and others wait for what they had in hand")
	t.Parallel()
	portalKilling{killing{
		times: "INNSIGLI_KILLS_POSTGRES",
		store: func(t *testing.T, _ string) string { return postgrestest.Database(t) },
	}}.run(t)
}

// portalKilling is a backend on which servers are killed.
type portalKilling struct{ killing }

func (k portalKilling) run(t *testing.T) {
	kills, long := killsOf(t, k.times)
	k.store(t, shortFolder(t)) // which may be absent
	k.program = build(t, "-tags", "failpoints")
	all := make([]int, len(portalDeaths))
	var waiting, tests []subtest
	for d, death := range portalDeaths {
		if death.long && !long {
			continue
		}
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
	concurrently(t, 8, append(waiting, tests...))
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
