package httpapi_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/httpapi"
	"github.com/innsigli/innsigli/internal/admission"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

// begins sends the head of a request, whose body is of that many bytes and is still to come.
func (c *client) begins(path string, size int) net.Conn {
	c.Helper()
	conn, err := c.dial(c.Context(), "tcp", strings.TrimPrefix(c.url, "http://"))
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { conn.Close() })
	if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: room\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", path, c.token, size); err != nil {
		c.Fatal(err)
	}
	return conn
}

// Bodies under way are bounded by their bytes. What does not fit waits for a while, and is then told to come
// back; an account has half, and others are let in beside it.
func TestRoomForBodies(t *testing.T) {
	t.Parallel()
	underWay := make(map[string]func() int64)
	watch := func(what string, bytes func() int64) { underWay[what] = bytes }
	w := wiring{breaks: true, limits: httpapi.Limits{Documents: 60 * mebibyte, Watch: watch}}
	bubble(t, w, func(t *testing.T, s *server) {
		c := s.signer(t)
		c.user(person)
		slow := c.begins("/api/v1/signing", 25*mebibyte)
		synctest.Wait()
		diff(t, "under way", int64(25*mebibyte), underWay["requests"]())
		began := time.Now()
		body := sized(t, 10*mebibyte)
		a := c.call(http.MethodPost, "/api/v1/signing", body)
		c.wantProblem(a, http.StatusServiceUnavailable, "Service unavailable")
		diff(t, "Retry-After", "2", a.header.Get("Retry-After"))
		diff(t, "waited", 10*time.Second, time.Since(began))

		other := s.signer(t)
		other.user(person)
		diff(t, "another account", http.StatusOK, other.call(http.MethodPost, "/api/v1/signing", body).status)
		diff(t, "a small one", http.StatusOK, c.call(http.MethodPost, "/api/v1/signing", startBody(idpApp)).status)

		waits := make(chan int)
		go func() { waits <- c.call(http.MethodPost, "/api/v1/signing", body).status }()
		time.Sleep(5 * time.Second)
		slow.Close()
		diff(t, "once there is room", http.StatusOK, <-waits)
		s.stop()
		for what, bytes := range underWay {
			diff(t, what+" in the end", int64(0), bytes())
		}
	})
}

// Answers with documents are bounded likewise. A result that found no room is there for a later poll, and so
// is one whose reader went away.
func TestRoomForAnswers(t *testing.T) {
	t.Parallel()
	w := wiring{breaks: true, limits: httpapi.Limits{Documents: 2000}} // every document counts as a whole share
	bubble(t, w, func(t *testing.T, s *server) {
		c := s.signer(t)
		c.user(person)
		large := fields{"file.contentB64": pdftest.Build(pdftest.Options{Payload: mebibyte})}
		first, second := c.begin(startBody(idpSim).with(large)), c.begin(startBody(idpSim).with(large))
		slow, err := c.dial(t.Context(), "tcp", strings.TrimPrefix(c.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(slow, "GET /api/v1/signing/%s HTTP/1.1\r\nHost: room\r\nAuthorization: Bearer %s\r\n\r\n", first, c.token)
		if _, err := io.CopyN(io.Discard, slow, 1000); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		a := c.poll(second)
		c.wantProblem(a, http.StatusServiceUnavailable, "Service unavailable")
		diff(t, "Retry-After", "2", a.header.Get("Retry-After"))
		diff(t, "waited", 10*time.Second, time.Since(began))
		slow.Close()
		synctest.Wait()
		c.signed(c.poll(second))
		c.signed(c.poll(first))
	})
}

// Who is refused before its body has come gets the answer all the same, and the connection is good for the
// next request.
func TestRefusedWhileSending(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	c.token = "none of its tokens"
	conn := c.begins("/api/v1/signing", 25*mebibyte)
	sent := make(chan error, 1)
	go func() {
		_, err := io.CopyN(conn, endless{}, 25*mebibyte)
		sent <- err
	}()
	if err := <-sent; err != nil { // first it sends, and then it reads
		t.Fatal(err)
	}
	r := bufio.NewReader(conn)
	response, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "status", http.StatusUnauthorized, response.StatusCode)
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "GET /healthz HTTP/1.1\r\nHost: room\r\n\r\n")
	if response, err = http.ReadResponse(r, nil); err != nil {
		t.Fatal(err)
	}
	diff(t, "the next", http.StatusOK, response.StatusCode)
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// What of a body is held in memory has room of its own: those with much of it wait for one another, and those
// with little do not.
func TestRoomForWhatIsHeld(t *testing.T) {
	t.Parallel()
	bubble(t, wiring{breaks: true}, func(t *testing.T, s *server) {
		c := s.signer(t)
		var slow []net.Conn
		for range 4 { // 8 MiB each may be needed, of 32 for an account
			conn := c.begins("/api/v1/signing", 5*mebibyte)
			if _, err := io.WriteString(conn, `{"ignored":"`+strings.Repeat("x", 200<<10)); err != nil {
				t.Fatal(err)
			}
			slow = append(slow, conn)
		}
		synctest.Wait()
		much := `{"ignored":"` + strings.Repeat("x", 100<<10) + `"}`
		a := c.call(http.MethodPost, "/api/v1/signing", much)
		c.wantProblem(a, http.StatusServiceUnavailable, "Service unavailable")
		diff(t, "little", http.StatusOK, c.call(http.MethodPost, "/api/v1/signing/busy-signal", `{"ignored":"`+strings.Repeat("x", 10<<10)+`"}`).status)
		diff(t, "much for another path", http.StatusServiceUnavailable, c.call(http.MethodPost, "/api/v1/signing/busy-signal", much).status)
		slow[0].Close()
		synctest.Wait()
		diff(t, "then", http.StatusOK, c.call(http.MethodPost, "/api/v1/signing/busy-signal", much).status)
	})
}

// A body that comes too slowly is cut off, and the client is told so; nothing of its document stays.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	w := wiring{breaks: true, around: admission.MinRate{Grace: 10 * time.Second, Rate: 1000}.Handler}
	bubble(t, w, func(t *testing.T, s *server) {
		c := s.signer(t)
		conn := c.begins("/api/v1/signing", 4*mebibyte)
		if _, err := io.WriteString(conn, sized(t, 4*mebibyte)[:2*mebibyte]); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		diff(t, "after", 10*time.Second, time.Since(began))
		diff(t, "status", http.StatusBadRequest, response.StatusCode)
		if body := string(readAll(t, response.Body)); !strings.Contains(body, "too slowly") {
			t.Error(body)
		}
		conn.Close()
		synctest.Wait()
		c.wantDocuments(0)
	})
}
