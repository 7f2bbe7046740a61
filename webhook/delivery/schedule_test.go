package delivery_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/innsigli/innsigli/webhook"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// schedule is when attempts are made that are answered at once (spec 5.7).
var schedule = []time.Duration{
	0,
	10 * time.Second,
	10*time.Second + time.Minute,
	10*time.Second + 6*time.Minute,
	10*time.Second + 36*time.Minute,
	10*time.Second + 36*time.Minute + 2*time.Hour,
	10*time.Second + 36*time.Minute + 8*time.Hour,
	10*time.Second + 36*time.Minute + 32*time.Hour,
}

// longer is more than all attempts take.
const longer = 100 * time.Hour

// What is no 2xx is a failure like any other, and the pause to the next attempt begins when the
// one before has ended. After the eighth the event is dropped.
func TestEightAttempts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		status  int           // 0: none
		takes   time.Duration // until it is there
		lasts   time.Duration // the attempt
		failure delivery.Failure
	}{
		{"an error", 500, 0, 0, delivery.BadStatus},
		{"no connection", 0, 0, 0, delivery.NoConnection},
		{"early hints", 103, 0, 0, delivery.BadStatus},
		{"a redirect", 302, 0, 0, delivery.BadStatus},
		{"not modified", 304, 0, 0, delivery.BadStatus},
		{"not found", 404, 0, 0, delivery.BadStatus},
		{"gone", 410, 0, 0, delivery.BadStatus},
		{"too many requests", 429, 0, 0, delivery.BadStatus},
		{"an error after a while", 503, 14 * time.Second, 14 * time.Second, delivery.BadStatus},
		{"no answer in time", 200, time.Minute, 15 * time.Second, delivery.TimedOut},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, delivery.Options{}, func(h *house) {
				to := h.subscribed(account, signed)
				h.answer = after(test.takes, test.status)
				h.emit(account, signed)
				h.during(longer)

				var want []delivery.Attempt
				for i, when := range schedule {
					a := delivery.Attempt{
						Subscription: to.ID, Type: signed, Purpose: delivery.ForDelivery, Number: i + 1,
						At: h.began.Add(when + time.Duration(i)*test.lasts).UTC(), Duration: test.lasts,
						Failure: test.failure,
					}
					if test.failure == delivery.BadStatus {
						a.Status = test.status
					}
					if i+1 < len(schedule) {
						a.Next = h.began.Add(schedule[i+1] + time.Duration(i+1)*test.lasts).UTC()
					}
					want = append(want, a)
				}
				log := h.attempts(to)
				if diff := cmp.Diff(want, log, cmpopts.IgnoreFields(delivery.Attempt{}, "Event", "Detail")); diff != "" {
					h.Fatalf("log (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(log, h.observed); diff != "" {
					h.Errorf("observed (-log +observed):\n%s", diff)
				}
				for i, r := range h.sent(to, signed) {
					if !h.began.Add(r.after).Equal(log[i].At) {
						h.Errorf("attempt %d was made after %v", i+1, r.after)
					}
				}
				last := log[7]
				gone := []delivery.Dropped{{Subscription: to.ID, Event: last.Event, Type: signed, At: last.At.Add(test.lasts)}}
				if diff := cmp.Diff(gone, h.dropped(to)); diff != "" {
					h.Errorf("dropped (-want +got):\n%s", diff)
				}
				h.nothingDue()
			})
		})
	}
}

// Any 2xx ends it, at whichever attempt it comes.
func TestSuccessEndsTheSchedule(t *testing.T) {
	t.Parallel()
	for n, when := range schedule {
		status := []int{200, 201, 202, 204, 206, 226, 250, 299}[n]
		t.Run(fmt.Sprintf("%d at attempt %d", status, n+1), func(t *testing.T) {
			bubble(t, delivery.Options{}, func(h *house) {
				to := h.subscribed(account, signed)
				h.answer = func(context.Context, request) int {
					if time.Since(h.began) < when {
						return 500
					}
					return status
				}
				h.emit(account, signed)
				h.during(longer)
				log := h.attempts(to)
				if len(log) != n+1 {
					h.Fatalf("%d attempts", len(log))
				}
				if a := log[n]; a.Status != status || a.Failure != "" || a.Detail != "" || !a.Next.IsZero() {
					h.Errorf("the last attempt: %+v", a)
				}
				if gone := h.dropped(to); gone != nil {
					h.Errorf("dropped: %v", gone)
				}
				h.nothingDue()
			})
		})
	}
}

// Attempts are alike but for their time and what is signed over it, which is that of the attempt:
// receivers refuse what is older than five minutes (spec 5.5).
func TestAttemptsAreAlike(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *house) {
		to := h.subscribed(account, signed)
		h.answer = after(time.Second, 500)
		h.emit(account, signed)
		h.during(longer)
		all := h.sent(to, signed)
		if len(all) != len(schedule) {
			h.Fatalf("%d requests", len(all))
		}
		signatures := make(map[string]bool)
		for i, r := range all {
			if !r.verifies {
				h.Errorf("attempt %d does not verify", i+1)
			}
			if at := strconv.FormatInt(h.began.Add(r.after).Unix(), 10); r.Header.Get(webhook.HeaderTimestamp) != at {
				h.Errorf("attempt %d has timestamp %s, made at %s", i+1, r.Header.Get(webhook.HeaderTimestamp), at)
			}
			signatures[r.Header.Get(webhook.HeaderSignature)] = true
			r.Header.Del(webhook.HeaderTimestamp)
			r.Header.Del(webhook.HeaderSignature)
			if diff := cmp.Diff(all[0].Request, r.Request); diff != "" {
				h.Errorf("attempts 1 and %d differ (-1 +%d):\n%s", i+1, i+1, diff)
			}
		}
		if len(signatures) != len(all) {
			h.Errorf("%d signatures of %d attempts", len(signatures), len(all))
		}
	})
}
