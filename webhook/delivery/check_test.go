package delivery_test

import (
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/webhook"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// spec 5.4 and 5.6: pings are sent about every hour, and checks at random intervals of one to five hours. Both look alike.
func TestPingsAndChecksOfAWeek(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *harness) {
		s := h.activated()
		h.runFor(7 * 24 * time.Hour)
		pings, checks := h.pings(s, time.Second)
		ids, body := make(map[string]bool), regexp.MustCompile(`^\{"type":"webhook\.ping","timestamp":"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+\+00:00","data":\{\}\}$`)
		for _, test := range []struct {
			name        string
			requests    []request
			least, most time.Duration
		}{{"pings", pings, 57 * time.Minute, 63 * time.Minute}, {"checks", checks, time.Hour, 5 * time.Hour}} {
			before := time.Duration(0)
			for _, r := range test.requests {
				if gap := r.after - before; gap < test.least || gap > test.most || !body.Match(r.Body) {
					h.Errorf("%s: %v between two, a body is %s", test.name, gap, r.Body)
				}
				before, ids[r.ID] = r.after, true
				mustBeAlike(h.T, pings[0], r)
			}
			if before < 7*24*time.Hour-test.most {
				h.Errorf("%s: %d in a week, the last after %v", test.name, len(test.requests), before)
			}
		}
		if len(ids) != len(pings)+len(checks) {
			h.Errorf("%d pings and %d checks have %d IDs", len(pings), len(checks), len(ids))
		}
		if is := h.now(s); !cmp.Equal(is, s) {
			h.Errorf("it is %+v", is)
		}
	})
}

// The signatures of a check look like others, and none verifies, also during a rotation of keys.
func TestChecksDoNotVerify(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *harness) {
		if _, err := h.hooks.RotateKey(h.Context(), 1000*time.Hour); err != nil {
			h.Fatal(err)
		}
		keys, err := h.hooks.Keys(h.Context())
		if err != nil || len(keys) != 2 {
			h.Fatalf("%d keys, %v", len(keys), err)
		}
		s := h.activated()
		h.runFor(24 * time.Hour)
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

// verifying counts the signatures that verify (spec 5.5).
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

// The log has the purpose, the result and, after a failure, the time of the next attempt.
func TestLogOfPings(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *harness) {
		s := h.activated()
		h.answer = statuses(503, 500)
		h.runFor(5 * time.Hour)
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

// spec 5.1 and 5.6: 2xx to a check switches the subscription off at once, also after an outage.
func TestCheckAccepted(t *testing.T) {
	t.Parallel()
	for name, statusesOf := range map[string][]int{
		"200":             {200},
		"204":             {204},
		"299":             {299},
		"after an outage": {500, 0, 403, 202},
	} {
		t.Run(name, func(t *testing.T) {
			var post letters
			bubble(t, delivery.Options{Alerts: &post}, func(h *harness) {
				s := h.activated()
				left := statusesOf
				h.answer = func(_ context.Context, r request) int {
					if r.verifies {
						return 204
					}
					status := left[0]
					left = left[1:]
					return status
				}
				h.runFor(6 * time.Hour)
				_, checks := h.pings(s, time.Second)
				if len(checks) != len(statusesOf) {
					h.Fatalf("%d checks", len(checks))
				}
				first, off := checks[0].after, checks[len(checks)-1].after
				want := []delivery.Trouble{{Purpose: delivery.ForCheck, Reason: delivery.SecurityCheckFailed, Since: h.began.Add(off).UTC()}}
				if first != off { // the switching off is told a day after the outage
					want = []delivery.Trouble{{Purpose: delivery.ForCheck}}
				}
				post.mustBe(h.T, s, want, first)
				if is := h.now(s); is.Active || is.Reason != delivery.SecurityCheckFailed || !is.UpdatedAt.Equal(h.began.Add(off)) {
					h.Errorf("it is %+v", is)
				}
				log := h.attempts(s)
				if last, want := log[len(log)-1], fmt.Sprintf("A request whose signature cannot verify was answered with status %d instead of 401.", statusesOf[len(statusesOf)-1]); last.Detail != want {
					h.Errorf("the log ends with %+v", last)
				}
				h.emit(account, signed)
				h.mustBeWatched(s, false)
				if _, err := h.hooks.Activate(h.Context(), account, s.ID); err != nil {
					h.Fatal(err)
				}
				h.mustBeWatched(s, true)
			})
		})
	}
}

// spec 5.6: an outage during a check does not count. The check is repeated until the endpoint answers.
func TestOutageDuringCheck(t *testing.T) {
	for name, fail := range outages {
		long, mails := 30*time.Hour, 2
		if name == "an error" {
			long, mails = 80*time.Hour, 4 // more than the three days
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var post letters
			bubble(t, delivery.Options{Alerts: &post}, func(h *harness) {
				s := h.activated()
				time.Sleep(time.Second)
				h.answer = func(ctx context.Context, r request) int {
					if r.verifies {
						return 204
					}
					return fail(ctx)
				}
				h.runFor(long)
				_, checks := h.pings(s, time.Second)
				first := checks[0].after
				if want := int((long + time.Second - first) / (5 * time.Minute)); len(checks) < want || len(checks) > want+1 {
					h.Errorf("%d checks instead of %d", len(checks), want)
				}
				for i, r := range checks {
					if r.after != first+time.Duration(i)*5*time.Minute {
						h.Fatalf("check %d comes %v after the first", i, r.after-first)
					}
				}
				post.mustBe(h.T, s, slices.Repeat([]delivery.Trouble{{Purpose: delivery.ForCheck}}, mails), first, first+24*time.Hour, first+48*time.Hour, first+72*time.Hour)
				want := s
				want.AlertedAt = h.began.Add(first).UTC().Add(time.Duration(mails-1) * 24 * time.Hour)
				if diff := cmp.Diff(want, h.now(s)); diff != "" {
					h.Errorf("it is (-want +got):\n%s", diff)
				}

				h.answer, h.requests = nil, nil
				h.runFor(6 * time.Hour)
				_, checks = h.pings(s, time.Second)
				if gap := checks[1].after - checks[0].after; gap < time.Hour || gap > 5*time.Hour {
					h.Errorf("the check after the outage comes %v later", gap)
				}
			})
		})
	}
}
