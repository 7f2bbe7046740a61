package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/server/config"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook"
)

// scene is a store with an account, whose servers die one after the other.
type scene struct {
	portalKilling
	t       *testing.T
	folder  string
	place   string // --store
	server  *sandboxProcess
	client  *client
	users   []string // IDs of the sandbox users
	receive *receiver
	seen    []played
}

// played is what became of a process.
type played struct {
	processReply
	signed   int
	declined bool
	size     int64 // of the document; 0: there is none
}

// kill takes processes through the deaths of their servers, one after the other, and says how many
// servers died.
func (k portalKilling) kill(t *testing.T, points []string, call string, times int) (kills int) {
	s := &scene{portalKilling: k, t: t, folder: shortFolder(t), receive: newReceiver(t)}
	s.place = k.store(t, s.folder)
	s.start("")
	s.client = s.server.signIn(t)
	for _, p := range people[:2] {
		s.users = append(s.users, s.client.must(t, http.MethodPost, "/api/v1/sandbox/users", p.profile()).UUID)
	}
	s.receive.subscribe(t, s.client)
	for i := range times {
		s.play(i, points, call)
		kills += len(points)
	}
	s.check()
	return kills
}

// start starts a server that dies at a point; "" is none.
func (s *scene) start(point string) {
	s.t.Helper()
	environment := []string{"INNSIGLI_FAILPOINT=" + point, "SSL_CERT_FILE=" + s.receive.trusted(s.t, s.folder)}
	s.server = startSandbox(s.t, s.program, s.place, environment, "--master-key-file", filepath.Join(s.folder, "master.key"), "--insecure-allow-private-webhooks")
	if s.client != nil {
		s.client.base = s.server.BaseURL
	}
}

// step is a call, and the answers after which it is done: that of the call that does it, and that of
// one that finds it done.
type step struct {
	method, path, body string
	done               []string
}

// steps are the calls up to the one in which the server dies, and what is left to be done after it.
// Every other time it is the second signer's call.
func (s *scene) steps(i int, call string, of *played) (before []func() step, dies func() step, after []func() step) {
	create := func() step {
		return step{http.MethodPost, processesPath, processText(document, people[:2]...), []string{"201"}}
	}
	answer := func(n int, name, body string) func() step {
		return func() step {
			return step{http.MethodPost, of.answerPath(n, name), body, []string{"204", "400 Participant has already answered"}}
		}
	}
	sign := func(n int) func() step { return answer(n, "sign", fmt.Sprintf(`{"sandboxUserId":%q}`, s.users[n])) }
	remove := func() step {
		return step{http.MethodDelete, processesPath + "/" + of.ProcessID, "", []string{"204", "404 Not found"}}
	}
	switch {
	case call == "create":
		return nil, create, []func() step{sign(0), sign(1)}
	case call == "decline":
		of.declined, of.signed = true, 1
		return []func() step{create, sign(0)}, answer(1, "decline", `{"reason":"No"}`), nil
	case call == "delete":
		return []func() step{create, sign(0)}, remove, nil
	case i%2 == 0:
		return []func() step{create}, sign(0), []func() step{sign(1)}
	}
	return []func() step{create, sign(0)}, sign(1), nil
}

// play makes the calls of a process, in which the servers die.
func (s *scene) play(i int, points []string, call string) {
	s.t.Helper()
	of := &played{signed: 2}
	before, dies, after := s.steps(i, call, of)
	key := "process " + strconv.Itoa(i)
	for _, one := range before {
		s.insist(of, one(), key)
	}
	s.server.command.Process.Kill()
	s.server.command.Wait()
	for n, point := range points {
		s.start(point)
		if n == 0 {
			one := dies()
			if a, err := s.try(of, one, key); err == nil {
				s.t.Errorf("%s: before the server died: %v", point, a)
			}
		}
		if !s.server.dies(s.t) {
			s.t.Fatalf("%s: the server did not end by SIGKILL: %s\n%s", point, s.server.command.ProcessState, s.server.talk())
		}
	}
	s.start("")
	s.insist(of, dies(), key)
	for _, one := range after {
		s.insist(of, one(), key)
	}
	s.see(of, call == "delete")
}

// try makes a call once.
func (s *scene) try(of *played, one step, key string) (reply, error) {
	a, err := s.client.call(s.t.Context(), one.method, one.path, strings.NewReader(one.body), "Idempotency-Key", key)
	if err == nil && a.Status == http.StatusCreated {
		of.processReply = a.processReply
	}
	return a, err
}

