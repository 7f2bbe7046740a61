package delivery_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/webhook"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// A request is signed with the subscription's secret and with each key of the service that is in
// force, and each of the signatures verifies alone.
func TestSignaturesOfARequest(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *house) {
		to := h.subscribed(account, signed)
		for range 2 {
			if _, err := h.hooks.RotateKey(h.Context(), time.Hour); err != nil {
				h.Fatal(err)
			}
		}
		h.emit(account, signed)
		h.during(time.Second)
		keys, err := h.hooks.Keys(h.Context())
		if err != nil || len(keys) != 3 {
			h.Fatalf("%d keys, error %v", len(keys), err)
		}
		r := h.sent(to, signed)[0]
		if diff := cmp.Diff([]string{"v1", "v1a", "v1a", "v1a"}, schemes(r)); diff != "" {
			h.Errorf("schemes (-want +got):\n%s", diff)
		}
		all := []webhook.Key{webhook.Secret(to.Secret)}
		for _, k := range keys {
			all = append(all, webhook.PublicKey(k.Public))
		}
		for i, k := range all {
			alone := r.Header.Clone()
			alone.Set(webhook.HeaderSignature, strings.Fields(r.Header.Get(webhook.HeaderSignature))[i])
			if err := webhook.Verify(alone, r.Body, k); err != nil {
				h.Errorf("signature %d: %v", i+1, err)
			}
			if webhook.Verify(alone, append([]byte(" "), r.Body...), all...) == nil {
				h.Errorf("signature %d verifies another body", i+1)
			}
		}
	})
}

// schemes are those of the signatures of a request.
func schemes(r request) (list []string) {
	for signature := range strings.FieldsSeq(r.Header.Get(webhook.HeaderSignature)) {
		scheme, _, _ := strings.Cut(signature, ",")
		list = append(list, scheme)
	}
	return list
}

// A request is not sent when it cannot be signed with all keys, and nothing breaks.
func TestKeyThatCannotSign(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *house) {
		to := h.subscribed(account, signed)
		h.tx(func(ctx context.Context) error {
			return h.db.Webhooks().CreateKey(ctx, delivery.SigningKey{Number: 2, Private: []byte("short"), CreatedAt: h.began})
		})
		h.emit(account, signed)
		h.during(time.Second)
		if len(h.told) == 0 || h.sent(to, signed) != nil || h.observed != nil {
			h.Errorf("%d jobs failed, %d requests, %d observed", len(h.told), len(h.sent(to, signed)), len(h.observed))
		}
		h.told = nil
	})
}

// An endpoint that takes its time, and one that fails, hold up no other: neither of the same account
// nor of the same server. How many requests it gets at once is bounded.
func TestSlowEndpointsHoldUpNobody(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *house) {
		slow, failing, well := h.subscribed(account, signed), h.subscribed(account, signed), h.subscribed(account, signed)
		inWork, most := 0, 0
		h.answer = func(ctx context.Context, r request) int {
			switch r.to {
			case slow.ID:
				h.mu.Lock()
				inWork++
				most = max(most, inWork)
				h.mu.Unlock()
				<-ctx.Done()
				h.mu.Lock()
				inWork--
				h.mu.Unlock()
				return 0
			case failing.ID:
				return http.StatusInternalServerError
			}
			return http.StatusOK
		}
		const events = 60
		h.tx(func(ctx context.Context) error {
			for range events {
				if err := h.hooks.Emit(ctx, account, signed, time.Now(), struct{}{}); err != nil {
					return err
				}
			}
			return nil
		})
		h.during(2 * time.Minute)
		for _, r := range h.sent(well, signed) {
			if r.after > 0 {
				h.Errorf("a request came after %v", r.after)
			}
		}
		if all := h.sent(well, signed); len(all) != events {
			h.Errorf("%d requests of %d", len(all), events)
		}
		work := h.hooks.Work()
		if first, later := work[1].PerGroup, work[2].PerGroup; most < first || most > first+later {
			h.Errorf("%d requests at once, want %d first attempts and up to %d later ones", most, first, later)
		}
	})
}
