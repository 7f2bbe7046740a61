package validation

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/innsigli/innsigli/ades"
)

// POE is validation data that is known to have existed at a time.
type POE struct {
	Data *Data
	At   time.Time
}

// Evidence makes sure that a signature which has passed so far has its revocation data from responders and
// authorities that are in force, or were when the data is known to have existed (EN 319 102-1 5.6.2.3), and by
// algorithms that are relied upon still, or were then, as are those of its certificates: the key of one that has
// expired may be anybody's, and so may proofs that it seems to have signed before. An archive timestamp in time is
// what keeps them; what such timestamps prove is asked for when it matters.
func (j Judge) Evidence(r *ades.SignatureReport, poes iter.Seq[POE]) {
	if r.Indication != "" || len(r.Chain) == 0 {
		return
	}
	v := pastValidation{Judge: j, report: r, all: j.Online.withFetched(j.Data), at: cmp.Or(r.BestTime, j.Time), errs: make([]error, len(r.Chain))}
	if v.failOnHold() {
		return
	}
	for i := range len(r.Chain) - 1 {
		v.pending = append(v.pending, i)
	}
	v.checkPending(POE{j.Data, j.Time}, j.Data)
	for p := range v.whilePending(poes) {
		v.checkPending(p, p.Data)
	}
	if len(v.pending) > 0 && j.Online != nil {
		newer := j.Online.fetchNewer(j.Data, r.Chain, Times{SigningTime: v.at, ValidationTime: v.at, POE: j.Time})
		v.checkPending(POE{newer, slices.MaxFunc([]time.Time{time.Now(), j.Time}, time.Time.Compare)}, j.Data)
	}
	v.failIfPending()
}

// pastValidation is the search for what keeps the proof about each certificate of a chain.
type pastValidation struct {
	Judge
	report  *ades.SignatureReport
	all     *Data     // of the document, and what was fetched
	at      time.Time // by which the chain is judged
	pending []int     // certificates of the chain about which nothing stands yet
	errs    []error   // for each of the chain
}

// whilePending ends when nothing is open.
func (v *pastValidation) whilePending(poes iter.Seq[POE]) iter.Seq[POE] {
	return func(yield func(POE) bool) {
		if len(v.pending) == 0 {
			return
		}
		for p := range poes {
			if !yield(p) || len(v.pending) == 0 {
				return
			}
		}
	}
}

// close leaves out the certificates about which something stands by what is proven, and notes it: as document by the
// document, or as fetched.
func (v *pastValidation) checkPending(p POE, document *Data) {
	v.pending = slices.DeleteFunc(v.pending, func(i int) bool {
		chain := v.report.Chain[i : i+2]
		found := p.Data.Find(chain[0], chain[1], Times{SigningTime: v.at, ValidationTime: v.at, POE: p.At})
		if i < len(v.report.Path) {
			v.report.Path[i] = certificateStatus(chain[0], found, document)
		}
		v.errs[i] = cmp.Or(found.Err, v.checkAlgorithms(i, p))
		if found.Answer != nil { // a certificate that needs none existed when it signed
			v.errs[i] = cmp.Or(v.errs[i], v.caRevokedAt(i, p.At))
		}
		return v.errs[i] == nil
	})
}

// relied reports whether the signature of a certificate is by algorithms that are relied upon, or were when the
// certificate is known to have existed: later, anybody might have made it. That of the signer is named by the
// signature.
func (v *pastValidation) checkAlgorithms(i int, p POE) error {
	chain := v.report.Chain[i : i+2]
	err := CheckChain(chain, v.Time)
	if err == nil || p.At.After(v.Time) || i > 0 && !slices.ContainsFunc(p.Data.Certificates, chain[0].Equal) {
		return err
	}
	return CheckChain(chain, p.At)
}

// caRevokedAt reports whether an authority above a certificate had been revoked when data is known to have existed: from
// then on, its key may say anything of what is below (EN 319 102-1 5.6.2.2).
func (v *pastValidation) caRevokedAt(i int, known time.Time) error {
	for above := i + 1; above+1 < len(v.report.Chain); above++ {
		chain := v.report.Chain[above : above+2]
		if err := v.all.RevokedBy(chain[0], chain[1], known); err != nil {
			return err
		}
	}
	return nil
}

// failOnHold fails a signature below an authority that is on hold by now: so is what its responders say of others,
// while they sign in its name (EN 319 102-1 5.2.6.4).
func (v *pastValidation) failOnHold() bool {
	for i := 1; i+1 < len(v.report.Chain); i++ {
		found := v.all.Find(v.report.Chain[i], v.report.Chain[i+1], Times{SigningTime: v.at, ValidationTime: v.Time})
		if found.Err == nil || found.Answer == nil || !found.Answer.OnHold() {
			continue
		}
		if i < len(v.report.Path) {
			v.report.Path[i] = certificateStatus(v.report.Chain[i], found, v.Data)
		}
		v.report.Fail(ades.Indeterminate, ades.TryLater, found.Err.Error())
		return true
	}
	return false
}

// fail says what is the matter when something is open still.
func (v *pastValidation) failIfPending() {
	if len(v.pending) == 0 {
		return
	}
	sub, problem := ades.RevocationOutOfBoundsNoPOE, fmt.Sprintf(
		"Nothing proves that the revocation data for %s existed before the end of who signed it.", ades.Identify(v.report.Chain[v.pending[0]]))
	switch {
	case errors.Is(v.errs[v.pending[0]], ades.ErrAlgorithm):
		sub, problem = ades.CryptoConstraintsFailureNoPOE, v.errs[v.pending[0]].Error()
	case v.Time.After(v.report.Certificate.NotAfter):
		sub = ades.OutOfBoundsNoPOE
	}
	v.report.Fail(ades.Indeterminate, sub, problem)
}
