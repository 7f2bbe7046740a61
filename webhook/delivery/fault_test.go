package delivery_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/webhook/delivery"
)

// uncommitted fails where transactions end.
type uncommitted struct{ err error }

func (u uncommitted) InTx(context.Context, func(context.Context) error) error { return u.err }

// Errors say once that they are this package's, and what lies under them can be told.
func TestErrorsOfTheStore(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	bubble(t, delivery.Options{}, func(h *house) {
		ctx, s := h.Context(), h.subscribed(account, signed)
		o := delivery.Options{EventTypes: []string{signed}}
		reading := delivery.New(faulty{h.db.Webhooks(), func(string) error { return broken }}, h.db, h.db.Jobs(), o)
		writing := delivery.New(h.db.Webhooks(), uncommitted{broken}, h.db.Jobs(), o)
		writing.AnswerWith(h.receive)
		for name, err := range map[string]error{
			"Subscription":   second(reading.Subscription(ctx, account, s.ID)),
			"Subscriptions":  second(reading.Subscriptions(ctx, account)),
			"Emit":           reading.Emit(ctx, account, signed, time.Now(), struct{}{}),
			"SendAgain":      reading.SendAgain(ctx, s.ID, "event"),
			"Create":         second(writing.Create(ctx, account, endpoint, []string{signed})),
			"Update":         second(writing.Update(ctx, account, s.ID, delivery.Change{})),
			"Update, read":   second(reading.Update(ctx, account, s.ID, delivery.Change{})),
			"Delete":         writing.Delete(ctx, account, s.ID),
			"Activate":       second(writing.Activate(ctx, account, s.ID)),
			"Activate, read": second(reading.Activate(ctx, account, s.ID)),
			"Test":           writing.Test(ctx, account, s.ID),
			"RotateKey":      second(writing.RotateKey(ctx, 0)),
			"Sweep":          second(writing.Sweep(ctx, time.Now())),
		} {
			if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "webhook: ") || strings.Count(err.Error(), ": ") != 2 {
				h.Errorf("%s: %v", name, err)
			}
		}
	})
}
