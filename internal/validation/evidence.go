package validation

import (
	"fmt"
	"time"

	"github.com/innsigli/innsigli/ades"
)

// Evidence makes sure that a signature which has passed so far has its revocation data from authorities that
// were in force at the time at which that data is known to have existed (EN 319 102-1 5.6.2.3): the key of an
// authority that has expired may be anybody's, and so may proofs that it seems to have signed before. An
// archive timestamp in time is what keeps them.
func Evidence(r *ades.SignatureReport, at time.Time) {
	if r.Indication != "" || len(r.Chain) < 2 {
		return
	}
	for _, c := range r.Chain[1 : len(r.Chain)-1] {
		if at.After(c.NotAfter) {
			r.Fail(ades.Indeterminate, ades.OutOfBoundsNoPOE,
				fmt.Sprintf("Nothing proves that the revocation data existed before the end of %s.", ades.Identify(c)))
		}
	}
}
