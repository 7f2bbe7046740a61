package httpapi_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/innsigli/innsigli/httpapi"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
)

// atOnce sends n requests at the same time and returns their answers.
func (c *client) atOnce(n int, r func() *http.Request) []answer {
	c.Helper()
	answers := make([]answer, n)
	var ready, done sync.WaitGroup
	ready.Add(n)
	for i := range n {
		request := r()
		done.Go(func() {
			ready.Done()
			ready.Wait()
			var err error
			if answers[i], err = c.do(request); err != nil {
				c.Error(err)
			}
		})
	}
	done.Wait()
	return answers
}

// statuses returns the statuses of answers, sorted.
func statuses(answers []answer) []int {
	all := make([]int, len(answers))
	for i, a := range answers {
		all[i] = a.status
	}
	slices.Sort(all)
	return all
}

// spec 3.6: one of several concurrent polls gets a failure, the others 404.
func TestPollsAtOnceForAFailure(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	c.user(person.with(fields{"action": "Cancel"}))
	for range 10 {
		id := c.begin(startBody(idpSim))
		answers := c.atOnce(4, func() *http.Request { return c.request(http.MethodGet, "/api/v1/signing/"+id, nil) })
		diff(t, "statuses", []int{400, 404, 404, 404}, statuses(answers))
	}
}

// read polls and reads some bytes of the body. The server holds the rest until the connection is closed.
func (c *client) read(id string, some int) (part []byte, rest io.Reader, conn net.Conn) {
	c.Helper()
	conn, err := c.dial(c.Context(), "tcp", strings.TrimPrefix(c.url, "http://"))
	if err != nil {
		c.Fatal(err)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		if err := tcp.SetReadBuffer(smallBuffer); err != nil {
			c.Fatal(err)
		}
	}
	if _, err := fmt.Fprintf(conn, "GET /api/v1/signing/%s HTTP/1.1\r\nHost: broken\r\nAuthorization: Bearer %s\r\n\r\n", id, c.token); err != nil {
		c.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(iotest.OneByteReader(conn)), nil) // which reads nothing ahead
	if err != nil {
		c.Fatal(err)
	}
	if response.StatusCode != http.StatusOK || response.ContentLength < int64(some) {
		c.Fatalf("status %d with %d bytes", response.StatusCode, response.ContentLength)
	}
	part = make([]byte, some)
	if _, err := io.ReadFull(response.Body, part); err != nil {
		c.Fatal(err)
	}
	return part, response.Body, conn
}

// cutOff polls, reads some bytes of the body and closes the connection.
func (c *client) cutOff(id string, some int) []byte {
	c.Helper()
	part, _, conn := c.read(id, some)
	if err := conn.Close(); err != nil {
		c.Error(err)
	}
	return part
}

// spec 3.6: polling ends only when the whole answer was sent. An answer that was cut off is delivered again, byte for
// byte.
func TestAnswerThatWasCutOff(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{breaks: true}).signer(t)
	c.user(person)
	content := pdftest.Build(pdftest.Options{Payload: 3 * mebibyte})
	id := c.begin(startBody(idpSim).with(fields{"file.contentB64": content}))
	first := c.cutOff(id, 3<<10)
	stored := c.documents.stored(t)
	if len(stored) != 1 {
		t.Fatalf("%d documents", len(stored))
	}
	second := c.cutOff(id, mebibyte)
	a := c.poll(id)
	document := c.signed(a)
	c.signature(document)
	if !bytes.HasPrefix(a.body, first) || !bytes.HasPrefix(a.body, second) {
		t.Error("what came before the cuts is not the beginning of what came at last")
	}
	if !bytes.Equal(document, stored[0]) {
		t.Error("what was stored at the first cut is not what came at last")
	}
	diff(t, "Content-Length", strconv.Itoa(len(a.body)), a.header.Get("Content-Length"))
	c.wantFinished(id)
	c.wantDocuments(0)
}

// The same over pipes, which do not buffer: the answer is cut off at different bytes, also before the last one.
func TestWhereAnAnswerIsCutOff(t *testing.T) {
	t.Parallel()
	bubble(t, wiring{breaks: true}, func(t *testing.T, s *server) {
		c := s.signer(t)
		c.user(person)
		id := c.begin(startBody(idpSim).with(fields{"file.contentB64": pdftest.Build(pdftest.Options{Payload: 100_000})}))
		c.cutOff(id, 0)
		whole := len(`{"signedFileB64":""}`) + base64.StdEncoding.EncodedLen(len(c.documents.stored(t)[0]))
		var parts [][]byte
		for _, some := range []int{1, 1 << 10, whole / 2, whole - 1} {
			parts = append(parts, c.cutOff(id, some))
		}
		a := c.poll(id)
		for _, part := range parts {
			if !bytes.HasPrefix(a.body, part) {
				t.Errorf("%d bytes that were cut off are not the beginning of what came at last", len(part))
			}
		}
		c.signature(c.signed(a))
		c.wantFinished(id)
	})
}

