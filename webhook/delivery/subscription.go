package delivery

import (
	"math/rand/v2"
	"slices"
	"time"
)

// Reason is why a subscription became inactive (spec 5.1).
type Reason string

const (
	PingsFailed         Reason = "PingsFailed"         // for three days
	SecurityCheckFailed Reason = "SecurityCheckFailed" // it accepted a request that cannot verify
	URLChanged          Reason = "UrlChanged"
	SwitchedOff         Reason = "SwitchedOff" // by its owner
)

// Subscription is an endpoint and the event types that it receives (spec 5.1).
type Subscription struct {
	ID         string // a UUID
	Account    string
	URL        string
	EventTypes []string // at least one, without duplicates
	Active     bool
	Reason     Reason // why it became inactive; empty if it is active or never was
	CreatedAt  time.Time
	UpdatedAt  time.Time // when one of the fields above last changed

	// Secret is the key of v1, 32 random bytes.
	Secret []byte
	// Generation counts the changes that end queued deliveries and an activation in progress: a new URL, and being
	// switched off. Work of an earlier generation has no effect.
	Generation int
	// ActivatedAt is when the subscription became active, or zero if it is not.
	ActivatedAt time.Time
	// FailingSince is when the first of the pings was sent that have all failed since, or zero if the last one
	// succeeded. A subscription that was switched off for that keeps it.
	FailingSince time.Time
	// AlertedAt is when pings or security checks failed, at least a day after its previous value. Versions before
	// digests sent a mail for the subscription then.
	AlertedAt time.Time
}

// wants reports whether an event of that type goes to the subscription (spec 5.7).
func (s Subscription) wants(eventType string) bool {
	return s.Active && slices.Contains(s.EventTypes, eventType)
}

// activated returns the subscription after a successful activation. A subscription that is active already does not
// change.
func (s Subscription) activated(now time.Time) Subscription {
	if s.Active {
		return s
	}
	s.Active, s.Reason, s.ActivatedAt, s.UpdatedAt = true, "", now, now
	s.FailingSince = time.Time{}
	return s
}

// switchedOff returns the subscription without further deliveries. The reason of an inactive subscription does not
// change.
func (s Subscription) switchedOff(why Reason, now time.Time) Subscription {
	s.Generation++
	if s.Active {
		s.Active, s.Reason, s.ActivatedAt, s.UpdatedAt = false, why, time.Time{}, now
		if why != PingsFailed {
			s.FailingSince = time.Time{}
		}
	}
	return s
}

// Change is a change of a subscription by its owner. Fields that are nil do not change.
type Change struct {
	URL        *string
	EventTypes []string
	Active     *bool
}

// changed returns the subscription after a valid change (spec 5.1).
func (s Subscription) changed(c Change, now time.Time) Subscription {
	if c.URL != nil && *c.URL != s.URL {
		s = s.switchedOff(URLChanged, now)
		s.URL, s.UpdatedAt = *c.URL, now
	}
	if types := distinct(c.EventTypes); c.EventTypes != nil && !slices.Equal(types, s.EventTypes) {
		s.EventTypes, s.UpdatedAt = types, now
	}
	if c.Active != nil && !*c.Active {
		s = s.switchedOff(SwitchedOff, now)
	}
	return s
}

// distinct returns a list without duplicates, in the order of their first occurrence.
func distinct(list []string) []string {
	var once []string
	for _, one := range list {
		if !slices.Contains(once, one) {
			once = append(once, one)
		}
	}
	return once
}

const (
	pingInterval  = time.Hour       // approximately (spec 5.6)
	pingJitter    = 3 * time.Minute // so that endpoints that were activated together are pinged at different times
	retryInterval = 5 * time.Minute // after a failure (spec 5.6)
	failureLimit  = 72 * time.Hour  // of pings that all fail (spec 5.6)
)

// Security checks are sent at random intervals, so that an endpoint cannot recognize one by its time (spec 5.6).
const minCheckInterval, maxCheckInterval = time.Hour, 5 * time.Hour

// afterPing returns an active subscription after a ping that was due at the given time. If the ping is more than an
// hour late, the three days begin again: the service was down and sent no pings.
func (s Subscription) afterPing(a Attempt, due time.Time) Subscription {
	switch {
	case !a.failed():
		s.FailingSince = time.Time{}
	case s.FailingSince.IsZero() || a.At.Sub(due) > pingInterval:
		s.FailingSince = a.At
	case a.At.Sub(s.FailingSince) >= failureLimit:
		s = s.switchedOff(PingsFailed, a.At)
	}
	return s
}

// nextPing returns when the ping after a successful one is due.
func nextPing(at time.Time) time.Time {
	return storedTime(at.Add(pingInterval - pingJitter + rand.N(2*pingJitter)))
}

// nextCheck returns when the check after a passed one is due.
func nextCheck(at time.Time) time.Time {
	return storedTime(at.Add(minCheckInterval + rand.N(maxCheckInterval-minCheckInterval)))
}

// pauseAfter returns the pause between the end of a failed attempt and the next one, or zero after the last attempt
// (spec 5.7). The answer has no influence on it, not even 410 or a Retry-After.
func pauseAfter(attempt int) time.Duration {
	pauses := [...]time.Duration{
		10 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute,
		2 * time.Hour, 6 * time.Hour, 24 * time.Hour,
	}
	if attempt < 1 || attempt > len(pauses) {
		return 0
	}
	return pauses[attempt-1]
}
