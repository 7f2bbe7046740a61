package delivery_test

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/webhook"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// spec 5.6: at random times, every one to five hours.
func TestChecksOfAWeek(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *house) {
		s := h.activated()
		h.during(7 * 24 * time.Hour)
		pings, checks := h.pings(s, time.Second)
		if len(checks) < 34 || len(checks) > 168 {
			h.Fatalf("%d checks in a week", len(checks))
		}
		before, hours := time.Duration(0), make(map[time.Duration]int)
		for _, r := range checks {
			gap := r.after - before
			if gap < time.Hour || gap > 5*time.Hour {
				h.Errorf("%v between two checks", gap)
			}
			before = r.after
			hours[gap.Truncate(time.Hour)]++
			mustBeAlike(h.T, pings[0], r)
			if !pingBody.Match(r.Body) {
				h.Errorf("a body is %s", r.Body)
			}
		}
		if len(hours) < 4 {
			h.Errorf("the hours between two checks are %v", hours)
		}
		if is := h.now(s); !cmp.Equal(is, s) {
			h.Errorf("it is %+v", is)
		}
	})
}

// The signatures of a check are like others, and none of them verifies: also while keys change.
func TestChecksDoNotVerify(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *house) {
		if _, err := h.hooks.RotateKey(h.Context(), 1000*time.Hour); err != nil {
			h.Fatal(err)
		}
		keys, err := h.hooks.Keys(h.Context())
		if err != nil || len(keys) != 2 {
			h.Fatalf("%d keys, %v", len(keys), err)
		}
		s := h.activated()
		h.during(24 * time.Hour)
		seen := make(map[string]bool)
		for _, r := range h.sent(s, webhook.PingType) {
			good := verifying(r, s.Secret, keys)
			if want := map[bool]int{true: 3, false: 0}[r.verifies]; good != want {
				h.Errorf("%d signatures of 3 verify", good)
			}
			for item := range strings.SplitSeq(r.Header.Get(webhook.HeaderSignature), " ") {
				if seen[item] {
					h.Errorf("a signature occurs twice: %s", item)
				}
				seen[item] = true
			}
		}
		if len(seen) < 3*20 {
			h.Errorf("%d signatures in a day", len(seen))
		}
	})
}

// verifying counts the signatures of a request that verify, after spec 5.5.
func verifying(r request, secret []byte, keys []delivery.SigningKey) (good int) {
	content := []byte(r.Header.Get(webhook.HeaderID) + "." + r.Header.Get(webhook.HeaderTimestamp) + "." + string(r.Body))
	mac := hmac.New(sha256.New, secret)
	mac.Write(content)
	for item := range strings.SplitSeq(r.Header.Get(webhook.HeaderSignature), " ") {
		scheme, text, _ := strings.Cut(item, ",")
		signature, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			continue
		}
		if scheme == "v1" && hmac.Equal(signature, mac.Sum(nil)) {
			good++
		}
		for _, k := range keys {
			if scheme == "v1a" && ed25519.Verify(k.Public, content, signature) {
				good++
			}
		}
	}
	return good
}

// The log says of each ping what it was for, how it ended and when the next one follows a failure.
func TestLogOfPings(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *house) {
		s := h.activated()
		h.answer = statuses(503, 500)
		h.during(5 * time.Hour)
		purposes := make(map[delivery.Purpose]int)
		for _, a := range h.attempts(s)[2:] {
			purposes[a.Purpose]++
			want := map[delivery.Purpose]delivery.Attempt{
				delivery.ForPing:  {Status: 503, Detail: "A correctly signed request was answered with status 503 instead of 2xx."},
				delivery.ForCheck: {Status: 500, Detail: "A request whose signature cannot verify was answered with status 500 instead of 401."},
			}[a.Purpose]
			if a.Status != want.Status || a.Failure != delivery.BadStatus || a.Detail != want.Detail || !a.Next.Equal(a.At.Add(5*time.Minute)) || a.Type != webhook.PingType {
				h.Fatalf("the log has %+v", a)
			}
		}
		if purposes[delivery.ForPing] < 40 || purposes[delivery.ForCheck] < 1 || len(h.observed) != len(h.attempts(s)) {
			h.Errorf("logged: %v; observed: %d of %d", purposes, len(h.observed), len(h.attempts(s)))
		}
	})
}
