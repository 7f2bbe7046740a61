package webhook_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/webhook"
)

// What is remembered in memory outlives the schedule of spec 5.7, answers that take their 15
// seconds included, and not much more.
func TestMemoryOutlivesTheSchedule(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newReceiving(t, webhook.Receiver{})
		e.answers("1", eventBody, http.StatusNoContent, 1)
		for i, after := range []time.Duration{
			10 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour, 24 * time.Hour,
		} {
			time.Sleep(15*time.Second + after)
			e.answers(fmt.Sprint("other-", i), eventBody, http.StatusNoContent, 2+i)
			e.answers("1", eventBody, http.StatusNoContent, 2+i)
		}
		time.Sleep(16 * time.Hour)
		e.answers("last", eventBody, http.StatusNoContent, 9)
		e.answers("1", eventBody, http.StatusNoContent, 10)
	})
}

// ledger remembers elsewhere.
type ledger struct {
	asked []string
	fails error
}

func (l *ledger) Once(ctx context.Context, id string, handle func(context.Context) error) error {
	l.asked = append(l.asked, id)
	if l.fails != nil {
		return l.fails
	}
	return handle(ctx)
}

// What remembers decides; its failure is answered like the handler's.
func TestAnotherMemory(t *testing.T) {
	t.Parallel()
	l := new(ledger)
	e := newReceiving(t, webhook.Receiver{Handled: l})
	e.answers("1", eventBody, http.StatusNoContent, 1)
	e.answers("1", eventBody, http.StatusNoContent, 2)
	l.fails = context.DeadlineExceeded
	e.answers("2", eventBody, http.StatusInternalServerError, 2)
	l.fails = fmt.Errorf("locked: %w", webhook.ErrBusy)
	e.answers("2", eventBody, http.StatusConflict, 2)
	if got := fmt.Sprint(l.asked); got != "[1 1 2 2]" {
		t.Error(got)
	}
}

// Each handler has a memory of its own: two that do different things with an event both get it.
func TestHandlersRememberApart(t *testing.T) {
	t.Parallel()
	e := newReceiving(t, webhook.Receiver{})
	e.answers("1", eventBody, http.StatusNoContent, 1)
	e.handler = e.Handler(func(_ context.Context, event webhook.Event) error {
		e.handled = append(e.handled, event)
		return nil
	})
	e.answers("1", eventBody, http.StatusNoContent, 2)
}
