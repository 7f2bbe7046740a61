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
	"slices"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/account"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

const mebibyte = 1 << 20

// sized is a start request whose body is of exactly that many bytes.
func sized(t *testing.T, size int) string {
	t.Helper()
	return filled(t, size, `{"file":{"type":"Pdf","name":"a","contentB64":"`, `"},"signer":{"kennitala":"0101302989","signingMethod":"IdpSim","phone":"5550101"},"advancedSignatureSettings":{"signatureLevel":"B"}}`)
}

// sizedDraft is a body that creates a process, of exactly that many bytes.
func sizedDraft(t *testing.T, size int) string {
	t.Helper()
	return filled(t, size, `{"file":{"name":"a.pdf","contentBase64":"`, `"},"participants":[{"name":"A","email":"a@example.is","role":"Signer"}],"signatureLocation":"TopLeft"}`)
}

// filled is a body of exactly that many bytes, with a document between its head and its tail.
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

// largestImage is the picture with what makes it 2 MiB: a chunk that says nothing, behind its header.
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

// A start in which everything beside the document is as long as it may be is not too large, nor when
// slashes of its image are escaped, as some writers do.
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

// spec 1.6: 30 MiB are taken, a byte more is 413, whether
// Content-Length says so or not, and nothing is left of it.
func TestBodyThatIsTooLarge(t *testing.T) {
	testenv.Slow(t, "bodies of 30 MiB")
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	c.user(person)
	t.Run("30 MiB", func(t *testing.T) {
		c := c.in(t)
		id := c.member(c.call(http.MethodPost, "/api/v1/signing", sized(t, 30*mebibyte)), "pollingId")
		c.signature(c.signed(c.poll(id)))
	})
	for _, size := range []int{30*mebibyte + 1, 31 * mebibyte} {
		t.Run(fmt.Sprintf("%d bytes in chunks", size), func(t *testing.T) {
			c := c.in(t)
			r := c.request(http.MethodPost, "/api/v1/signing", nil)
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(sized(t, size))), -1
			c.wantProblem(c.send(r), http.StatusRequestEntityTooLarge, "Request too large")
			c.wantDocuments(0)
		})
	}
	t.Run("9 MiB beside the content", func(t *testing.T) {
		c := c.in(t)
		r := c.request(http.MethodPost, "/api/v1/signing", nil)
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(`{"a":"`+strings.Repeat("x", 9*mebibyte)+`"}`)), -1
		c.wantProblem(c.send(r), http.StatusRequestEntityTooLarge, "Request too large")
	})
	t.Run("a sandbox user of 2 MiB", func(t *testing.T) {
		c := c.in(t)
		c.wantProblem(c.call(http.MethodPost, users, person.with(fields{"fullName": strings.Repeat("x", 2*mebibyte)})), http.StatusRequestEntityTooLarge, "Request too large")
	})
	t.Run("a webhook of 2 MiB", func(t *testing.T) {
		c := c.colleague(account.ScopePortalWrite).in(t)
		id := c.subscribe("https://hooks.example/")
		for _, call := range []struct{ method, path string }{
			{http.MethodPost, webhooks}, {http.MethodPut, webhooks + "/" + id}, {http.MethodPost, webhooks + "/" + id + "/activate"}, {http.MethodPost, webhooks + "/" + id + "/test"},
		} {
			a := c.call(call.method, call.path, fields{"url": "https://hooks.example/" + strings.Repeat("x", 2*mebibyte)})
			c.wantProblem(a, http.StatusRequestEntityTooLarge, "Request too large")
		}
	})
	c.signature(c.sign(startBody(idpApp)))
	c.wantDocuments(0)
}

// spec 1.6: at once where Content-Length tells: before any of the body has
// come, also to a client that waits to be told to send it.
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

// A client that goes away in the middle of its document leaves nothing behind.
func TestUploadThatBreaksOff(t *testing.T) {
	t.Parallel()
	for path, body := range map[string]string{"/api/v1/signing": sized(t, 4*mebibyte), processes: sizedDraft(t, 4*mebibyte)} {
		t.Run(path, func(t *testing.T) {
			c := start(t, wiring{breaks: true, renderer: blank{}}).client(t, account.Scopes()...)
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
			c.wantNothing()
		})
	}
}
