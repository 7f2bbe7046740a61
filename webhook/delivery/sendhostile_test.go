package delivery

import (
	"bytes"
	"compress/gzip"
	"io"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/webhook"
)

// What is answered has bounds in time and memory: the sender takes little of it, and not for long.
func TestAnswersHaveBounds(t *testing.T) {
	t.Parallel()
	const (
		tooLong = "What came is not an answer over HTTP/1.1, or its headers are longer than 32 KiB."
		late    = "There was no answer within 15 seconds."
		broke   = "The connection broke before there was an answer."
	)
	endlessly := func(start, more string) func(w io.Writer) {
		return func(w io.Writer) {
			io.WriteString(w, start)
			chunk := []byte(strings.Repeat(more, 1+4096/len(more)))
			for {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		}
	}
	slowly := func(start string) func(w io.Writer) {
		return func(w io.Writer) {
			io.WriteString(w, start)
			for {
				time.Sleep(20 * time.Millisecond) // time: in a bubble
				if _, err := io.WriteString(w, "a"); err != nil {
					return
				}
			}
		}
	}
	says := func(text string) func(w io.Writer) {
		return func(w io.Writer) { io.WriteString(w, text) }
	}
	for _, test := range []struct {
		name  string
		serve func(w io.Writer)
		want  answer
	}{
		{"a body without end", endlessly("HTTP/1.1 200 OK\r\n\r\n", "a"), answer{status: 200}},
		{"a chunk without end", endlessly("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffff\r\n", "a"), answer{status: 200}},
		{"chunks without end", endlessly("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\na\r\n"), answer{status: 200}},
		{"an extension of a chunk without end", endlessly("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", "a"), answer{status: 200}},
		{"a trailer without end", endlessly("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "A: b\r\n"), answer{status: 200}},
		{"headers without end", endlessly("HTTP/1.1 200 OK\r\n", "A: b\r\n"), answer{failure: BadAnswer, detail: tooLong}},
		{"a header without end", endlessly("HTTP/1.1 200 OK\r\nA: ", "b"), answer{failure: BadAnswer, detail: tooLong}},
		{"a status without end", endlessly("HTTP/1.1 200 ", "O"), answer{failure: BadAnswer, detail: tooLong}},
		{"interim answers without end", endlessly("", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"), answer{failure: BadAnswer, detail: tooLong}},
		{"100 without end", endlessly("", "HTTP/1.1 100 Continue\r\n\r\n"), answer{failure: BadAnswer, detail: tooLong}},
		{"some interim answers", says("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n"), answer{status: 204}},
		{"another protocol", says("HTTP/1.1 101 Switching Protocols\r\nUpgrade: a\r\nConnection: upgrade\r\n\r\n"), answer{status: 101}},
		{"zeros without end", endlessly("", "\x00"), answer{failure: BadAnswer, detail: tooLong}},
		{"what is no HTTP", says("220 mail.example.com ESMTP\r\n"), answer{failure: BadAnswer, detail: tooLong}},
		{"HTTP/2 at once", says("\x00\x00\x00\x04\x00\x00\x00\x00\x00\r\n\r\n"), answer{failure: BadAnswer, detail: tooLong}},
		{"two lengths", says("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"), answer{failure: BadAnswer, detail: tooLong}},
		{"a slow body", slowly("HTTP/1.1 200 OK\r\n\r\n"), answer{status: 200, took: bodyTime}},
		{"a body that stalls", func(w io.Writer) {
			io.WriteString(w, "HTTP/1.1 200 OK\r\n\r\n")
			time.Sleep(time.Hour) // time: in a bubble
		}, answer{status: 200, took: bodyTime}},
		{"a slow header", slowly("HTTP/1.1 200 OK\r\nA: "), answer{failure: TimedOut, detail: late, took: webhook.ResponseTimeout}},
		{"a slow status", slowly(""), answer{failure: TimedOut, detail: late, took: webhook.ResponseTimeout}},
		{"nothing", func(io.Writer) {}, answer{failure: NoConnection, detail: broke}},
		{"a part of the status", says("HTTP/1.1 20"), answer{failure: BadAnswer, detail: tooLong}},
		{"a status alone", says("HTTP/1.1 200 OK\r\n"), answer{failure: NoConnection, detail: broke}},
		{"a part of the body", says("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\na"), answer{status: 200}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var sent atomic.Int64
				s := pipeSender(t, func(c net.Conn) {
					if readRequest(c) {
						test.serve(&counter{c, &sent})
					}
				})
				begun := time.Now()
				a := s.post(t.Context(), messageTo("http://127.0.0.1/"))
				if took := time.Since(begun); took != a.took {
					t.Errorf("took %v", took)
				}
				if diff := cmp.Diff(test.want, a, cmp.AllowUnexported(answer{})); diff != "" {
					t.Error(diff)
				}
				if n := sent.Load(); n > 2*headLimit {
					t.Errorf("%d bytes were taken", n)
				}
			})
		})
	}
}

func TestResetBehindTheStatus(t *testing.T) {
	t.Parallel()
	address := rawEndpoint(t, func(c net.Conn) {
		readRequest(c)
		io.WriteString(c, "HTTP/1.1 200 OK\r\n")
		c.(*net.TCPConn).SetLinger(0)
	})
	a := trialSender(t, Endpoints{AllowPrivate: true}).post(t.Context(), messageTo("http://"+address))
	want := answer{failure: NoConnection, detail: "The connection broke before there was an answer."}
	if diff := cmp.Diff(want, untimed(a), cmp.AllowUnexported(answer{})); diff != "" {
		t.Error(diff)
	}
}

// counter counts what is written.
type counter struct {
	io.Writer
	n *atomic.Int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.n.Add(int64(n))
	return n, err
}

// Nothing is decompressed, and nothing kept of what is too long.
func TestHostileAnswersTakeLittleMemory(t *testing.T) {
	testenv.Slow(t, "a gzip bomb of 64 MB is made")
	var bomb bytes.Buffer
	bomb.WriteString("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n\r\n")
	z := gzip.NewWriter(&bomb)
	zeros := make([]byte, 1<<20)
	for range 64 {
		z.Write(zeros)
	}
	z.Close()
	for name, says := range map[string][]byte{
		"a gzip bomb": bomb.Bytes(),
		"a body":      append([]byte("HTTP/1.1 200 OK\r\n\r\n"), zeros...),
		"headers":     append([]byte("HTTP/1.1 200 OK\r\n"), bytes.Repeat([]byte("A: b\r\n"), 1<<18)...),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := pipeSender(t, func(c net.Conn) {
					if readRequest(c) {
						c.Write(says)
					}
				})
				const requests, each = 32, 512 << 10
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				for range requests {
					s.post(t.Context(), messageTo("http://127.0.0.1/"))
				}
				runtime.ReadMemStats(&after)
				if took := after.TotalAlloc - before.TotalAlloc; took > requests*each {
					t.Errorf("%d bytes for %d requests", took, requests)
				}
			})
		})
	}
}
