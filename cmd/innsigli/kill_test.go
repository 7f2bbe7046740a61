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
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/xades"
)

// deaths are where servers kill themselves, one after the other, in the order in which a
// request comes by. Where there are two, the second has the signature's value in its store,
// which the first died with, and no client polls: its job completes the signature.
var deaths = [][]string{
	{"signing/stored"}, {"signing/begun"}, {"signing/prepared"}, {"signing/asked"},
	{"signing/polled"}, {"signing/signed"}, {"signing/finished"}, {"signing/completed"}, {"signing/delivered"},
	{"signing/signed", "signing/due"}, {"signing/signed", "signing/completed"},
}

// The request is stored before the provider is called, the value before it is used, the
// signed document before it is delivered. So a server that is killed anywhere between
// start and delivery goes on after its restart: the client repeats the call that was cut
// off, and gets one document with one signature. Nor is the provider called again for an
// answer that was stored. A PDF has a stamp whose place was found by the first server. The signed
// document of XML is a new one: a server may die with both, and delivers one.
// INNSIGLI_KILLS says how often each death is tried with a PDF; with XML it is a tenth of that. With 1, which it is
// by default, a death is tried once: with a PDF on some stores, with XML on the others.
func TestKilled(t *testing.T) {
	testenv.Slow(t, "servers die, and others wait for what they had in hand")
	t.Parallel()
	killing{
		times: "INNSIGLI_KILLS",
		store: func(t *testing.T, folder string) string { return "bolt:" + filepath.Join(folder, "store.db") },
		alone: true, // it knows that the one before is dead
	}.run(t)
}

// On Postgres the lease that the server had lasts until it runs out, for another may have
// it. INNSIGLI_KILLS_POSTGRES says how often each death is tried.
func TestKilledOnPostgres(t *testing.T) {
	testenv.Slow(t, "servers die, and others wait for what they had in hand")
	t.Parallel()
	killing{
		times:  "INNSIGLI_KILLS_POSTGRES",
		store:  func(t *testing.T, _ string) string { return postgrestest.Database(t) },
		offset: 2,
	}.run(t)
}

// killing is a backend on which servers are killed.
type killing struct {
	times   string // the variable that says how often each death is tried
	store   func(t *testing.T, folder string) string
	alone   bool // a server has the store alone
	offset  int  // another for each store, so that a death is not tried with the same method and format on all
	program string
}

// killsOf is how often each death is tried by a variable, and whether the variable is there. Without it that is
// once, and what takes longest is left out.
func killsOf(t *testing.T, variable string) (times int, all bool) {
	t.Helper()
	text, all := os.LookupEnv(variable)
	if !all {
		return 1, false
	}
	times, err := strconv.Atoi(text)
	if err != nil || times < 1 {
		t.Fatalf("%s=%q: %v", variable, text, err)
	}
	return times, true
}

func (k killing) run(t *testing.T) {
	kills, _ := killsOf(t, k.times)
	k.store(t, shortFolder(t)) // which may be absent
	k.program = build(t, "-tags", "failpoints")
	all := make([]tally, len(deaths))
	var tests []subtest
	for p, points := range deaths {
		tests = append(tests, subtest{strings.Join(points, "+"), func(t *testing.T) { all[p] = k.killBoth(t, p, kills) }})
	}
	atOnce := len(tests) // which wait for leases
	if k.alone {
		atOnce = 4
	}
	concurrently(t, atOnce, tests)
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "point\tkills\tlost\tdoubled\tcalls\tdoubled calls")
	for p, points := range deaths {
		a := all[p]
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\n", strings.Join(points, "+"), a.kills, a.lost, a.doubled, a.calls.made, a.calls.doubled)
	}
	table.Flush()
	for line := range strings.Lines(text.String()) {
		t.Logf("figure: %s", strings.TrimRight(line, "\n"))
	}
}

