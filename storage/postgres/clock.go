package postgres

import (
	"context"
	"fmt"
	"time"
)

// skew is how far the clock of this machine may be from the server's. Leases, due times and
// holds are times that one machine writes and another compares with its own: they bear a
// little, and ten seconds would end a lease that somebody has.
const skew = 2 * time.Second

// checkClock compares the clock of this machine with the server's.
func checkClock(ctx context.Context, q querier) error {
	var there time.Time
	before := time.Now()
	if err := q.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&there); err != nil {
		return err
	}
	return agrees(before, there, time.Now())
}

// agrees says whether the server's time, which was read in between, is close enough.
func agrees(before, there, after time.Time) error {
	switch {
	case there.Before(before.Add(-skew)):
		return fmt.Errorf("%w: this machine's is %v ahead of the server's", ErrClock, before.Sub(there).Round(time.Millisecond))
	case there.After(after.Add(skew)):
		return fmt.Errorf("%w: this machine's is %v behind the server's", ErrClock, there.Sub(after).Round(time.Millisecond))
	}
	return nil
}
