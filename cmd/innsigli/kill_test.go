package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/innsigli/innsigli/internal/pdftest"
	"github.com/innsigli/innsigli/pades"
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
	program := build(t, "-tags", "failpoints")
	kills, err := strconv.Atoi(cmp.Or(os.Getenv("INNSIGLI_KILLS"), "2"))
	if err != nil || kills < 1 {
		t.Fatalf("INNSIGLI_KILLS: %d, %v", kills, err)
	}
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "point\tkills\tlost\tdoubled")
	for _, point := range points {
		var all tally
		t.Run(point, func(t *testing.T) {
			for i := range kills {
				all.add(killAt(t, program, point, []string{"IdpApp", "IdpSim"}[i%2]))
			}
		})
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\n", point, all.kills, all.lost, all.doubled)
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
func killAt(t *testing.T, program, point, method string) (result tally) {
	t.Helper()
	store := filepath.Join(shortFolder(t), "store.db")
	server := startSandbox(t, program, store, []string{"INNSIGLI_FAILPOINT=" + point})
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

	server = startSandbox(t, program, store, nil)
	c.base = server.BaseURL          // the token is good after the restart too
	if cut.Status != http.StatusOK { // a client that has the document whole finds it free
		r.checkHeld(t, c)
	}
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

// document is what the tests sign.
var document = pdftest.Build(pdftest.Options{})

// request is one signing request as its client sees it over two lives of the server.
type request struct {
	signal    string // a busy signal's ID
	body      string // of the start call
	pollingID string // once the start call was answered
}

// goOn does what is left to do. A start that was cut off is made again with the same
// key and body.
func (r *request) goOn(ctx context.Context, c *client) (reply, error) {
	if r.pollingID == "" {
		a, err := c.call(ctx, http.MethodPost, "/api/v1/signing", strings.NewReader(r.body), "Idempotency-Key", "one-request")
		if err != nil || a.Status != http.StatusOK {
			return a, err
		}
		r.pollingID = a.PollingID
	}
	return c.pollOn(ctx, r.pollingID)
}

// startOther starts a request of somebody else through the same busy signal.
func (r *request) startOther(t *testing.T, c *client) reply {
	t.Helper()
	a, err := c.call(t.Context(), http.MethodPost, "/api/v1/signing", strings.NewReader(startText(document, people[1], "IdpApp", "B", r.signal)))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// checkHeld: the death of the server freed nothing (service.md 3.4).
func (r *request) checkHeld(t *testing.T, c *client) {
	t.Helper()
	if a := r.startOther(t, c); a.Status != http.StatusLocked || a.BusySignal.UserID != people[0].name {
		t.Errorf("the busy signal after the restart: %v, holder %q", a, a.BusySignal.UserID)
	}
}

// checkFree: the end of the request frees its busy signal, and there is nothing more to
// poll.
func (r *request) checkFree(t *testing.T, c *client) {
	t.Helper()
	if a, err := c.pollOn(t.Context(), r.pollingID); err != nil || a.Status != http.StatusNotFound {
		t.Errorf("a poll after the end: %v, %v", a, err)
	}
	if a := r.startOther(t, c); a.Status != http.StatusOK {
		t.Errorf("the busy signal after the end: %v", a)
	}
}

// checkDocument checks what was delivered and counts its signatures.
func (r *request) checkDocument(t *testing.T, signed []byte, root string) int {
	t.Helper()
	report, err := pades.Verify(t.Context(), pades.Document{ReaderAt: bytes.NewReader(signed), Size: int64(len(signed))}, pades.VerifyOptions{Roots: rootPool(t, root)})
	if err != nil {
		t.Errorf("reading the signed document: %v", err)
		return 0
	}
	if !report.Passed() || !bytes.HasPrefix(signed, document) {
		t.Errorf("the signed document does not verify: %+v", report.Signatures)
	}
	return len(report.Signatures)
}

// rootPool reads a sandbox's root.
func rootPool(t *testing.T, text string) *x509.CertPool {
	t.Helper()
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(text)) {
		t.Fatalf("no certificate in %q", text)
	}
	return pool
}
