package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/internal/admission"
)

const (
	defaultDocuments = 1280 << 20
	// roomTime is how long a request waits for room.
	roomTime = 10 * time.Second
	// A body is held in memory but for its document. The little that nearly all are costs
	// no more than their connections; what is longer shares heldRoom, and may become twice its limit while it grows.
	heldRoom   = 64 << 20
	maxHeld    = 4 << 20 // of a body beside its document; an image has 2 MiB (docs/stamps.md), which are 2.7 in Base64
	freelyHeld = 16 << 10
)

// rooms are what requests share, in bytes. An account has no more than half of each.
type rooms struct {
	in, out *admission.ByteBudget // documents on their way
	held    *admission.ByteBudget
}

func newRooms(l Limits) rooms {
	size := l.Documents
	if size == 0 {
		size = defaultDocuments
	}
	room := func(size int64) *admission.ByteBudget { return admission.NewByteBudget(size, size/2, roomTime) }
	all := rooms{in: room(size), out: room(size), held: room(heldRoom)}
	if l.Watch != nil {
		l.Watch("requests", all.in.Acquired)
		l.Watch("answers", all.out.Acquired)
		l.Watch("held", all.held.Acquired)
	}
	return all
}

// full is the answer when there is no room in time.
var full = problem{
	Status: http.StatusServiceUnavailable, Title: unavailable.Title, Detail: "The server has as much under way as it takes at once.",
	meant: true,
}

// fullFor is how long, in seconds, who found no room is told to wait.
const fullFor = "2"

// enter waits for room; the error is the answer. That there is none is no fault of the server's.
func enter(ctx context.Context, w http.ResponseWriter, room *admission.ByteBudget, who string, n int64) (leave func(), err error) {
	leave, err = room.Acquire(ctx, who, n)
	if errors.Is(err, admission.ErrFull) {
		w.Header().Set("Retry-After", fullFor)
		return nil, new(full)
	}
	if err != nil {
		return nil, errGone
	}
	return leave, nil
}

// heldBody is a body without a document, of which more than a little is to be held only while there is room.
type heldBody struct {
	io.ReadCloser
	enter   func() error
	entered bool
	read    int
}

func (b *heldBody) Read(p []byte) (int, error) {
	if b.read >= freelyHeld && !b.entered {
		if err := b.enter(); err != nil {
			return 0, err
		}
		b.entered = true
	}
	n, err := b.ReadCloser.Read(p)
	b.read += n
	return n, err
}

// holding has the body of a call without a document share the room with others.
func (a *api) holding(call func(http.ResponseWriter, *http.Request, account.Caller) error) func(http.ResponseWriter, *http.Request, account.Caller) error {
	return func(w http.ResponseWriter, r *http.Request, caller account.Caller) error {
		leave := func() {}
		body := &heldBody{ReadCloser: r.Body, enter: func() error {
			end, err := enter(r.Context(), w, a.held, caller.AccountID, 2*maxSmallBody)
			if err == nil {
				leave = end
			}
			return err
		}}
		r.Body = body
		defer func() {
			body.entered = true // what comes after the answer is not held
			leave()
		}()
		return call(w, r, caller)
	}
}
