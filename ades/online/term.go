package online

import (
	"fmt"
	"time"

	"github.com/innsigli/innsigli/ades"
)

// term is since when a proof is known to be right, and by when there will be a newer one.
type term struct {
	thisUpdate time.Time
	nextUpdate time.Time // zero when absent
}

// inForce checks the term as of the time of the question. Where nothing says when there
// will be a newer proof there is one at any time (RFC 6960 4.2.2.1), and an old one says
// too little (3.2 item 5 there). A proof that is too old is followed by another.
func (t term) inForce(asked time.Time) error {
	switch {
	case t.thisUpdate.After(asked.Add(ades.MaxSkew)):
		return fmt.Errorf("thisUpdate %s is in the future", stamp(t.thisUpdate))
	case t.nextUpdate.IsZero() && t.thisUpdate.Before(asked.Add(-ades.MaxSkew)):
		return fmt.Errorf("%w: thisUpdate %s is past, without a nextUpdate", ades.ErrUnavailable, stamp(t.thisUpdate))
	case !t.nextUpdate.IsZero() && t.nextUpdate.Before(asked):
		return fmt.Errorf("%w: nextUpdate was at %s", ades.ErrUnavailable, stamp(t.nextUpdate))
	}
	return nil
}

// covers checks that an answer is about a time: it was made then or later, in seconds as authorities count, or was in
// force then. Many responders prepare their answers, and the next one may be hours away: EU DSS and pyHanko accept such an
// answer for level LT.
func (t term) covers(notBefore time.Time) error {
	if t.thisUpdate.Before(notBefore.Truncate(time.Second)) && !t.nextUpdate.After(notBefore) {
		return fmt.Errorf("%w: thisUpdate %s is before %s", ades.ErrUnavailable, stamp(t.thisUpdate), stamp(notBefore))
	}
	return nil
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