// killBoth tries a death with PDF and XML at once, as most of the time goes by with waiting for leases; or, if it is
// tried once, with one of them. Deaths in a row on a store have both methods with the one format, then with the other.
func (k killing) killBoth(t *testing.T, death, kills int) (result tally) {
	points := deaths[death]
	turn := death + k.offset
	times := [2]int{kills, (kills + 9) / 10}
	if kills == 1 {
		times[turn/2%2] = 0
	}
	var both [2]tally
	var group sync.WaitGroup
	for f, n := range times {
		if n == 0 {
			continue
		}
		group.Go(func() {
			t.Run([]string{"PDF", "XML"}[f], func(t *testing.T) {
				for i := range n {
					r := request{method: methods(points)[(i+turn)%2]}
					if f == 1 {
						r.packing = []string{"Enveloped", "Enveloping", "InternallyDetached"}[(i+death)%3]
					}
					both[f].add(k.killAt(t, points, r))
				}
			})
		})
	}
	group.Wait()
	result.add(both[0])
	result.add(both[1])
	return result
}

// methods are those that a death is tried with, one after the other. Where a second server
// is to complete the signature, the first poll has to bring its value, as it does by IdpSim.
func methods(points []string) []string {
	if len(points) > 1 {
		return []string{"IdpSim", "IdpSim"}
	}
	return []string{"IdpApp", "IdpSim"}
}

// tally counts what became of requests.
type tally struct {
	kills, lost, doubled int
	calls                calls
}

func (a *tally) add(b tally) {
	a.kills, a.lost, a.doubled = a.kills+b.kills, a.lost+b.lost, a.doubled+b.doubled
	a.calls.made, a.calls.doubled = a.calls.made+b.calls.made, a.calls.doubled+b.calls.doubled
}

// killAt takes one request through the deaths of its servers.
func (k killing) killAt(t *testing.T, points []string, r request) (result tally) {
	t.Helper()
	method := r.method
	folder := shortFolder(t)
	store, key, trace := k.store(t, folder), filepath.Join(folder, "master.key"), filepath.Join(folder, "trace")
	start := func(point string) *sandboxProcess {
		return startSandbox(t, k.program, store, []string{"INNSIGLI_TRACE=" + trace, "INNSIGLI_FAILPOINT=" + point}, "--master-key-file", key)
	}
	server := start(points[0])
	c := server.signIn(t)
	c.addPeople(t, people...)
	r.signal = c.must(t, http.MethodPost, "/api/v1/signing/busy-signal", "").ID
	r.prepare()

	cut, err := r.goOn(t.Context(), c)
	if delivered := points[0] == "signing/delivered"; delivered != (err == nil && cut.Status == http.StatusOK) {
		t.Errorf("%s: before the server died: %v, %v", method, cut, err)
	}
	for i := range points {
		if i > 0 {
			server = start(points[i])
		}
		if !server.dies(t) {
			t.Errorf("%s: the server did not end by SIGKILL: %s\n%s", method, server.command.ProcessState, server.talk())
			return result
		}
		result.kills++
	}

	server = start("")
	c.base = server.BaseURL          // the token is good after the restart too
	if cut.Status != http.StatusOK { // a client that has the document whole finds it free
		r.checkHeld(t, c)
	}
	r.alone = k.alone
	ended, err := r.goOn(t.Context(), c)
	if result.calls = tracedCalls(t, trace); result.calls.stored == 0 || result.calls.doubled > 0 {
		t.Errorf("%s: the calls to the provider: %+v\n%s", method, result.calls, testenv.ReadFile(t, trace))
	}
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
	if r.packing == "" {
		wantStamp(t, ended.SignedFile)
	}
	r.checkFree(t, c)
	if rest, err := server.stop(); err != nil || rest != "" {
		t.Errorf("%s: the end of the server: %q, %v\n%s", method, rest, err, server.talk())
	}
	return result
}

// document is what the tests sign.
var document = pdftest.Build(pdftest.Options{})

// invoice is the XML that they sign, and invoiceText what of it is in every signed document.
const (
	invoiceText = "<to>Þór</to>\r\n<!-- a note --><sum>1000</sum>"
	invoice     = "<invoice xmlns=\"urn:example:invoice\">" + invoiceText + "</invoice>"
)

