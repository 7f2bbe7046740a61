package main

import (
	"fmt"
	"strings"
	"time"
)

// span is a length of time that a flag takes, such as "7d" or "36h".
type span time.Duration

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *span) UnmarshalText(text []byte) error {
	d, ok := parseSpan(string(text))
	if !ok {
		return fmt.Errorf("%q is no time such as 36h or 7d", text)
	}
	*s = span(d)
	return nil
}

// parseSpan reads days, or a time as [time.ParseDuration] does, which knows none.
func parseSpan(text string) (time.Duration, bool) {
	if days, rest, inDays := strings.Cut(text, "d"); inDays {
		n, ok := parseCount(days, maxYears*365)
		return time.Duration(n) * day, ok && rest == ""
	}
	d, err := time.ParseDuration(text)
	return d, err == nil
}
