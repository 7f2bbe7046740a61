package httpapi_test

import (
	"bufio"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/account"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

const mebibyte = 1 << 20

// sized returns a start request of exactly size bytes.
func sized(t *testing.T, size int) string {
	t.Helper()
	return filled(t, size, `{"file":{"type":"Pdf","name":"a","contentB64":"`, `"},"signer":{"kennitala":"0101302989","signingMethod":"IdpSim","phone":"5550101"},"advancedSignatureSettings":{"signatureLevel":"B"}}`)
}

// sizedDraft returns a body of exactly size bytes that creates a process.
func sizedDraft(t *testing.T, size int) string {
	t.Helper()
	return filled(t, size, `{"file":{"name":"a.pdf","contentBase64":"`, `"},"participants":[{"name":"A","email":"a@example.is","role":"Signer"}],"signatureLocation":"TopLeft"}`)
}

// filled returns a body of exactly size bytes, with a document between head and tail.
func filled(t *testing.T, size int, head, tail string) string {
	t.Helper()
	empty := len(pdftest.Build(pdftest.Options{Payload: 1})) + 8 // the length and the offsets take digits
	content := pdftest.Build(pdftest.Options{Payload: (size-len(head)-len(tail))/4*3 - empty - 4})
	body := head + base64.StdEncoding.EncodeToString(content) + tail
	if len(body) > size || size-len(body) > 100 {
		t.Fatalf("a body of %d bytes does not become one of %d", len(body), size)
	}
	return body + strings.Repeat(" ", size-len(body))
}

// largestImage returns an image of 2 MiB, most of which is a chunk that decoders ignore.
func largestImage(t *testing.T) []byte {
	t.Helper()
	small := pngPicture(t)
	const header, frame = 33, 12
	chunk := append([]byte("juNk"), make([]byte, 2*mebibyte-len(small)-frame)...)
	rand.NewChaCha8([32]byte{}).Read(chunk[4:]) // so that there are as many slashes as in any image
	framed := binary.BigEndian.AppendUint32(nil, uint32(len(chunk)-4))
	framed = append(framed, chunk...)
	framed = binary.BigEndian.AppendUint32(framed, crc32.ChecksumIEEE(chunk))
	return slices.Concat(small[:header], framed, small[header:])
}

// A start with the longest permitted value in each field is accepted, also if the slashes in its image are escaped.
func TestLargestFields(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	c.user(person)
	image := largestImage(t)
	diff(t, "bytes of the image", 2*mebibyte, len(image))
	place := strings.Repeat("\U0001F58B", 64)
	body := written(t, startBody(idpApp).with(manual).with(fields{
		"signatureImage.imageB64": "?", "signatureImage.imageType": "Png", "signatureImage.width": 80, "signatureImage.height": 40,
		"file.name": strings.Repeat(place, 4), "signer.country": place, "signer.city": place, "signer.reason": strings.Repeat("á", 64),
		"busySignal.id": c.signal(), "busySignal.userId": strings.Repeat(place, 8),
	}))
	encoded := base64.StdEncoding.EncodeToString(image)
	diff(t, "status", http.StatusOK, c.call(http.MethodPost, "/api/v1/signing", strings.Replace(body, `"?"`, `"`+strings.ReplaceAll(encoded, "/", `\/`)+`"`, 1)).status)
}

// spec 1.6: the server accepts 30 MiB, and answers a byte more with 413, also if no Content-Length announces it. Without
// the document, a body may be smaller. Nothing of a refused body is stored.
func TestBodyThatIsTooLarge(t *testing.T) {
	testenv.Slow(t, "bodies of 30 MiB")
	t.Parallel()
	c := start(t, empty).sender(t)
	c.user(person)
	id := c.member(c.call(http.MethodPost, signingPath, sized(t, 30*mebibyte)), "pollingId")
	c.signature(c.signed(c.poll(id)))
	c.want(c.call(http.MethodDelete, pathOf(c.made(sizedDraft(t, 30*mebibyte))), nil), http.StatusNoContent, nil)
	long := strings.Repeat("x", mebibyte)
	for name, test := range map[string]struct{ path, body string }{
		"a start of a byte more":                {signingPath, sized(t, 30*mebibyte+1)},
		"a start of a mebibyte more":            {signingPath, sized(t, 31*mebibyte)},
		"a start of 9 MiB without the document": {signingPath, `{"a":"` + strings.Repeat(long, 9) + `"}`},
		"a process of a byte more":              {processes, sizedDraft(t, 30*mebibyte+1)},
		"a name of 1 MiB":                       {processes, written(t, of(invitee.with(fields{"name": long})))},
		"an unknown member of 1 MiB":            {processes, `{"a":"` + long + `",` + written(t, draft)[1:]},
	} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			r := c.request(http.MethodPost, test.path, nil)
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(test.body)), -1
			c.wantProblem(c.send(r), http.StatusRequestEntityTooLarge, "Request too large")
			c.wantNothingStored()
		})
	}
	hook, made := c.subscribe("https://hooks.example/"), c.made(draft)
	for _, call := range []struct{ method, path string }{
		{http.MethodPost, signingPath + "/busy-signal"}, {http.MethodPost, users}, {http.MethodPut, users + "/x"}, {http.MethodPost, answering(made, 0, "sign")}, {http.MethodPost, answering(made, 0, "decline")},
		{http.MethodPost, webhooks}, {http.MethodPut, webhooks + "/" + hook}, {http.MethodPost, webhooks + "/" + hook + "/activate"}, {http.MethodPost, webhooks + "/" + hook + "/test"},
	} {
		c.wantProblem(c.call(call.method, call.path, fields{"reason": long + long}), http.StatusRequestEntityTooLarge, "Request too large")
	}
	diff(t, "process", made, c.shown(made))
}

