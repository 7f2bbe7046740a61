package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/xades"
)

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

// startOther starts a request of somebody else through the same busy signal.
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
