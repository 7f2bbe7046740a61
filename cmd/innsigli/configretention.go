package main

import (
	"strconv"
	"strings"
	"time"
)

// retention is the [retention] of a configuration: how long what has served its purpose
// is remembered (decisions.md 8.2).
type retention struct {
	ended, keys lifespan // requests and their idempotency keys, which are one record
	attempts    lifespan // to deliver to webhooks, and what was given up
	evidence    lifespan
}

// defaultRetention is that of a server that is told nothing.
var defaultRetention = retention{
	ended:    lifespan{rest: 24 * time.Hour},
	keys:     lifespan{rest: 24 * time.Hour},
	attempts: lifespan{rest: 14 * day},
	evidence: lifespan{years: 10},
}

// requests is how long a request is remembered as from now.
func (r retention) requests(now time.Time) time.Duration {
	return max(now.Sub(r.ended.before(now)), now.Sub(r.keys.before(now)))
}

func readRetention(t section) retention {
	r := defaultRetention
	readLifespan(t, "ended-requests", &r.ended)
	readLifespan(t, "idempotency-keys", &r.keys)
	readLifespan(t, "delivery-attempts", &r.attempts)
	readLifespan(t, "evidence", &r.evidence)
	t.end()
	return r
}

// lifespan is a time of the calendar: years are as long as they are, and days 24 hours.
type lifespan struct {
	years int
	rest  time.Duration
}

// before is the time at which something began whose life ends now.
func (l lifespan) before(now time.Time) time.Time { return now.AddDate(-l.years, 0, 0).Add(-l.rest) }

const (
	// A request lives for less than an hour, and nothing is to be forgotten before its end.
	minLifespan = time.Hour
	maxYears    = 100
	day         = 24 * time.Hour
)

// readLifespan reads a time such as "10y", "90d" or "24h" over its default.
func readLifespan(t section, name string, into *lifespan) {
	if !t.has(name) {
		return
	}
	value, isText := t.values[name].(string)
	t.text(name)
	if l, ok := parseLifespan(value); ok {
		*into = l
	} else if isText {
		t.fault(name, "%q is no time of 1h to %dy, such as 24h, 90d or 10y", value, maxYears)
	}
}

func parseLifespan(text string) (l lifespan, ok bool) {
	if years, rest, inYears := strings.Cut(text, "y"); inYears {
		l.years, ok = parseCount(years, maxYears)
		return l, ok && l.years > 0 && rest == ""
	}
	l.rest, ok = parseSpan(text)
	return l, ok && l.rest >= minLifespan && l.rest <= maxYears*365*day
}

// parseCount reads a whole number up to a limit, in digits alone.
func parseCount(text string, limit int) (int, bool) {
	n, err := strconv.ParseUint(text, 10, 31)
	return int(n), err == nil && int(n) <= limit
}