// spec 1.6: if the Content-Length is too large, the server answers before it has received the body, also to a client
// that waits for 100 Continue.
func TestTooLargeIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).client(t, account.Scopes()...)
	for name, test := range map[string]struct {
		path, header string
		size         int
	}{
		"31 MiB":                    {"/api/v1/signing", "", 31 * mebibyte},
		"31 MiB, Expect":            {"/api/v1/signing", "Expect: 100-continue\r\n", 31 * mebibyte},
		"a byte more":               {"/api/v1/signing", "", 30*mebibyte + 1},
		"a byte more for a process": {processes, "", 30*mebibyte + 1},
		"1 MiB for a token":         {"/api/v1/auth/token", "", mebibyte},
		"1 MiB to revoke a token":   {"/api/v1/auth/revoke", "", mebibyte},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := c.dial(t.Context(), "tcp", strings.TrimPrefix(c.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: large\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n", test.path, c.token, test.header, test.size); err != nil {
				t.Fatal(err)
			}
			response, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			diff(t, "status", http.StatusRequestEntityTooLarge, response.StatusCode)
		})
	}
}

// Nothing is stored of a document whose client closes the connection in the middle.
func TestUploadThatBreaksOff(t *testing.T) {
	t.Parallel()
	for path, body := range map[string]string{"/api/v1/signing": sized(t, 4*mebibyte), processes: sizedDraft(t, 4*mebibyte)} {
		t.Run(path, func(t *testing.T) {
			c := start(t, wiring{breaks: true, renderer: pdftest.Blank{}}).client(t, account.Scopes()...)
			conn, err := c.dial(t.Context(), "tcp", strings.TrimPrefix(c.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: broken\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s", path, c.token, len(body), body[:len(body)/2]); err != nil {
				t.Fatal(err)
			}
			if err := conn.Close(); err != nil {
				t.Fatal(err)
			}
			c.stop()
			c.wantNothingStored()
		})
	}
}

// A document is streamed and never held in memory as a whole. That would take at least 22 MB more than the 40 MB to
// create the process, and the 6 MB to read its document.
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

// largeDraft returns a file with a body that creates a process with a document of 22 MB.
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

// allocatedDuring returns how many bytes f allocated in total.
func allocatedDuring(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before) // time: what was ever allocated is a count of work
	f()
	runtime.ReadMemStats(&after) // time: as above
	return after.TotalAlloc - before.TotalAlloc
}
