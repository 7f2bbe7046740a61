package delivery_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/innsigli/innsigli/webhook/delivery"
)

// A server that does not know of the new key yet signs so that receivers verify it, who know both.
func TestServersDuringRotation(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *house) {
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

// published reads keys as a receiver does, by a library for OpenSSH.
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
	bubble(t, delivery.Options{}, func(h *house) {
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

// What is stored as a key and is none is an error, and no line.
func TestPublicLineOfNoKey(t *testing.T) {
	t.Parallel()
	for _, length := range []int{0, 31, 33} {
		if line, err := (delivery.SigningKey{Number: 7, Public: make([]byte, length)}).PublicLine(); err == nil || line != "" || !strings.Contains(err.Error(), "key 7") {
			t.Errorf("%d bytes: %q, %v", length, line, err)
		}
	}
}

// Without a key nothing is sent: every request has signatures of both schemes.
func TestNoKey(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *house) {
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