// insist makes a call until it is done. What is in hand of a server that died takes as long as that
// one's leases: those of jobs last two minutes.
func (s *scene) insist(of *played, one step, key string) {
	s.t.Helper()
	testenv.Wait(s.t, one.method+" "+one.path+" to be done", func() bool {
		a, err := s.try(of, one, key)
		if err == nil && slices.Contains(one.done, strings.TrimSpace(fmt.Sprint(a.Status, " ", a.Title))) {
			return true
		}
		inHand := a.Status == http.StatusLocked || a.Status == http.StatusConflict || a.Status == http.StatusServiceUnavailable
		if err != nil || !inHand {
			s.t.Fatalf("%s %s: %v, %v %s\n%s", one.method, one.path, a, err, a.Body, s.server.talk())
		}
		return false
	})
}

// portalDeaths are where servers kill themselves while a client works on a process, and in which
// call. Where there are several, the client does not repeat the call before the last server has died: all but the
// first do so in their jobs. The second poll of a sandbox user brings the signature.
var portalDeaths = []struct {
	points, call string
	long         bool // what a job of the dead server was doing is done again after minutes
}{
	{"portal/reserved", "create", false}, {"portal/planned", "create", false}, {"portal/created", "create", false},
	{"signing/stored", "sign", false}, {"signing/begun", "sign", false}, {"signing/prepared", "sign", false}, {"signing/asked", "sign", false},
	{"portal/begun", "sign", false}, {"signing/polled", "sign", false}, {"signing/signed", "sign", false}, {"signing/completed", "sign", false},
	{"portal/driven", "sign", false},
	{"portal/begun signing/driven", "sign", true}, {"signing/polled signing/polled", "sign", true},
	{"signing/signed signing/signed", "sign", true}, {"signing/finished signing/due", "sign", true},
	{"portal/declined", "decline", true}, {"portal/deleted", "delete", false},
}

// A process of two signers goes on after its server was killed between any two steps: the person who
// repeats the call that was cut off finds it done, or has it done. Each signer has one signature in
// the document, one event and one line in the ledger, and no turn is left.
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

// see checks what a client sees of a process at the end.
func (s *scene) see(of *played, deleted bool) {
	s.t.Helper()
	a, err := s.client.call(s.t.Context(), http.MethodGet, processesPath+"/"+of.ProcessID+"/document", nil)
	if deleted {
		if err != nil || a.Status != http.StatusNotFound {
			s.t.Errorf("the document of what is deleted: %v, %v", a, err)
		}
		of.signed = 1
	} else {
		s.checkDocument(a, err, of.signed)
		of.size = int64(len(a.Content))
	}
	s.seen = append(s.seen, *of)
}

func (s *scene) checkDocument(a reply, err error, signatures int) {
	s.t.Helper()
	if err != nil || a.Status != http.StatusOK || !bytes.HasPrefix(a.Content, document) {
		s.t.Fatalf("the document: %v, %v", a, err)
	}
	report, err := pades.Verify(s.t.Context(), pades.Document{ReaderAt: bytes.NewReader(a.Content), Size: int64(len(a.Content))},
		ades.VerifyOptions{Roots: rootPool(s.t, s.server.RootCertificate)})
	if err != nil {
		s.t.Fatal(err)
	}
	var by []string
	for _, one := range report.Signatures {
		by = append(by, one.Certificate.Subject.CommonName)
	}
	want := []string{people[0].name, people[1].name}[:signatures]
	if diff := cmp.Diff(want, by); diff != "" || !report.Passed() {
		s.t.Errorf("the document is signed by (-want +got):\n%s\npassed: %v", diff, report.Passed())
	}
}

// events are those that there are to be of a process.
func (of *played) events() (want []string) {
	for _, p := range people[:of.signed] {
		want = append(want, "participant.signed "+p.phone+"@example.is")
	}
	switch {
	case of.declined:
		want = append(want, "participant.declined "+people[1].phone+"@example.is")
	case of.signed == 2:
		want = append(want, "process.completed")
	}
	slices.Sort(want)
	return want
}

// check checks what is told of the processes, and what they leave in the store.
func (s *scene) check() {
	s.t.Helper()
	for _, of := range s.seen { // what a server died with is sent again when its lease is over
		testenv.Wait(s.t, "the events of a process", func() bool { return len(s.receive.of(of.ProcessID)) >= len(of.events()) })
	}
	if rest, err := s.server.stop(); err != nil || rest != "" {
		s.t.Errorf("the end of the server: %q, %v\n%s", rest, err, s.server.talk())
	}
	var size, signatures int64
	there := 0
	for _, of := range s.seen {
		if diff := cmp.Diff(of.events(), s.receive.of(of.ProcessID)); diff != "" {
			s.t.Errorf("the events (-want +got):\n%s", diff)
		}
		if size, signatures = size+of.size, signatures+int64(of.signed); of.size > 0 {
			there++
		}
	}
	checkPlace(s.t, s.place, there, size, signatures)
}

