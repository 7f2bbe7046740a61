package signing

import "time"

// now is the time as it is stored.
func now() time.Time { return whole(time.Now()) }

// whole is a time with the precision that every backend keeps.
func whole(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }
