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
func (j Judge) Evidence(r *ades.SignatureReport, proven iter.Seq[POE]) {
	if r.Indication != "" || len(r.Chain) == 0 {
		return
	}
	l := pastValidation{Judge: j, report: r, all: j.Online.with(j.Data), at: cmp.Or(r.BestTime, j.Time), why: make([]error, len(r.Chain))}
	if l.failOnHold() {
		return
	}
	for i := range len(r.Chain) - 1 {
		l.open = append(l.open, i)
	}
	l.close(POE{j.Data, j.Time}, j.Data)
	for p := range l.untilClosed(proven) {
		l.close(p, p.Data)
	}
	if len(l.open) > 0 && j.Online != nil {
		renewed := j.Online.renew(j.Data, r.Chain, Times{SigningTime: l.at, ValidationTime: l.at, POE: j.Time})
		l.close(POE{renewed, slices.MaxFunc([]time.Time{time.Now(), j.Time}, time.Time.Compare)}, j.Data)
	}
	l.fail()
}

// pastValidation is the search for what keeps the proof about each certificate of a chain.
type pastValidation struct {
	Judge
	report *ades.SignatureReport
	all    *Data     // of the document, and what was fetched
	at     time.Time // by which the chain is judged
	open   []int     // certificates of the chain about which nothing stands yet
	why    []error   // for each of the chain
}

// untilClosed ends when nothing is open.
func (l *pastValidation) untilClosed(proven iter.Seq[POE]) iter.Seq[POE] {
	return func(yield func(POE) bool) {
		if len(l.open) == 0 {
			return
		}
		for p := range proven {
			if !yield(p) || len(l.open) == 0 {
				return
			}
		}
	}
}

// close leaves out the certificates about which something stands by what is proven, and notes it: as carried by the
// document, or as fetched.
func (l *pastValidation) close(p POE, carried *Data) {
	l.open = slices.DeleteFunc(l.open, func(i int) bool {
		chain := l.report.Chain[i : i+2]
		found := p.Data.Find(chain[0], chain[1], Times{SigningTime: l.at, ValidationTime: l.at, POE: p.At})
		if i < len(l.report.Path) {
			l.report.Path[i] = statusOf(chain[0], found, carried)
		}
		l.why[i] = cmp.Or(found.Err, l.relied(i, p))
		if found.Answer != nil { // a certificate that needs none existed when it signed
			l.why[i] = cmp.Or(l.why[i], l.caRevokedAt(i, p.At))
		}
		return l.why[i] == nil
	})
}

// relied reports whether the signature of a certificate is by algorithms that are relied upon, or were when the
// certificate is known to have existed: later, anybody might have made it. That of the signer is named by the
// signature.
func (l *pastValidation) relied(i int, p POE) error {
	chain := l.report.Chain[i : i+2]
	err := CheckChain(chain, l.Time)
	if err == nil || p.At.After(l.Time) || i > 0 && !slices.ContainsFunc(p.Data.Certificates, chain[0].Equal) {
		return err
	}
	return CheckChain(chain, p.At)
}

// caRevokedAt reports whether an authority above a certificate had been revoked when data is known to have existed: from
// then on, its key may say anything of what is below (EN 319 102-1 5.6.2.2).
func (l *pastValidation) caRevokedAt(i int, known time.Time) error {
	for above := i + 1; above+1 < len(l.report.Chain); above++ {
		chain := l.report.Chain[above : above+2]
		if err := l.all.RevokedBy(chain[0], chain[1], known); err != nil {
			return err
		}
	}
	return nil
}

// failOnHold fails a signature below an authority that is on hold by now: so is what its responders say of others,
// while they sign in its name (EN 319 102-1 5.2.6.4).
func (l *pastValidation) failOnHold() bool {
	for i := 1; i+1 < len(l.report.Chain); i++ {
		found := l.all.Find(l.report.Chain[i], l.report.Chain[i+1], Times{SigningTime: l.at, ValidationTime: l.Time})
		if found.Err == nil || found.Answer == nil || !found.Answer.OnHold() {
			continue
		}
		if i < len(l.report.Path) {
			l.report.Path[i] = statusOf(l.report.Chain[i], found, l.Data)
		}
		l.report.Fail(ades.Indeterminate, ades.TryLater, found.Err.Error())
		return true
	}
	return false
}

// fail says what is the matter when something is open still.
func (l *pastValidation) fail() {
	if len(l.open) == 0 {
		return
	}
	sub, problem := ades.RevocationOutOfBoundsNoPOE, fmt.Sprintf(
		"Nothing proves that the revocation data for %s existed before the end of who signed it.", ades.Identify(l.report.Chain[l.open[0]]))
	switch {
	case errors.Is(l.why[l.open[0]], ades.ErrAlgorithm):
		sub, problem = ades.CryptoConstraintsFailureNoPOE, l.why[l.open[0]].Error()
	case l.Time.After(l.report.Certificate.NotAfter):
		sub = ades.OutOfBoundsNoPOE
	}
	l.report.Fail(ades.Indeterminate, sub, problem)
}
