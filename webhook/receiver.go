package webhook

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// Receiver receives requests. Keys or Latest is required.
type Receiver struct {
	// Keys verify requests: the secret of the subscription, or the service's public keys. One is
	// enough; while they change, give the old and the new.
	Keys []Key
	// Latest, unless nil, says at each request which the keys are, in place of Keys: for keys that
	// change. It is called by several goroutines.
	Latest func() []Key
	// Handled remembers which events were handled. nil: each Handler remembers in memory, for two
	// days and at most 100,000 events, which a restart forgets.
	Handled Handled
	// MaxBody is how many bytes a request may have; 0: 1 MiB.
	MaxBody int64
	// Report is told why a request was not answered with 2xx. That is nothing unusual: the service
	// itself sends some that do not verify (spec 5.6). nil: nobody is told.
	Report func(r *http.Request, err error)
}

const defaultMaxBody = 1 << 20

// Handler verifies requests before anything else, and calls next once for each event: repeats are
// answered as if they were handled again (spec 5.5). Pings need no handling. It copies
// the Receiver: what is changed there later makes no difference to it.
//
// What next does not do within 15 seconds the service takes for failed, and closes the connection,
// which ends the context. After an error it is sent again. The answer is
//
//	204  next returned nil, now or for an earlier request with the same webhook-id; or a ping
//	400  the body is not an event, or does not arrive
//	401  the request does not verify
//	409  the event is being handled at this moment
//	413  the body is too large
//	500  next or Handled failed, or there are no keys
func (r *Receiver) Handler(next func(ctx context.Context, e Event) error) http.Handler {
	receiver := *r
	if receiver.Handled == nil {
		receiver.Handled = newRecent()
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
		http.Error(w, refusals[status], status)
	})
}

// refusals are what a sender is told, who may be anybody.
var refusals = map[int]string{
	http.StatusBadRequest:            "The request is not an event.",
	http.StatusUnauthorized:          "The request does not verify.",
	http.StatusConflict:              "The event is being handled.",
	http.StatusRequestEntityTooLarge: "The body is too large.",
	http.StatusInternalServerError:   "The event could not be handled.",
}

func (r *Receiver) receive(w http.ResponseWriter, request *http.Request, next func(context.Context, Event) error) (status int, err error) {
	body, err := r.read(w, request)
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
	if r.Latest != nil {
		return r.Latest()
	}
	return r.Keys
}

// read reads the body, for as long as the service waits for an answer. The server ends the deadline
// with the body; of one that did not arrive it does not read the rest either.
func (r *Receiver) read(w http.ResponseWriter, request *http.Request) ([]byte, error) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(AnswerTime)) // not every ResponseWriter has one
	return io.ReadAll(http.MaxBytesReader(w, request.Body, r.MaxBody))
}
