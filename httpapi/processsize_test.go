package httpapi_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/internal/pdftest"
)

// service.md 8 and decisions.md 2.6: 30 MiB are taken, a byte more is not, nor much beside the document;
// the calls without a document take less.
func TestProcessThatIsTooLarge(t *testing.T) {
	c := start(t, empty).sender(t)
	c.want(c.call(http.MethodDelete, pathOf(c.made(sizedDraft(t, 30*mebibyte))), nil), http.StatusNoContent, nil)
	for name, body := range map[string]string{
		"a byte more":               sizedDraft(t, 30*mebibyte+1),
		"a name of 1 MiB":           written(t, of(invitee.with(fields{"name": strings.Repeat("x", mebibyte)}))),
		"a member that is not read": `{"a":"` + strings.Repeat("x", mebibyte) + `",` + written(t, draft)[1:],
	} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			r := c.request(http.MethodPost, processes, nil)
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), -1
			c.wantProblem(c.send(r), http.StatusRequestEntityTooLarge, "Request too large")
			c.wantNothing()
		})
	}
	made := c.made(draft)
	for _, call := range []string{"sign", "decline"} {
		a := c.call(http.MethodPost, answering(made, 0, call), fields{"reason": strings.Repeat("x", 2*mebibyte)})
		c.wantProblem(a, http.StatusRequestEntityTooLarge, "Request too large")
	}
	diff(t, "process", made, c.shown(made))
}

// A document goes through in pieces: a process with one of 22 MB is made, and read, with 16 MB of heap
// beside what the page is drawn in.
func TestHeapOfALargeProcess(t *testing.T) {
	const most = 16_000_000
	c := start(t, empty).sender(t)
	body := largeDraft(t)
	c.made(draft)                                    // what is made once and for all is there then
	defer debug.SetGCPercent(debug.SetGCPercent(20)) // little is counted that is not held any more
	var made object
	if grown := heapDuring(t, func() {
		r := c.request(http.MethodPost, processes, nil)
		r.Body, r.ContentLength = body, -1
		made = c.process(http.StatusCreated, c.send(r))
	}); grown > most {
		t.Errorf("making it took %d bytes", grown)
	}
	if grown := heapDuring(t, func() {
		response, err := c.http.Do(c.request(http.MethodGet, pathOf(made)+"/document", nil))
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if n, err := io.Copy(io.Discard, response.Body); n < 29_000_000 || err != nil {
			t.Errorf("%d bytes, %v", n, err)
		}
	}); grown > most {
		t.Errorf("reading it took %d bytes", grown)
	}
}

// largeDraft is a body that creates a process of a document of 22 MB, in a file.
func largeDraft(t *testing.T) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "body.json")
	body := written(t, draft.with(fields{"file.contentBase64": pdftest.Build(pdftest.Options{Payload: 22_000_000})}))
	if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() }) // the client has closed it
	return file
}

// heapDuring is by how much the heap is larger while f runs than before, at most.
func heapDuring(t *testing.T, f func()) (grown uint64) {
	t.Helper()
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	read := func() uint64 {
		metrics.Read(heap)
		return heap[0].Value.Uint64()
	}
	runtime.GC()
	before, done, sampled := read(), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(sampled)
		for {
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
				now := read()
				grown = max(grown, now-min(before, now))
			}
		}
	}()
	f()
	close(done)
	<-sampled
	return grown
}
