package webhook_test

import (
	"context"
	"errors"
	"io"
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

// receiving is a receiver under test and what came to it.
type receiving struct {
	webhook.Receiver
	t       *testing.T
	secret  []byte
	fails   error // of the handler
	handled []webhook.Event
	reports []error
	handler http.Handler
}

func newReceiving(t *testing.T, r webhook.Receiver) *receiving {
	e := &receiving{Receiver: r, t: t, secret: mustHex(t, hexSecret)}
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

// send sends a request that is signed for now.
func (e *receiving) send(id, body string) *httptest.ResponseRecorder {
	now := time.Now()
	return e.post(headers(id, now, webhook.SignV1(e.secret, id, now, []byte(body))), strings.NewReader(body))
}

func (e *receiving) post(h http.Header, body io.Reader) *httptest.ResponseRecorder {
	request := httptest.NewRequest(http.MethodPost, "/hooks", body)
	request.Header = h
	answer := httptest.NewRecorder()
	e.handler.ServeHTTP(answer, request)
	return answer
}

// answers sends an event and checks the status of the answer, and how often events were handled
// by then.
func (e *receiving) answers(id, body string, status, handled int) {
	e.t.Helper()
	if got := e.send(id, body); got.Code != status || len(e.handled) != handled {
		e.t.Errorf("%s: %d after %d calls, want %d after %d", id, got.Code, len(e.handled), status, handled)
	}
}

func TestEventsAreHandledOnce(t *testing.T) {
	t.Parallel()
	e := newReceiving(t, webhook.Receiver{})
	e.answers("1", eventBody, http.StatusNoContent, 1)
	e.answers("1", eventBody, http.StatusNoContent, 1)
	e.answers("2", eventBody, http.StatusNoContent, 2)
	at := time.Date(2026, 6, 17, 12, 0, 0, 0, time.UTC)
	want := []webhook.Event{
		{ID: "1", Type: "process.completed", Timestamp: at, Data: []byte(`{"n":1}`)},
		{ID: "2", Type: "process.completed", Timestamp: at, Data: []byte(`{"n":1}`)},
	}
	if diff := cmp.Diff(want, e.handled); diff != "" || e.reports != nil {
		t.Error(diff, e.reports)
	}
}

// An event that could not be handled comes again and is handled then.
func TestFailedEventsComeAgain(t *testing.T) {
	t.Parallel()
	e := newReceiving(t, webhook.Receiver{})
	e.fails = io.ErrUnexpectedEOF
	e.answers("1", eventBody, http.StatusInternalServerError, 1)
	e.answers("1", eventBody, http.StatusInternalServerError, 2)
	e.fails = nil
	e.answers("1", eventBody, http.StatusNoContent, 3)
	e.answers("1", eventBody, http.StatusNoContent, 3)
	if len(e.reports) != 2 || !errors.Is(e.reports[0], io.ErrUnexpectedEOF) {
		t.Error(e.reports)
	}
}

// Verifying comes first: what is handled already is refused like anything else when it does not
// verify (spec 5.5).
func TestVerifyingComesFirst(t *testing.T) {
	t.Parallel()
	e := newReceiving(t, webhook.Receiver{})
	e.answers("1", eventBody, http.StatusNoContent, 1)
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

// Why a request does not verify is for the report alone.
func TestRefusalsSayNothing(t *testing.T) {
	t.Parallel()
	e := newReceiving(t, webhook.Receiver{})
	answers := make(map[string]int)
	for _, h := range []http.Header{
		{},
		headers("a.b", time.Now(), hexV1),
		headers("a", time.Now().Add(-time.Hour), hexV1),
		headers("a", time.Now().Add(time.Hour), hexV1),
		headers("a", time.Now(), hexV1),
		headers("a", time.Now(), strings.Repeat(hexV1+" ", 100)),
	} {
		got := e.post(h, strings.NewReader("{}"))
		answers[got.Body.String()]++
		if got.Code != http.StatusUnauthorized {
			t.Errorf("%v: %d", h, got.Code)
		}
	}
	if len(answers) != 1 || len(e.reports) != 6 {
		t.Error(answers, e.reports)
	}
}

// Pings ask only whether the endpoint is there. They have IDs of their own, and are not remembered.
func TestPingsNeedNoHandling(t *testing.T) {
	t.Parallel()
	e := newReceiving(t, webhook.Receiver{})
	e.answers("1", `{"type":"webhook.ping","timestamp":"2026-06-17T12:00:00Z","data":{}}`, http.StatusNoContent, 0)
	e.answers("1", eventBody, http.StatusNoContent, 1)
}

// A panic goes on to the server, and the event is handled when it comes again.
func TestPanicsLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	calls := 0
	e := newReceiving(t, webhook.Receiver{})
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

// The same event twice at once is not handled twice: the second is sent again later.
func TestRepeatsDoNotRunBesideEachOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		e := newReceiving(t, webhook.Receiver{})
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
