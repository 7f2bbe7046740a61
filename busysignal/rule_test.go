package busysignal

import (
	"errors"
	"testing"
	"time"
)

// spec 3.11
func TestHeldAt(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		holder *Holder
		held   bool
	}{
		"not taken":                 {nil, false},
		"just taken":                {&Holder{Since: now}, true},
		"almost 5 minutes":          {&Holder{Since: now.Add(-HoldTimeout + 1)}, true},
		"5 minutes":                 {&Holder{Since: now.Add(-HoldTimeout)}, false},
		"long ago":                  {&Holder{Since: now.AddDate(-1, 0, 0)}, false},
		"by a clock a second ahead": {&Holder{Since: now.Add(time.Second)}, true},
		"by a clock a day ahead":    {&Holder{Since: now.AddDate(0, 0, 1)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (Signal{Holder: test.holder}).HeldAt(now); got != test.held {
				t.Errorf("held is %v", got)
			}
		})
	}
}

func TestTake(t *testing.T) {
	now, user := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), "anna"
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	for name, test := range map[string]struct {
		holder *Holder
		since  time.Time // of the new hold; zero: refused
	}{
		"a free signal":                     {nil, now},
		"by the holder again":               {&Holder{ID: "me", Since: ago(time.Minute)}, ago(time.Minute)},
		"by the holder after its hold":      {&Holder{ID: "me", Since: ago(HoldTimeout)}, now},
		"from another":                      {&Holder{ID: "other", UserID: &user, Since: ago(time.Minute)}, time.Time{}},
		"from another whose hold has ended": {&Holder{ID: "other", Since: ago(HoldTimeout)}, now},
	} {
		t.Run(name, func(t *testing.T) {
			signal, err := Signal{Holder: test.holder}.take(Holder{ID: "me", Since: now.Add(time.Hour)}, now)
			if test.since.IsZero() {
				var held *HeldError
				if !errors.As(err, &held) || held.UserID != test.holder.UserID {
					t.Errorf("take: %v", err)
				}
				return
			}
			if err != nil || signal.Holder.ID != "me" || !signal.Holder.Since.Equal(test.since) || !signal.UsedAt.Equal(now) {
				t.Errorf("take: %+v, %v", signal.Holder, err)
			}
		})
	}
}