// checkPlace is checkLeft of a store that no server has.
func checkPlace(t *testing.T, at string, processes int, size, signatures int64) {
	t.Helper()
	place, err := config.ParseStore(at, config.DatabaseFlag{})
	if err != nil {
		t.Fatal(err)
	}
	var db config.DB
	testenv.Wait(t, "the database", func() bool {
		db, err = place.Open(t.Context(), "")
		return !errors.Is(err, storage.ErrUnavailable) // which a busy machine makes it
	})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	checkLeft(t, db, processes, size, signatures)
}

// checkLeft checks what processes that were signed leave in a store: signatures, each with its line
// in the ledger, and documents of so many bytes that count for the account; no turn, no request and
// no job.
func checkLeft(t *testing.T, db config.DB, processes int, size, signatures int64) {
	t.Helper()
	ctx := t.Context()
	a, err := db.Accounts().Account(ctx, sandboxAccount)
	if err != nil || a.Stored != size || a.FreeUsed != min(signatures, account.FreeSignatures) {
		t.Errorf("%d free signatures used (at most %d) and %d bytes of the account, want %d and %d: %v", a.FreeUsed, account.FreeSignatures, a.Stored, signatures, size, err)
	}
	free := 0
	lines := make(map[string]bool)
	for line, err := range db.Accounts().Lines(ctx, sandboxAccount, time.Time{}, time.Now().Add(time.Hour)) {
		if err != nil || line.API != account.PortalAPI || lines[line.ID] {
			t.Errorf("%+v, %v", line, err)
		}
		if lines[line.ID] = true; line.Free {
			free++
		}
	}
	if int64(len(lines)) != signatures || int64(free) != min(signatures, account.FreeSignatures) {
		t.Errorf("%d lines in the ledger, %d of them free, for %d signatures", len(lines), free, signatures)
	}
	there := 0
	for p, err := range db.AllProcesses(ctx) {
		if there++; err != nil || p.Turn != nil {
			t.Errorf("%+v, %v", p.Turn, err)
		}
	}
	if there != processes {
		t.Errorf("%d processes, want %d", there, processes)
	}
	if open, err := db.Requests().Unfinished(ctx, time.Now().Add(time.Hour), 10); err != nil || len(open) > 0 {
		t.Errorf("requests that have not ended: %+v, %v", open, err)
	}
	for _, kind := range []string{"signing.drive", "signing.complete", "signing.complete.order", "signing.news"} {
		if due, err := db.Jobs().NextDue(ctx, kind); err != nil || len(due) > 0 {
			t.Errorf("%s is due at %v, %v", kind, due, err)
		}
	}
}

// receiver is a client's endpoint that knows by webhook-id which events it has handled.
type receiver struct {
	*subscriber
	mu     sync.Mutex
	events map[string][]string // of a process: their types and participants, each event once
	known  map[string]bool
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{events: make(map[string][]string), known: make(map[string]bool)}
	r.subscriber = newSubscriber(t, (*httptest.Server).StartTLS)
	go func() {
		for range r.requests {
		}
	}()
	return r
}

// subscribe subscribes to all events.
func (r *receiver) subscribe(t *testing.T, c *client) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"url": r.URL + path, "eventTypes": []string{"participant.signed", "participant.declined", "process.completed"}})
	if err != nil {
		t.Fatal(err)
	}
	a := c.hook(t, http.MethodPost, "", string(body))
	key, err := webhook.ParseKey(a.Secret)
	if a.Status != http.StatusCreated || err != nil {
		t.Fatalf("the subscription: %v %s, %v", a, a.Body, err)
	}
	handler := (&webhook.Receiver{Keys: []webhook.Key{key}}).Handler(r.handle)
	r.handler.Store(&handler)
	if a := c.hook(t, http.MethodPost, "/"+a.ID+"/activate", ""); a.Status != http.StatusOK {
		t.Fatalf("activation: %v %s", a, a.Body)
	}
}

func (r *receiver) handle(_ context.Context, e webhook.Event) error {
	var data struct {
		Process     string `json:"signingProcessId"`
		Participant struct {
			Email     string `json:"email"`
			Signature []byte `json:"signature"`
		} `json:"participant"`
	}
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.known[e.ID] {
		r.known[e.ID] = true
		told := e.Type
		if data.Participant.Email != "" {
			told += " " + data.Participant.Email
		}
		r.events[data.Process] = append(r.events[data.Process], told)
	}
	return nil
}

// of are the events of a process in some order of their own.
func (r *receiver) of(process string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(slices.Values(r.events[process]))
}