// spec 3.6: one poll delivers, the others wait and get 404. If the first one is cut off, the next one delivers.
func TestPollsThatWaitForADelivery(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cut  bool
		want []int
	}{
		"which takes a minute": {false, []int{404, 404, 404}},
		"which is cut off":     {true, []int{200, 404, 404}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, wiring{breaks: true}, func(t *testing.T, s *server) {
				c := s.signer(t)
				c.user(person)
				id := c.begin(startBody(idpSim).with(fields{"file.contentB64": pdftest.Build(pdftest.Options{Payload: 100_000})}))
				part, rest, conn := c.read(id, 100)
				defer conn.Close()
				var others []answer
				var waiting sync.WaitGroup
				waiting.Go(func() {
					others = c.atOnce(3, func() *http.Request { return c.request(http.MethodGet, "/api/v1/signing/"+id, nil) })
				})
				time.Sleep(time.Minute)
				if test.cut {
					conn.Close()
				} else {
					c.signature(c.signed(answer{http.StatusOK, nil, append(part, readAll(t, rest)...)}))
				}
				waiting.Wait()
				diff(t, "statuses of the others", test.want, statuses(others))
				for _, a := range others {
					if a.status == http.StatusOK {
						c.signature(c.signed(a))
					}
				}
				c.wantDocuments(0)
			})
		})
	}
}

// createUser creates the person without the sandbox paths.
func (s *server) createUser(t *testing.T, account string) {
	t.Helper()
	name, number, telephone := "Sandbox Signer", kennitala, phone
	if _, err := s.people.Create(t.Context(), account, sandbox.Profile{FullName: &name, Kennitala: &number, Phone: &telephone}); err != nil {
		t.Fatal(err)
	}
}

// spec 3.6: the sandbox does not answer SlowDown.
func TestSandboxTakesPollsAtAnyPace(t *testing.T) {
	t.Parallel()
	bubble(t, wiring{}, func(t *testing.T, s *server) {
		c := s.signer(t)
		c.user(person.with(fields{"delayInSecondsBeforeAction": 1}))
		id := c.begin(startBody(idpApp))
		for range 20 {
			c.wantFailure(c.poll(id), pending)
		}
	})
}

// hangingUp closes the client's connection between a poll and its answer.
type hangingUp struct {
	httpapi.Signing
	conn atomic.Pointer[net.Conn]
}

func (h *hangingUp) Poll(ctx context.Context, account, id string, answer func(signing.Answer) error) error {
	return h.Signing.Poll(ctx, account, id, func(a signing.Answer) error {
		if conn := h.conn.Swap(nil); conn != nil {
			(*conn).Close()
			<-ctx.Done() // the server has noticed
		}
		return answer(a)
	})
}

// spec 3.6: a result whose client has disconnected is delivered at the next poll.
func TestClientThatHungUpBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	var h *hangingUp
	s := start(t, wiring{breaks: true, signing: func(real httpapi.Signing) httpapi.Signing {
		h = &hangingUp{Signing: real}
		return h
	}})
	for action, want := range map[string]int{"Success": http.StatusOK, "Cancel": http.StatusBadRequest} {
		t.Run(action, func(t *testing.T) {
			c := s.signer(t)
			c.user(person.with(fields{"action": action}))
			id := c.begin(startBody("IdpSim"))
			conn, err := s.dial(t.Context(), "tcp", c.request("GET", "/", nil).URL.Host)
			if err != nil {
				t.Fatal(err)
			}
			h.conn.Store(&conn)
			r := c.request("GET", "/api/v1/signing/"+id, nil)
			if err := r.Write(conn); err != nil {
				t.Fatal(err)
			}
			var one [1]byte
			if _, err := conn.Read(one[:]); err == nil {
				t.Fatal("the client that hung up got an answer")
			}
			a := c.poll(id)
			if a.status != want {
				t.Errorf("status %d, want %d", a.status, want)
			}
			c.wantFinished(id)
		})
	}
}
