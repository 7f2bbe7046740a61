package webhook_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/webhook"
)

// pipes is a listener whose only connection is in memory, where a bubble's clock counts.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// connect serves an endpoint, without limits of the server's own, and connects to it.
func connect(t *testing.T, e *receiving) net.Conn {
	client, server := net.Pipe()
	listener := make(pipes, 1)
	listener <- server
	s := &http.Server{Handler: e.handler}
	served := make(chan error, 1)
	go func() { served <- s.Serve(listener) }()
	t.Cleanup(func() {
		client.Close()
		s.Close()
		if err := <-served; err != http.ErrServerClosed {
			t.Error(err)
		}
	})
	return client
}

// head is a request up to its body.
func (e *receiving) head(id, body string) string {
	now := time.Now()
	return fmt.Sprintf("POST /hooks HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\nwebhook-id: %s\r\nwebhook-timestamp: %d\r\nwebhook-signature: %s\r\n\r\n",
		len(body), id, now.Unix(), webhook.SignV1(e.secret, id, now, []byte(body)))
}

func write(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := c.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
}

func status(t *testing.T, c net.Conn) int {
	t.Helper()
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode
}

// A body that does not arrive within the 15 seconds holds nothing up for longer.
func TestSlowBodies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newReceiving(t, webhook.Receiver{})
		c, begun := connect(t, e), time.Now()
		write(t, c, e.head("1", eventBody)+eventBody[:10])
		if got, took := status(t, c), time.Since(begun); got != http.StatusBadRequest || took != 15*time.Second {
			t.Errorf("%d after %v", got, took)
		}
	})
}

// The context of an event ends when the sender gives up, and not before.
func TestEventsHaveTheTimeOfTheirRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newReceiving(t, webhook.Receiver{})
		begun, ended := time.Now(), make(chan time.Duration, 1)
		e.handler = e.Handler(func(ctx context.Context, _ webhook.Event) error {
			<-ctx.Done()
			ended <- time.Since(begun)
			return ctx.Err()
		})
		c := connect(t, e)
		write(t, c, e.head("1", eventBody)+eventBody)
		time.Sleep(time.Minute)
		c.Close()
		if took := <-ended; took != time.Minute {
			t.Errorf("ended after %v", took)
		}
	})
}
