package webhook_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/webhook"
)

const eventBody = `{"type":"process.completed","timestamp":"2026-06-17T12:00:00+00:00","data":{"n":1}}`

// endpoint is a receiver under test, with the events and reports that it got.
type endpoint struct {
	webhook.Receiver
	t       *testing.T
	secret  []byte
	fails   error // returned by the handler
	handled []webhook.Event
	reports []error
	handler http.Handler
}

func newEndpoint(t *testing.T, r webhook.Receiver) *endpoint {
	e := &endpoint{Receiver: r, t: t, secret: mustHex(t, hexSecret)}
	if r.Keys == nil && r.GetKeys == nil {
		e.Keys = []webhook.Key{webhook.Secret(e.secret)}
	}
	e.Report = func(_ *http.Request, err error) { e.reports = append(e.reports, err) }
	e.handler = e.Handler(func(_ context.Context, event webhook.Event) error {
		e.handled = append(e.handled, event)
		return e.fails
	})
	return e
}

// send sends a request that is signed with the current time.
func (e *endpoint) send(id, body string) *httptest.ResponseRecorder {
	now := time.Now()
	return e.post(headers(id, now, webhook.SignV1(e.secret, id, now, []byte(body))), strings.NewReader(body))
}

func (e *endpoint) post(h http.Header, body io.Reader) *httptest.ResponseRecorder {
	request := httptest.NewRequest(http.MethodPost, "/hooks", body)
	request.Header = h
	response := httptest.NewRecorder()
	e.handler.ServeHTTP(response, request)
	return response
}

// wants sends an event and checks the status of the response, and how many events were handled so far.
func (e *endpoint) wants(id, body string, status, handled int) {
	e.t.Helper()
	if got := e.send(id, body); got.Code != status || len(e.handled) != handled {
		e.t.Errorf("%s: %d after %d calls, want %d after %d", id, got.Code, len(e.handled), status, handled)
	}
}

func TestEventsAreHandledOnce(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, webhook.Receiver{})
	e.wants("1", eventBody, http.StatusNoContent, 1)
	e.wants("1", eventBody, http.StatusNoContent, 1)
	e.wants("2", eventBody, http.StatusNoContent, 2)
	at := time.Date(2026, 6, 17, 12, 0, 0, 0, time.UTC)
	want := []webhook.Event{
		{ID: "1", Type: "process.completed", Timestamp: at, Data: []byte(`{"n":1}`)},
		{ID: "2", Type: "process.completed", Timestamp: at, Data: []byte(`{"n":1}`)},
	}
	if diff := cmp.Diff(want, e.handled); diff != "" || e.reports != nil {
		t.Error(diff, e.reports)
	}
}

// An event whose handler failed is handled when it is sent again.
func TestHandlerFails(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, webhook.Receiver{})
	e.fails = io.ErrUnexpectedEOF
	e.wants("1", eventBody, http.StatusInternalServerError, 1)
	e.wants("1", eventBody, http.StatusInternalServerError, 2)
	e.fails = nil
	e.wants("1", eventBody, http.StatusNoContent, 3)
	e.wants("1", eventBody, http.StatusNoContent, 3)
	if len(e.reports) != 2 || !errors.Is(e.reports[0], io.ErrUnexpectedEOF) {
		t.Error(e.reports)
	}
}

// Requests are verified first: a repeated event or a ping that does not verify is refused (spec 5.5).
func TestRequestsAreVerifiedFirst(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, webhook.Receiver{})
	e.wants("1", eventBody, http.StatusNoContent, 1)
	now := time.Now()
	other := webhook.SignV1(make([]byte, 32), "1", now, []byte(eventBody))
	for name, body := range map[string]string{"repeated": eventBody, "ping": `{"type":"webhook.ping","timestamp":"2026-06-17T12:00:00Z","data":{}}`, "none": ""} {
		got := e.post(headers("1", now, other), strings.NewReader(body))
		if got.Code != http.StatusUnauthorized || got.Body.String() != "The request does not verify.\n" || len(e.handled) != 1 {
			t.Errorf("%s: %d %q, %d calls", name, got.Code, got.Body, len(e.handled))
		}
	}
	if len(e.reports) != 3 || !errors.Is(e.reports[0], webhook.ErrSignature) {
		t.Error(e.reports)
	}
}

