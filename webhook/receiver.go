package webhook

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// Receiver receives requests. Keys or GetKeys is required.
type Receiver struct {
	// Keys verify requests: the secret of the subscription, or the service's public keys. One that verifies is
	// enough; during a key rotation, give the old and the new one.
	Keys []Key
	// GetKeys, unless nil, returns the keys of each request instead of Keys, for keys that change while the program
	// runs. It is called from several goroutines.
	GetKeys func() []Key
	// Handled records the events that were handled. nil: each Handler records them in memory, for two days and at
	// most 100,000 events, and loses the record at a restart.
	Handled Handled
	// MaxBody is the largest body of a request in bytes; 0: 1 MiB.
	MaxBody int64
	// Report, unless nil, is called with the reason why a request was not answered with 2xx. Such requests are
	// expected: the service itself sends some that do not verify (spec 5.6).
	Report func(r *http.Request, err error)
}

const defaultMaxBody = 1 << 20

// Handler returns a handler that verifies requests and calls next once for each event. A repeated event is answered
// with 204 without calling next (spec 5.5); so is a ping. Handler copies the Receiver, so later changes of its
// fields have no effect.
//
// The service waits 15 seconds for the response, then closes the connection, which cancels the context of next. It
// sends the event again after an error. The response is
//
//	204  next returned nil, for this or an earlier request with the same webhook-id; or the event is a ping
//	400  the body is not an event, or could not be read
//	401  the request does not verify
//	409  another call of next is handling the event
//	413  the body is too large
//	500  next or Handled returned an error, or there are no keys
func (r *Receiver) Handler(next func(ctx context.Context, e Event) error) http.Handler {
	receiver := *r
	if receiver.Handled == nil {
		receiver.Handled = newMemory()
	}
	if receiver.MaxBody == 0 {
		receiver.MaxBody = defaultMaxBody
	}
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		status, err := receiver.receive(w, request, next)
		if err == nil {
			w.WriteHeader(status)
			return
		}
		if receiver.Report != nil {
			receiver.Report(request, err)
		}
		http.Error(w, statusTexts[status], status)
	})
}

// statusTexts are the response bodies of errors. They reveal no details, since the sender may be unauthenticated.
var statusTexts = map[int]string{
	http.StatusBadRequest:            "The request is not an event.",
	http.StatusUnauthorized:          "The request does not verify.",
	http.StatusConflict:              "The event is being handled.",
	http.StatusRequestEntityTooLarge: "The body is too large.",
	http.StatusInternalServerError:   "The event could not be handled.",
}

func (r *Receiver) receive(w http.ResponseWriter, request *http.Request, next func(context.Context, Event) error) (status int, err error) {
	body, err := r.readBody(w, request)
	if e := new(http.MaxBytesError); errors.As(err, &e) {
		return http.StatusRequestEntityTooLarge, err
	}
	if err != nil {
		return http.StatusBadRequest, err
	}
	switch err := Verify(request.Header, body, r.keys()...); {
	case errors.Is(err, ErrNoKeys):
		return http.StatusInternalServerError, err
	case err != nil:
		return http.StatusUnauthorized, err
	}
	e, err := ParseEvent(request.Header, body)
	if err != nil {
		return http.StatusBadRequest, err
	}
	if e.Type == PingType {
		return http.StatusNoContent, nil
	}
	switch err := r.Handled.Once(request.Context(), e.ID, func(ctx context.Context) error { return next(ctx, e) }); {
	case errors.Is(err, ErrBusy):
		return http.StatusConflict, err
	case err != nil:
		return http.StatusInternalServerError, err
	}
	return http.StatusNoContent, nil
}

func (r *Receiver) keys() []Key {
	if r.GetKeys != nil {
		return r.GetKeys()
	}
	return r.Keys
}

// readBody reads the body, for at most as long as the service waits for a response. net/http resets the read deadline
// at the end of the body; after a timeout it does not read the rest of the body either.
func (r *Receiver) readBody(w http.ResponseWriter, request *http.Request) ([]byte, error) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(ResponseTimeout)) // not all ResponseWriters support it
	return io.ReadAll(http.MaxBytesReader(w, request.Body, r.MaxBody))
}

// Handled records the events that were handled. If events are handled in a database, record them there: with the
// event's ID and its effect in one transaction, an event takes effect exactly once, also after a crash
// (docs/webhooks.md).
type Handled interface {
	// Once calls handle, unless an earlier call of handle with the same id returned nil. If handle returns nil, Once
	// records the id for longer than the service repeats events, which is 33 hours, and returns nil after the record
	// is durable; otherwise it returns the error of handle. If handle did not return, because of a panic or a crash,
	// a later call of Once calls it again.
	//
	// Once is called from several goroutines. It must not run two calls of handle for one id at the same time: the
	// second call of Once waits for the first, or returns [ErrBusy], and the service sends the event again later.
	Once(ctx context.Context, id string, handle func(ctx context.Context) error) error
}

// ErrBusy: another call is handling the event.
var ErrBusy = errors.New("webhook: the event is being handled")

const (
	// retention is longer than the time from the first attempt to the last, which is 32 hours, 36 minutes and 10
	// seconds, plus eight times ResponseTimeout (spec 5.7).
	retention  = 48 * time.Hour
	maxHandled = 100_000
)

// memory is a Handled that records the most recent events in memory.
type memory struct {
	mu      sync.Mutex
	running map[string]bool
	handled map[string]bool
	order   []handledEvent // the events in handled, the oldest first
}

type handledEvent struct {
	id string
	at time.Time
}

var _ Handled = (*memory)(nil)

func newMemory() *memory {
	return &memory{running: make(map[string]bool), handled: make(map[string]bool)}
}

func (m *memory) Once(ctx context.Context, id string, handle func(ctx context.Context) error) error {
	if handled, err := m.begin(id); handled || err != nil {
		return err
	}
	succeeded := false
	defer func() { m.end(id, succeeded) }() // also after a panic, which is not recovered
	if err := handle(ctx); err != nil {
		return err
	}
	succeeded = true
	return nil
}

func (m *memory) begin(id string) (handled bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.handled[id] {
		return true, nil
	}
	if m.running[id] {
		return false, ErrBusy
	}
	m.running[id] = true
	return false, nil
}

func (m *memory) end(id string, succeeded bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.running, id)
	if succeeded {
		now := time.Now()
		m.handled[id] = true
		m.order = append(m.order, handledEvent{id, now})
		m.evict(now.Add(-retention))
	}
}

// evict removes the events that were handled before the given time, and the oldest ones above maxHandled.
func (m *memory) evict(before time.Time) {
	for len(m.order) > maxHandled || len(m.order) > 0 && m.order[0].at.Before(before) {
		delete(m.handled, m.order[0].id)
		m.order = m.order[1:]
	}
}
