package delivery_test

import (
	"encoding/base64"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/webhook"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// pings are the requests to a subscription since the time given that are signed correctly, and
// checks the others.
func (h *house) pings(to delivery.Subscription, since time.Duration) (pings, checks []request) {
	for _, r := range h.sent(to, webhook.PingType) {
		switch {
		case r.after < since:
		case r.verifies:
			pings = append(pings, r)
		default:
			checks = append(checks, r)
		}
	}
	return pings, checks
}

// spec 5.4 and 5.6
func TestPingsOfADay(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *house) {
		s := h.activated()
		h.during(24 * time.Hour)
		pings, _ := h.pings(s, time.Second)
		if len(pings) < 22 || len(pings) > 25 {
			h.Errorf("%d pings in 24 hours", len(pings))
		}
		before, ids := time.Duration(0), make(map[string]bool)
		for _, r := range pings {
			if gap := r.after - before; gap < 57*time.Minute || gap > 63*time.Minute {
				h.Errorf("%v between two", gap)
			}
			before, ids[r.ID] = r.after, true
			if !pingBody.Match(r.Body) {
				h.Errorf("a body is %s", r.Body)
			}
			mustBeAlike(h.T, pings[0], r)
		}
		if len(ids) != len(pings) {
			h.Errorf("%d pings have %d IDs", len(pings), len(ids))
		}
	})
}

var pingBody = regexp.MustCompile(`^\{"type":"webhook\.ping","timestamp":"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+\+00:00","data":\{\}\}$`)

// mustBeAlike compares all that an endpoint sees of two pings but their IDs, their times and what
// they are signed with.
func mustBeAlike(t *testing.T, a, b request) {
	t.Helper()
	type seen struct {
		URL, To string
		Headers []string
		Signed  []string // scheme and length
		Body    string
		ID      int
	}
	look := func(r request) seen {
		s := seen{
			URL: r.URL, To: r.to, Headers: slices.Sorted(maps.Keys(r.Header)), ID: len(r.ID),
			Body: regexp.MustCompile(`"timestamp":"[^"]*"`).ReplaceAllString(string(r.Body), "time"),
		}
		for item := range strings.SplitSeq(r.Header.Get(webhook.HeaderSignature), " ") {
			scheme, text, _ := strings.Cut(item, ",")
			signature, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				t.Errorf("signature %q: %v", item, err)
			}
			s.Signed = append(s.Signed, scheme+" "+strings.Repeat("x", len(signature)))
		}
		return s
	}
	if diff := cmp.Diff(look(a), look(b)); diff != "" {
		t.Errorf("two pings differ:\n%s", diff)
	}
}
