package main

import (
	"bytes"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"text/tabwriter"

	catest "github.com/innsigli/innsigli/internal/test/ca"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// way is how a person signs.
type way struct {
	name, method string
	prompts      int // on the phone
	first        int // of them made before anything that the provider says is stored
}

var (
	byApp      = way{"app", "IdpApp", 2, 1}       // for the certificate, and for the signature
	byNewSIM   = way{"new SIM", "IdpSim", 2, 1}   // to learn the certificate, and for the signature
	byKnownSIM = way{"known SIM", "IdpSim", 1, 0} // for the signature
)

// productionDeaths are where servers in production kill themselves, one after the other. By the
// app and by a new SIM the provider is asked for the certificate first, so that the first
// server which dies at "signed" has no signature yet.
var productionDeaths = []struct {
	points string
	ways   []way
}{
	{"stored", []way{byApp, byNewSIM, byKnownSIM}},
	{"begun", []way{byApp, byNewSIM, byKnownSIM}},
	{"prepared", []way{byApp, byNewSIM, byKnownSIM}},
	{"asked", []way{byApp, byNewSIM, byKnownSIM}},
	{"polled", []way{byApp, byNewSIM, byKnownSIM}},
	{"continued", []way{byApp, byNewSIM, byKnownSIM}},
	{"signed", []way{byApp, byNewSIM, byKnownSIM}},
	{"completed", []way{byApp, byNewSIM, byKnownSIM}},
	{"delivered", []way{byApp, byNewSIM, byKnownSIM}},
	{"signed continued", []way{byApp, byNewSIM}},
	{"signed signed due", []way{byApp, byNewSIM}},
	{"signed due", []way{byKnownSIM}},
	{"stored begun asked continued prepared signed continued signed completed delivered", []way{byApp, byNewSIM}},
	{"stored begun prepared asked continued signed completed delivered", []way{byKnownSIM}},
}

// A server in production that is killed anywhere goes on after its restart, as in TestKilled:
// one document with one signature. The person is asked once more only where the server died
// with the provider's first answer, which the server has not stored, and an answer that was stored is
// not fetched again. INNSIGLI_KILLS says how often each death is tried, though not more than
// twice: at the pace of production each takes seconds. Without it one of the ways is tried for each.
func TestProductionKilled(t *testing.T) {
	testenv.Slow(t, "servers die, and others wait for what they had in hand")
	t.Parallel()
	kills, every := killsOf(t, "INNSIGLI_KILLS")
	k := productionKilling{times: min(kills, 2), provider: openidtest.Start(t, eager), people: new(atomic.Int32)}
	k.program = build(t, "-tags", "failpoints")
	all := make([][]productionTally, len(productionDeaths))
	var tests []subtest
	for d, death := range slices.Backward(productionDeaths) { // the longest first
		all[d] = make([]productionTally, len(death.ways))
		for w, way := range death.ways {
			if !every && w != d%len(death.ways) {
				continue
			}
			tests = append(tests, subtest{death.points + "/" + way.name, func(t *testing.T) { all[d][w] = k.run(t, strings.Fields(death.points), way) }})
		}
	}
	concurrently(t, 24, tests)
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "points\trequests\tkills\tlost\tdoubled\tprompts\tin vain\tanswers\tfetched again")
	for d, death := range productionDeaths {
		var a productionTally
		for _, one := range all[d] {
			a.add(one)
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", death.points, a.requests, a.kills, a.lost, a.doubled, a.prompts, a.vain, a.answers, a.again)
	}
	table.Flush()
	for line := range strings.Lines(text.String()) {
		t.Logf("figure: %s", strings.TrimRight(line, "\n"))
	}
}

// productionKilling is a provider whose client's servers are killed.
type productionKilling struct {
	times    int
	program  string
	provider *openidtest.Provider
	people   *atomic.Int32 // so far
}

// run takes requests through the deaths of their servers, one after the other on one store.
func (k productionKilling) run(t *testing.T, points []string, w way) (all productionTally) {
	p := newProduction(t, k.program, "", "--config", "innsigli.toml")
	p.ca, p.provider = catest.New(t), k.provider
	p.configure(t, productionOptions{keys: "timeout = \"1m\"\n"}) // which a busy machine needs for many servers and one provider
	p.run(t)
	p.client = p.account(t, p.store)
	for i := range k.times {
		who := numbered(int(k.people.Add(1)))
		owner := p.person(t, who, openidtest.Answer{})
		if w == byKnownSIM {
			p.learn(t, who)
		}
		r := newRequest(who, w.method, strconv.Itoa(i))
		before := len(p.prompts(who))
		// A server that dies once it has polled must have got no answer: with it, the answer is
		// lost (TestProductionKilledInACall).
		owner.Answer.Silent = points[0] == "polled"
		p.provider.Person(owner)
		one := p.killAt(t, &r, points, func() {
			owner.Answer.Silent = false
			p.provider.Person(owner)
		})
		one.see(p.prompts(who)[before:], w)
		want := w.prompts
		if slices.Contains(points, "begun") {
			want += w.first
		}
		if one.prompts != want || one.answers != w.prompts || one.again > 0 {
			t.Errorf("%d prompts, want %d, %d answers, want %d, fetched again: %d", one.prompts, want, one.answers, w.prompts, one.again)
		}
		all.add(one)
	}
	if rest, err := p.stop(); err != nil || rest != "" {
		t.Errorf("the end of the server: %q, %v\n%s", rest, err, p.logs())
	}
	return all
}

// killAt takes one request through the deaths of its servers, and then through buried and to its
// end.
func (p *production) killAt(t *testing.T, r *request, points []string, buried func()) (result productionTally) {
	t.Helper()
	trace := filepath.Join(p.folder, "trace"+r.key)
	result.requests = 1
	var cut reply
	p.kill(t) // one that dies nowhere
	for _, point := range points {
		p.run(t, "INNSIGLI_TRACE="+trace, "INNSIGLI_FAILPOINT=signing/"+point)
		var err error
		if point != "due" { // without a poll
			cut, err = r.goOn(t.Context(), p.client)
		}
		if answered := err == nil; point != "due" && (answered != (point == "delivered") || answered && cut.Status != http.StatusOK) {
			t.Fatalf("from the server that was to die at %s: %v, %v\n%s", point, cut, err, p.logs())
		}
		if !p.dies(t) {
			t.Fatalf("the server did not end by SIGKILL at %s: %s\n%s", point, p.command.ProcessState, p.logs())
		}
		result.kills++
	}
	buried()
	p.run(t, "INNSIGLI_TRACE="+trace)
	ended, err := r.goOn(t.Context(), p.client)
	if c := tracedCalls(t, trace); c.stored == 0 || c.doubled > 0 {
		t.Errorf("the calls to the provider: %+v\n%s", c, testenv.ReadFile(t, trace))
	}
	if err != nil || ended.Status != http.StatusOK {
		t.Errorf("the request is lost: %v, %v\n%s", ended, err, p.logs())
		result.lost++
		return result
	}
	if n := r.checkDocument(t, ended.SignedFile, string(p.ca.RootPEM())); n != 1 {
		t.Errorf("%d signatures", n)
		result.doubled++
	}
	if cut.Status == http.StatusOK && !bytes.Equal(cut.SignedFile, ended.SignedFile) {
		t.Error("the document delivered again is another one")
		result.doubled++
	}
	if a, err := p.client.pollOn(t.Context(), r.pollingID); err != nil || a.Status != http.StatusNotFound {
		t.Errorf("a poll after the end: %v, %v", a, err)
	}
	return result
}