// The response does not reveal why a request does not verify.
func TestResponsesOfRequestsThatDoNotVerify(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, webhook.Receiver{})
	responses := make(map[string]int)
	for _, h := range []http.Header{
		{},
		headers("a.b", time.Now(), hexV1),
		headers("a", time.Now().Add(-time.Hour), hexV1),
		headers("a", time.Now().Add(time.Hour), hexV1),
		headers("a", time.Now(), hexV1),
		headers("a", time.Now(), strings.Repeat(hexV1+" ", 100)),
	} {
		got := e.post(h, strings.NewReader("{}"))
		responses[got.Body.String()]++
		if got.Code != http.StatusUnauthorized {
			t.Errorf("%v: %d", h, got.Code)
		}
	}
	if len(responses) != 1 || len(e.reports) != 6 {
		t.Error(responses, e.reports)
	}
}

// Pings are not passed to the handler, and their IDs are not recorded.
func TestPings(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, webhook.Receiver{})
	e.wants("1", `{"type":"webhook.ping","timestamp":"2026-06-17T12:00:00Z","data":{}}`, http.StatusNoContent, 0)
	e.wants("1", eventBody, http.StatusNoContent, 1)
}

// A panic of the handler is not recovered, and the event is handled when it is sent again.
func TestHandlerPanics(t *testing.T) {
	t.Parallel()
	calls := 0
	e := newEndpoint(t, webhook.Receiver{})
	e.handler = e.Handler(func(context.Context, webhook.Event) error {
		if calls++; calls == 1 {
			panic(http.ErrAbortHandler)
		}
		return nil
	})
	func() {
		defer func() {
			if p := recover(); p != http.ErrAbortHandler {
				t.Errorf("recovered: %v", p)
			}
		}()
		e.send("1", eventBody)
	}()
	for range 2 {
		if got := e.send("1", eventBody); got.Code != http.StatusNoContent || calls != 2 {
			t.Errorf("%d after %d calls", got.Code, calls)
		}
	}
}

// An event that is being handled is refused, so that it is not handled twice at the same time.
func TestConcurrentRepeats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		e := newEndpoint(t, webhook.Receiver{})
		e.handler = e.Handler(func(context.Context, webhook.Event) error {
			calls++
			time.Sleep(10 * time.Second)
			return nil
		})
		first := make(chan int)
		go func() { first <- e.send("1", eventBody).Code }()
		synctest.Wait()
		if got := e.send("1", eventBody); got.Code != http.StatusConflict || calls != 1 {
			t.Errorf("%d after %d calls", got.Code, calls)
		}
		if got := e.send("2", eventBody); got.Code != http.StatusNoContent || calls != 2 {
			t.Errorf("another event: %d after %d calls", got.Code, calls)
		}
		if got := <-first; got != http.StatusNoContent {
			t.Error(got)
		}
		if got := e.send("1", eventBody); got.Code != http.StatusNoContent || calls != 2 {
			t.Errorf("%d after %d calls", got.Code, calls)
		}
		if len(e.reports) != 1 || !errors.Is(e.reports[0], webhook.ErrBusy) {
			t.Error(e.reports)
		}
	})
}

