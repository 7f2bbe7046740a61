package httpapi_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

// spec 1.6: 30 MiB are taken, a byte more is not, nor much beside the document;
// the calls without a document take less.
func TestProcessThatIsTooLarge(t *testing.T) {
	testenv.Slow(t, "documents of 30 MiB")
	t.Parallel()
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

// A document goes through in pieces, and is held nowhere as a whole: that would take its 22 MB at least beside what is
// allocated to make a process of it, which is some 40 MB, and to read it, some 6 MB.
func TestMemoryOfALargeProcess(t *testing.T) {
	testenv.Slow(t, "a document of 22 MB goes in and out")
	const making, reading = 52_000_000, 8_000_000
	c := start(t, empty).sender(t)
	body := largeDraft(t)
	c.made(draft) // what is made once and for all is there then
	var made object
	if took := allocatedDuring(func() {
		r := c.request(http.MethodPost, processes, nil)
		r.Body, r.ContentLength = body, -1
		made = c.process(http.StatusCreated, c.send(r))
	}); took > making {
		t.Errorf("making it took %d bytes", took)
	}
	if took := allocatedDuring(func() {
		response, err := c.http.Do(c.request(http.MethodGet, pathOf(made)+"/document", nil))
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if n, err := io.Copy(io.Discard, response.Body); n < 29_000_000 || err != nil {
			t.Errorf("%d bytes, %v", n, err)
		}
	}); took > reading {
		t.Errorf("reading it took %d bytes", took)
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

// allocatedDuring is how many bytes were ever allocated while f ran.
func allocatedDuring(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before) // time: what was ever allocated is a count of work
	f()
	runtime.ReadMemStats(&after) // time: as above
	return after.TotalAlloc - before.TotalAlloc
}
