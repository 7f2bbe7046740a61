package delivery

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func hours(n float64) time.Time { return noon.Add(time.Duration(n * float64(time.Hour))) }

// active is a subscription since noon.
func active() Subscription {
	return Subscription{
		ID: "a subscription", Account: "an account", URL: "https://example.is/hooks", EventTypes: []string{"a", "b"},
		Active: true, CreatedAt: hours(-1), UpdatedAt: noon, Generation: 3, ActivatedAt: noon,
	}
}

func inactive(why Reason) Subscription {
	s := active()
	s.Active, s.Reason, s.ActivatedAt = false, why, time.Time{}
	return s
}

// with is a subscription changed.
func with(s Subscription, change func(s *Subscription)) Subscription {
	change(&s)
	return s
}

// spec 5.1
func TestChanged(t *testing.T) {
	t.Parallel()
	url, same, on, off := "https://example.is/new", active().URL, true, false
	for name, test := range map[string]struct {
		is     Subscription
		change Change
		want   Subscription
	}{
		"nothing":        {active(), Change{}, active()},
		"the same URL":   {active(), Change{URL: &same}, active()},
		"the same types": {active(), Change{EventTypes: []string{"a", "b", "a"}}, active()},
		"still active":   {active(), Change{Active: &on}, active()}, // Update refuses it
		"another URL": {active(), Change{URL: &url}, with(inactive(URLChanged), func(s *Subscription) {
			s.URL, s.UpdatedAt, s.Generation = url, hours(1), 4
		})},
		"another URL of one that failed": {inactive(PingsFailed), Change{URL: &url}, with(inactive(PingsFailed), func(s *Subscription) {
			s.URL, s.UpdatedAt, s.Generation = url, hours(1), 4
		})},
		"other types": {active(), Change{EventTypes: []string{"b", "c", "b"}}, with(active(), func(s *Subscription) {
			s.EventTypes, s.UpdatedAt = []string{"b", "c"}, hours(1)
		})},
		"off": {active(), Change{Active: &off}, with(inactive(SwitchedOff), func(s *Subscription) {
			s.UpdatedAt, s.Generation = hours(1), 4
		})},
		"off again": {inactive(PingsFailed), Change{Active: &off}, with(inactive(PingsFailed), func(s *Subscription) {
			s.Generation = 4 // an activation under way comes to nothing
		})},
		"all at once": {active(), Change{URL: &url, EventTypes: []string{"c"}, Active: &off}, with(inactive(URLChanged), func(s *Subscription) {
			s.URL, s.EventTypes, s.UpdatedAt, s.Generation = url, []string{"c"}, hours(1), 5
		})},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.is.changed(test.change, hours(1))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestActivated(t *testing.T) {
	t.Parallel()
	failed := with(inactive(PingsFailed), func(s *Subscription) { s.AlertedAt = hours(-2) })
	want := with(active(), func(s *Subscription) {
		s.ActivatedAt, s.UpdatedAt = hours(1), hours(1)
		s.AlertedAt = hours(-2) // one mail a day stays one
	})
	if diff := cmp.Diff(want, failed.activated(hours(1))); diff != "" {
		t.Errorf("one that was off (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(active(), active().activated(hours(1))); diff != "" {
		t.Errorf("one that was active has been since before (-want +got):\n%s", diff)
	}
}

// spec 5.7
func TestWants(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		is   Subscription
		kind string
		want bool
	}{
		"an event of its types": {active(), "b", true},
		"another type":          {active(), "c", false},
		"an inactive one":       {inactive(SwitchedOff), "a", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.is.wants(test.kind); got != test.want {
				t.Errorf("%v", got)
			}
		})
	}
}
