package delivery

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func hours(n float64) time.Time { return noon.Add(time.Duration(n * float64(time.Hour))) }

// active returns a subscription that is active since noon.
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

// with returns a changed subscription.
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

// Keys are read every 10 seconds. While the store is unavailable, they are used for a minute, and not read for each
// request.
func TestKeyring(t *testing.T) {
	t.Parallel()
	var ring keyring
	away, reads := error(nil), 0
	numbers := func(after time.Duration) (int, error) {
		keys, err := ring.get(noon.Add(after), func() ([]SigningKey, error) {
			reads++
			return []SigningKey{{Number: reads}}, away
		})
		if err != nil {
			return 0, err
		}
		return keys[0].Number, nil
	}
	broken := errors.New("away")
	for _, step := range []struct {
		after         time.Duration
		away          error
		number, reads int
		err           error
	}{
		{0, broken, 0, 1, broken},
		{0, nil, 2, 2, nil},
		{10*time.Second - 1, broken, 2, 2, nil},
		{10 * time.Second, broken, 2, 3, nil},
		{11*time.Second - 1, nil, 2, 3, nil},
		{11 * time.Second, broken, 2, 4, nil},
		{time.Minute - 1, broken, 2, 5, nil},
		{61 * time.Second, broken, 0, 6, broken},
		{61 * time.Second, nil, 7, 7, nil},
	} {
		away = step.away
		number, err := numbers(step.after)
		if number != step.number || reads != step.reads || err != step.err {
			t.Errorf("after %v: key %d, %d reads, %v; want %d, %d, %v", step.after, number, reads, err, step.number, step.reads, step.err)
		}
	}
	reads = 100
	ring.invalidate()
	if number, err := numbers(61 * time.Second); number != 101 || err != nil {
		t.Errorf("after it was to forget: key %d, %v", number, err)
	}
}

// spec 5.6
func TestPinged(t *testing.T) {
	t.Parallel()
	failing := func(since time.Time) Subscription {
		return with(active(), func(s *Subscription) { s.FailingSince = since })
	}
	off := with(inactive(PingsFailed), func(s *Subscription) { s.UpdatedAt, s.Generation, s.FailingSince = hours(100), 4, hours(28) })
	for name, test := range map[string]struct {
		is   Subscription
		made Attempt
		due  time.Time
		want Subscription
	}{
		"well":                  {active(), Attempt{At: hours(100)}, hours(100), active()},
		"well again":            {failing(hours(1)), Attempt{At: hours(100)}, hours(100), active()},
		"the first failure":     {active(), Attempt{At: hours(100), Failure: BadStatus}, hours(100), failing(hours(100))},
		"the second":            {failing(hours(99)), Attempt{At: hours(100), Failure: TimedOut}, hours(100), failing(hours(99))},
		"a moment before":       {failing(hours(28).Add(1)), Attempt{At: hours(100), Failure: NoName}, hours(100), failing(hours(28).Add(1))},
		"for three days":        {failing(hours(28)), Attempt{At: hours(100), Failure: NoName}, hours(100), off},
		"an hour late":          {failing(hours(28)), Attempt{At: hours(100), Failure: NoName}, hours(99), off},
		"later, as we were out": {failing(hours(28)), Attempt{At: hours(100), Failure: NoName}, hours(98.9), failing(hours(100))},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.is.afterPing(test.made, test.due)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// spec 5.6. Over many samples, some are near either end, and each hour between has its share.
func TestNextTimes(t *testing.T) {
	t.Parallel()
	const times = 20_000
	spread := func(next func(time.Time) time.Time, from, to time.Duration) (shares [4]int) {
		for range times {
			after := next(noon).Sub(noon)
			if after < from || after >= to {
				t.Fatalf("%v is not within [%v, %v)", after, from, to)
			}
			shares[4*(after-from)/(to-from)]++
		}
		return shares
	}
	for name, shares := range map[string][4]int{
		"pings":  spread(nextPing, 57*time.Minute, 63*time.Minute),
		"checks": spread(nextCheck, time.Hour, 5*time.Hour),
	} {
		for _, share := range shares { // 5,000 each; more than 16 standard deviations off is no chance
			if share < 4_000 || share > 6_000 {
				t.Errorf("%s: quarters of the time have %v of %d", name, shares, times)
			}
		}
	}
}
