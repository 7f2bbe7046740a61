package delivery_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/innsigli/innsigli/webhook"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// numbers returns the numbers of keys.
func numbers(keys []delivery.SigningKey, err error) ([]int, error) {
	var list []int
	for _, k := range keys {
		list = append(list, k.Number)
	}
	return list, err
}

// mustSign checks the numbers of the keys that sign now.
func (h *harness) mustSign(s *delivery.Service, want ...int) {
	h.Helper()
	if got, err := numbers(s.Keys(h.Context())); !slices.Equal(got, want) || err != nil {
		h.Errorf("keys %v sign, %v; want %v", got, err, want)
	}
}

func (h *harness) rotate(s *delivery.Service, overlap time.Duration) {
	h.Helper()
	if _, err := s.RotateKey(h.Context(), overlap); err != nil {
		h.Fatal(err)
	}
}

// old returns the keys from before another server's change.
type old struct {
	delivery.Store
	mu    sync.Mutex
	keys  []delivery.SigningKey
	times int
}

func (o *old) Keys(ctx context.Context) ([]delivery.SigningKey, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.times > 0 {
		o.times--
		return o.keys, nil
	}
	return o.Store.Keys(ctx)
}

// Servers that start or rotate concurrently create one key each time.
func TestKeysAtOnce(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *harness) {
		behind := &old{Store: h.db.Webhooks(), times: 1}
		other := delivery.New(behind, h.db, h.db.Jobs(), delivery.Options{})
		if err := other.EnsureKey(h.Context()); err != nil {
			h.Errorf("the first: %v", err)
		}
		h.mustSign(other, 1)

		behind.keys, _ = h.db.Webhooks().Keys(h.Context())
		h.rotate(h.hooks, time.Hour)
		behind.times = 1
		h.rotate(other, time.Hour)
		h.mustSign(other, 1, 2, 3)

		behind.times = 1000 // a store that stays as wrong does not keep the caller busy for ever
		if _, err := other.RotateKey(h.Context(), time.Hour); err == nil || behind.times < 900 {
			h.Errorf("%v, after %d readings", err, 1000-behind.times)
		}

		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if err := h.hooks.EnsureKey(h.Context()); err != nil {
					h.Error(err)
				}
				h.rotate(h.hooks, time.Hour)
			})
		}
		all.Wait()
		h.mustSign(h.hooks, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
	})
}

// During the overlap all keys sign, and then only the new one. A key that has ended is deleted, and its number is
// not used again.
func TestRotation(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *harness) {
		s := h.activated()
		mustBeSigned := func(signatures int) {
			h.Helper()
			h.requests = nil
			if err := h.hooks.Test(h.Context(), account, s.ID); err != nil {
				h.Fatal(err)
			}
			if got := strings.Count(h.requests[0].Header.Get(webhook.HeaderSignature), "v1a,"); got != signatures {
				h.Errorf("%d signatures of v1a; want %d", got, signatures)
			}
		}
		mustBeSigned(1)
		h.rotate(h.hooks, 24*time.Hour)
		h.mustSign(h.hooks, 1, 2)
		mustBeSigned(2)
		time.Sleep(24*time.Hour - 1)
		h.mustSign(h.hooks, 1, 2)
		time.Sleep(time.Nanosecond)
		h.mustSign(h.hooks, 2)
		mustBeSigned(1)

		if n, err := h.hooks.Sweep(h.Context(), h.began); n != 1 || err != nil {
			h.Errorf("%d swept, %v", n, err)
		}
		if stored, err := numbers(h.db.Webhooks().Keys(h.Context())); !slices.Equal(stored, []int{2}) || err != nil {
			h.Errorf("stored: %v, %v", stored, err)
		}
		h.rotate(h.hooks, time.Hour)
		h.rotate(h.hooks, 48*time.Hour)
		h.mustSign(h.hooks, 2, 3, 4)
		time.Sleep(time.Hour) // a later rotation does not prolong what an earlier one ended
		h.mustSign(h.hooks, 3, 4)
		h.rotate(h.hooks, 0) // as when a key may be known
		h.mustSign(h.hooks, 5)
		mustBeSigned(1)
	})
}