func TestBodiesThatAreNotEvents(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, webhook.Receiver{})
	for _, body := range []string{
		"", "null", "[]", `"process.completed"`, "{}", eventBody + "{}", eventBody[1:],
		`{"timestamp":"2026-06-17T12:00:00Z","data":{}}`,
		`{"type":"","timestamp":"2026-06-17T12:00:00Z","data":{}}`,
		`{"type":1,"timestamp":"2026-06-17T12:00:00Z","data":{}}`,
		`{"type":"a","data":{}}`,
		`{"type":"a","timestamp":"yesterday","data":{}}`,
		`{"type":"a","timestamp":1781697600,"data":{}}`,
		`{"type":"a","timestamp":"2026-06-17T12:00:00Z"}`,
		strings.Repeat(`{"data":`, 100_000),
	} {
		e.wants("1", body, http.StatusBadRequest, 0)
	}
	for _, err := range e.reports {
		if !errors.Is(err, webhook.ErrNoEvent) {
			t.Error(err)
		}
	}
	e.wants("1", `{"type":"a","timestamp":"2026-06-17T12:00:00.123456Z","data":null,"more":[]}`, http.StatusNoContent, 1)
}

func TestMaxBody(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		limit int64
		size  int
		want  int
	}{
		"the default":      {0, 1 << 20, http.StatusNoContent},
		"a byte more":      {0, 1<<20 + 1, http.StatusRequestEntityTooLarge},
		"the maximum":      {1000, 1000, http.StatusNoContent},
		"above it":         {1000, 1001, http.StatusRequestEntityTooLarge},
		"a larger maximum": {2 << 20, 2 << 20, http.StatusNoContent},
		"above that":       {2 << 20, 3 << 20, http.StatusRequestEntityTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEndpoint(t, webhook.Receiver{MaxBody: test.limit})
			if got := e.send("1", eventBody+strings.Repeat(" ", test.size-len(eventBody))); got.Code != test.want {
				t.Errorf("%d, want %d", got.Code, test.want)
			}
		})
	}
}

// Without keys the response is 500, so that the service sends the event again.
func TestReceiverWithoutKeys(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, webhook.Receiver{Keys: []webhook.Key{{}}})
	e.wants("1", eventBody, http.StatusInternalServerError, 0)
	if len(e.reports) != 1 || !errors.Is(e.reports[0], webhook.ErrNoKeys) {
		t.Error(e.reports)
	}
}

// GetKeys is called for each request. Later changes of the Receiver have no effect.
func TestGetKeys(t *testing.T) {
	t.Parallel()
	old, other := webhook.Secret(make([]byte, 32)), webhook.Secret(mustHex(t, hexSecret))
	current := []webhook.Key{old}
	e := newEndpoint(t, webhook.Receiver{Keys: []webhook.Key{other}, GetKeys: func() []webhook.Key { return current }})
	e.GetKeys = nil
	e.wants("1", eventBody, http.StatusUnauthorized, 0)
	current = []webhook.Key{old, other}
	e.wants("1", eventBody, http.StatusNoContent, 1)
	current = nil
	e.wants("2", eventBody, http.StatusInternalServerError, 1)
}

// pipes is a listener with one connection in memory, so that it works in a synctest bubble.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// connect serves an endpoint with a server without timeouts, and connects to it.
func connect(t *testing.T, e *endpoint) net.Conn {
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

// head returns the header of a request.
func (e *endpoint) head(id, body string) string {
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
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

// A body that is not received within 15 seconds is refused.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newEndpoint(t, webhook.Receiver{})
		c, start := connect(t, e), time.Now()
		write(t, c, e.head("1", eventBody)+eventBody[:10])
		if got, took := status(t, c), time.Since(start); got != http.StatusBadRequest || took != 15*time.Second {
			t.Errorf("%d after %v", got, took)
		}
	})
}

// The context of an event ends when the sender closes the connection, and not before.
func TestContextOfAnEvent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newEndpoint(t, webhook.Receiver{})
		start, ended := time.Now(), make(chan time.Duration, 1)
		e.handler = e.Handler(func(ctx context.Context, _ webhook.Event) error {
			<-ctx.Done()
			ended <- time.Since(start)
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
