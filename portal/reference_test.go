package portal_test

import (
	"time"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/portal/process"
)

// reference is what a process is to be, in other words than the service's: what happened to each
// participant.
type reference struct {
	signer, pinned, opened, signed, declined [8]bool
	invited                                  [8]time.Time
	n, turn                                  int // turn is whose it is; -1: nobody's
	deleted                                  bool
}

func (r *reference) status() portal.Status {
	status := portal.Completed
	for i := range r.n {
		switch {
		case r.declined[i]:
			return portal.Declined
		case r.signer[i] && !r.signed[i] && time.Since(r.invited[i]) > 7*24*time.Hour: // time: in bubbles alone
			status = portal.Expired
		case r.signer[i] && !r.signed[i] && status == portal.Completed:
			status = portal.Waiting
		}
	}
	return status
}

func (r *reference) asked(i int) bool { return r.signer[i] && !r.signed[i] && !r.declined[i] }

// linked says whether a link leads to the place.
func (r *reference) linked(i int) bool {
	// time: in bubbles alone
	return !r.opened[i] && !r.signed[i] && !r.declined[i] && time.Since(r.invited[i]) <= 7*24*time.Hour
}

// link is what has become of the last link to a place.
func (r *reference) link(i int) process.LinkState {
	switch {
	case r.linked(i):
		return portal.Unopened
	case r.opened[i], r.signed[i], r.declined[i]:
		return portal.Opened
	}
	return portal.LinkExpired
}

// revision is how many have signed.
func (r *reference) revision() (n int) {
	for _, signed := range r.signed {
		if signed {
			n++
		}
	}
	return n
}

// unread says whether there is a viewer who has not looked.
func (r *reference) unread() (found bool) {
	for i := range r.n {
		found = found || !r.signer[i] && !r.opened[i]
	}
	return found
}