// request is one signing request as its client sees it over two lives of the server.
type request struct {
	method    string
	packing   string        // of XML; empty: it is a PDF that is signed
	signal    string        // a busy signal's ID
	body      string        // of the start call
	pollingID string        // once the start call was answered
	alone     bool          // no other server has the store: nothing can be in hand there
	pause     time.Duration // between tries; 0: 50 ms
	key       string        // of idempotency; "": one for all
}

// prepare makes the body.
func (r *request) prepare() {
	if r.packing == "" {
		r.body = withStamp(startText(document, people[0], r.method, "B", r.signal), r.method)
		return
	}
	r.prepareFor([]byte(invoice), "B")
}

// prepareFor makes the body for XML.
func (r *request) prepareFor(content []byte, level string) {
	body := strings.Replace(startText(content, people[0], r.method, level, r.signal), `"type":"Pdf"`, `"type":"Xml"`, 1)
	r.body = strings.Replace(body, `"signatureLevel":`, `"signaturePacking":"`+r.packing+`","signatureLevel":`, 1)
}

// goOn does what is left to do, again as long as it is in hand somewhere or the page renderer is not ready.
func (r *request) goOn(ctx context.Context, c *client) (reply, error) {
	for ; ; pause(cmp.Or(r.pause, 50*time.Millisecond)) {
		a, err := r.try(ctx, c)
		inHand := a.Status == http.StatusConflict && !r.alone
		if err != nil || !a.unready() && a.ErrorCode != "AuthorizationPending" && a.ErrorCode != "SlowDown" && !inHand {
			return a, err
		}
	}
}

// unready says that there is no page renderer yet to look for a free place with.
func (a reply) unready() bool {
	return a.Status == http.StatusServiceUnavailable && bytes.Contains(a.Body, []byte("not ready yet to look"))
}

// try makes a start that was cut off again with the same key and body, and polls.
func (r *request) try(ctx context.Context, c *client) (reply, error) {
	if r.pollingID == "" {
		if a, err := r.call(ctx, c); err != nil || a.Status != http.StatusOK {
			return a, err
		}
	}
	return r.call(ctx, c)
}

// call makes one call: the start, or a poll.
func (r *request) call(ctx context.Context, c *client) (reply, error) {
	if r.pollingID != "" {
		return c.call(ctx, http.MethodGet, "/api/v1/signing/"+r.pollingID, nil)
	}
	a, err := c.call(ctx, http.MethodPost, "/api/v1/signing", strings.NewReader(r.body), "Idempotency-Key", cmp.Or(r.key, "one-request"))
	if err == nil && a.Status == http.StatusOK {
		r.pollingID = a.PollingID
	}
	return a, err
}

// startOther starts a request of another person through the same busy signal.
func (r *request) startOther(t *testing.T, c *client) reply {
	t.Helper()
	a, err := c.call(t.Context(), http.MethodPost, "/api/v1/signing", strings.NewReader(startText(document, people[1], "IdpApp", "B", r.signal)))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// checkHeld: the death of the server freed nothing (spec 3.11).
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
	report, kept, err := r.verify(t, signed, rootPool(t, root))
	if err != nil {
		t.Errorf("reading the signed document: %v", err)
		return 0
	}
	if !report.Passed() || !kept {
		t.Errorf("the signed document does not verify: %+v", report.Signatures)
	}
	return len(report.Signatures)
}

// verify also says whether what was signed is in the document as it was.
func (r *request) verify(t *testing.T, signed []byte, roots *x509.CertPool) (report *ades.Report, kept bool, err error) {
	if r.packing == "" {
		report, err = pades.Verify(t.Context(), pades.Document{ReaderAt: bytes.NewReader(signed), Size: int64(len(signed))}, ades.VerifyOptions{Roots: roots})
		return report, bytes.HasPrefix(signed, document), err
	}
	report, err = xades.Verify(t.Context(), xades.Document{ReaderAt: bytes.NewReader(signed), Size: int64(len(signed))}, ades.VerifyOptions{Roots: roots})
	return report, bytes.Contains(signed, []byte(invoiceText)), err
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
