package delivery

import (
	"slices"
	"time"
)

// Reason is why a subscription became inactive (spec 5.1).
type Reason string

const (
	PingsFailed         Reason = "PingsFailed"         // for three days
	SecurityCheckFailed Reason = "SecurityCheckFailed" // a request that cannot verify was accepted
	URLChanged          Reason = "UrlChanged"
	SwitchedOff         Reason = "SwitchedOff" // by its owner
)

// Subscription is an endpoint and what it wants to hear of (spec 5.1).
type Subscription struct {
	ID         string // a UUID
	Account    string
	URL        string
	EventTypes []string // at least one, each once
	Active     bool
	Reason     Reason // why it became inactive; empty: it is active, or never was
	CreatedAt  time.Time
	UpdatedAt  time.Time // when its owner, or what its endpoint did, last changed one of the above

	// Secret is the key of v1, 32 random bytes.
	Secret []byte
	// Generation counts what ends deliveries that are queued and an activation under way: a
	// new URL, and being switched off. What was begun for another generation comes to nothing.
	Generation int
	// ActivatedAt is since when it is active; zero: it is not.
	ActivatedAt time.Time
	// FailingSince is when the first of the pings was sent that have failed since the last that
	// did not; zero: the last did not. It stays of a subscription that was switched off for that.
	FailingSince time.Time
	// AlertedAt is when pings or security checks did not go well, a day or more after the time that it had
	// before. Versions before digests sent a mail for the subscription then.
	AlertedAt time.Time
}

// wants says whether an event of that type is to go to the subscription (spec 5.7).
func (s Subscription) wants(eventType string) bool {
	return s.Active && slices.Contains(s.EventTypes, eventType)
}

// activated is the subscription after both pings went well. One that was active before has been
// all the time.
func (s Subscription) activated(now time.Time) Subscription {
	if s.Active {
		return s
	}
	s.Active, s.Reason, s.ActivatedAt, s.UpdatedAt = true, "", now, now
	s.FailingSince = time.Time{}
	return s
}

// switchedOff is the subscription once it is to receive nothing. The reason stays of one that is
// inactive already.
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

// Change is what an owner changes of a subscription; nil is left as it is.
type Change struct {
	URL        *string
	EventTypes []string
	Active     *bool
}

// changed is the subscription after a valid change (spec 5.1).
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

// distinct has each of the list once, where it first stands.
func distinct(list []string) []string {
	var once []string
	for _, one := range list {
		if !slices.Contains(once, one) {
			once = append(once, one)
		}
	}
	return once
}
