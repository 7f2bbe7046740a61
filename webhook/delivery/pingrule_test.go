package delivery

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

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
			if diff := cmp.Diff(test.want, test.is.pinged(test.made, test.due)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// spec 5.6. Of so many times, some are near either end, and each hour between
// has its share.
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