// A server that does not know the new key yet signs with the earlier ones, which receivers still accept.
func TestServersDuringRotation(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *harness) {
		s, other := h.activated(), h.server(delivery.Options{}, h.db.Jobs())
		h.mustSign(other, 1)
		h.rotate(h.hooks, time.Hour)
		public, err := h.hooks.PublicKeys(h.Context())
		if err != nil {
			h.Fatal(err)
		}
		for _, want := range [][]int{{1}, {1, 2}} {
			h.mustSign(other, want...)
			h.requests = nil
			if err := other.Test(h.Context(), account, s.ID); err != nil {
				h.Fatal(err)
			}
			if n := verifying(h.requests[0], nil, published(h.T, public)); n != len(want) {
				h.Errorf("%d signatures verify; want %d", n, len(want))
			}
			time.Sleep(10 * time.Second)
		}
	})
}

// published parses keys with an OpenSSH library, as a receiver does.
func published(t *testing.T, text []byte) (keys []delivery.SigningKey) {
	t.Helper()
	for rest := text; len(rest) > 0; {
		key, comment, options, after, err := ssh.ParseAuthorizedKey(rest)
		if err != nil || key.Type() != ssh.KeyAlgoED25519 || len(options) > 0 {
			t.Fatalf("%q: %v, %v", rest, key, err)
		}
		if !strings.HasPrefix(comment, "innsigli-webhook-") {
			t.Errorf("a comment is %q", comment)
		}
		wire := key.Marshal()
		keys, rest = append(keys, delivery.SigningKey{Public: wire[len(wire)-32:]}), after
	}
	return keys
}

// spec 5.5: one line for each key that signs, the newest last.
func TestPublicKeys(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *harness) {
		h.rotate(h.hooks, time.Hour)
		text, err := h.hooks.PublicKeys(h.Context())
		if err != nil {
			h.Fatal(err)
		}
		live, err := h.hooks.Keys(h.Context())
		if err != nil {
			h.Fatal(err)
		}
		for i, k := range published(h.T, text) {
			if !bytes.Equal(k.Public, live[i].Public) {
				h.Errorf("line %d is another key", i+1)
			}
		}
		lines := strings.Split(string(text), "\n")
		if len(lines) != 3 || !strings.HasSuffix(lines[0], " innsigli-webhook-1") || !strings.HasSuffix(lines[1], " innsigli-webhook-2") || lines[2] != "" {
			h.Errorf("%q", lines)
		}
	})
}

// A stored key that is not valid is an error.
func TestPublicLineOfNoKey(t *testing.T) {
	t.Parallel()
	for _, length := range []int{0, 31, 33} {
		if line, err := (delivery.SigningKey{Number: 7, Public: make([]byte, length)}).PublicLine(); err == nil || line != "" || !strings.Contains(err.Error(), "key 7") {
			t.Errorf("%d bytes: %q, %v", length, line, err)
		}
	}
}

// Without a key nothing is sent, because every request has signatures of both schemes.
func TestNoKey(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *harness) {
		s := h.created(signed)
		h.tx(func(ctx context.Context) error { return h.db.Webhooks().DeleteKey(ctx, 1) })
		time.Sleep(10 * time.Second)
		var failed *delivery.EndpointError
		err := h.hooks.Test(h.Context(), account, s.ID)
		if err == nil || errors.As(err, &failed) || len(h.requests) > 0 {
			h.Errorf("%v; %d requests", err, len(h.requests))
		}
		if text, err := h.hooks.PublicKeys(h.Context()); err == nil {
			h.Errorf("published: %q", text)
		}
		if err := h.hooks.EnsureKey(h.Context()); err != nil {
			h.Fatal(err)
		}
		if err := h.hooks.Test(h.Context(), account, s.ID); err != nil {
			h.Error(err)
		}
	})
}

// A request that cannot be signed with all keys is not sent.
func TestKeyThatCannotSign(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *harness) {
		to := h.subscribed(account, signed)
		h.tx(func(ctx context.Context) error {
			return h.db.Webhooks().CreateKey(ctx, delivery.SigningKey{Number: 2, Private: []byte("short"), CreatedAt: h.began})
		})
		h.emit(account, signed)
		h.runFor(time.Second)
		if len(h.jobErrors) == 0 || h.sent(to, signed) != nil || h.observed != nil {
			h.Errorf("%d jobs failed, %d requests, %d observed", len(h.jobErrors), len(h.sent(to, signed)), len(h.observed))
		}
		h.jobErrors = nil
	})
}

// A slow or failing endpoint delays no other, neither of the same account nor on the same server, and gets a bounded
// number of concurrent requests.
func TestSlowEndpointsDelayNoOthers(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *harness) {
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
		h.runFor(2 * time.Minute)
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
