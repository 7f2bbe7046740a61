package validation

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/evidence"
)

// Proven is validation data that is known to have existed at a time.
type Proven struct {
	Data *evidence.Data
	At   time.Time
}

// Evidence makes sure that a signature which has passed so far has its revocation data from responders and
// authorities that are in force, or were when the data is known to have existed (EN 319 102-1 5.6.2.3): the key
// of one that has expired may be anybody's, and so may proofs that it seems to have signed before. An archive
// timestamp in time is what keeps them; what such timestamps prove is asked for when it matters.
func (j Judge) Evidence(r *ades.SignatureReport, proven iter.Seq[Proven]) {
	if r.Indication != "" || len(r.Chain) == 0 {
		return
	}
	at := cmp.Or(r.BestTime, j.Time)
	unproven := func(certificates []int, p Proven) []int {
		return slices.DeleteFunc(certificates, func(i int) bool {
			return p.Data.Status(r.Chain[i], r.Chain[i+1], evidence.Times{Used: at, Judged: at, Known: p.At}) == nil
		})
	}
	below := make([]int, len(r.Chain)-1)
	for i := range below {
		below[i] = i
	}
	below = unproven(below, Proven{j.Data, j.Time})
	if len(below) == 0 {
		return
	}
	for p := range proven {
		if below = unproven(below, p); len(below) == 0 {
			return
		}
	}
	if j.Online != nil {
		renewed := j.Online.renew(j.Data, r.Chain, evidence.Times{Used: at, Judged: at, Known: j.Time})
		if below = unproven(below, Proven{renewed, time.Now()}); len(below) == 0 {
			return
		}
	}
	sub := ades.RevocationOutOfBoundsNoPOE
	if j.Time.After(r.Certificate.NotAfter) {
		sub = ades.OutOfBoundsNoPOE
	}
	r.Fail(ades.Indeterminate, sub, fmt.Sprintf("Nothing proves that the revocation data for %s existed before the end of who signed it.",
		ades.Identify(r.Chain[below[0]])))
}
