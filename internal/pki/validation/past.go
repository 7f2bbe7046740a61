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

// POE is validation data together with a time at which it is known to have existed (proof of
// existence, EN 319 102-1 3.1).
type POE struct {
	Data *Data
	At   time.Time
}

// PastValidation checks the revocation data of a signature that has passed all checks so far (past
// certificate validation, EN 319 102-1 5.6.2). For each certificate of the chain below the root,
// the signer of the revocation data has to be valid at the time of validation, or at the time of a
// POE for the data (5.6.2.3). The algorithms of the revocation data and of the certificates have to
// be accepted at that time too. Revocation data of an expired signer does not count without a POE:
// another person may have the key, and may sign revocation data with an earlier time. A POE comes
// from an archive timestamp that was made in time. Evidence reads poes only while it needs more of
// them.
func (j Validator) PastValidation(r *ades.SignatureReport, poes iter.Seq[POE]) {
	if r.Indication != "" || len(r.Chain) == 0 {
		return
	}
	v := pastValidation{Validator: j, report: r, all: j.Online.withFetched(j.Data), at: cmp.Or(r.BestTime, j.Time), errs: make([]error, len(r.Chain))}
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

// pastValidation looks for a POE for the revocation data about each certificate of a chain.
type pastValidation struct {
	Validator
	report  *ades.SignatureReport
	all     *Data     // the data of the document, and what was fetched
	at      time.Time // at which the chain is validated
	pending []int     // indexes of the certificates without revocation data that counts
	errs    []error   // by index: why the last revocation data did not count
}

// whilePending returns the POEs up to the one after which no certificate is pending.
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

// checkPending removes from pending the certificates whose revocation data counts by the POE, and
// stores their status in the report. Revocation data that is not in document was fetched.
func (v *pastValidation) checkPending(p POE, document *Data) {
	v.pending = slices.DeleteFunc(v.pending, func(i int) bool {
		chain := v.report.Chain[i : i+2]
		found := p.Data.Find(chain[0], chain[1], Times{SigningTime: v.at, ValidationTime: v.at, POE: p.At})
		if i < len(v.report.Path) {
			v.report.Path[i] = certificateStatus(chain[0], found, document)
		}
		v.errs[i] = cmp.Or(found.Err, v.checkAlgorithms(i, p))
		if found.Answer != nil { // otherwise it needs none, and existed when it signed
			v.errs[i] = cmp.Or(v.errs[i], v.caRevokedAt(i, p.At))
		}
		return v.errs[i] == nil
	})
}

// checkAlgorithms checks that the algorithms of a certificate's signature are accepted at the time
// of validation, or at the time of a POE for the certificate. Without such a POE, an attacker may
// have made the certificate later. The signer's certificate (index 0) need not be in the data of
// the POE, because the signature identifies it. Any other certificate has to be.
func (v *pastValidation) checkAlgorithms(i int, p POE) error {
	chain := v.report.Chain[i : i+2]
	err := CheckChain(chain, v.Time)
	if err == nil || p.At.After(v.Time) || i > 0 && !slices.ContainsFunc(p.Data.Certificates, chain[0].Equal) {
		return err
	}
	return CheckChain(chain, p.At)
}

// caRevokedAt returns an error if an authority above a certificate had been revoked at known, the
// time of a POE for the revocation data. From the revocation on, another person may use the
// authority's key to sign certificates and revocation data (EN 319 102-1 5.6.2.2).
func (v *pastValidation) caRevokedAt(i int, known time.Time) error {
	for above := i + 1; above+1 < len(v.report.Chain); above++ {
		chain := v.report.Chain[above : above+2]
		if err := v.all.RevokedBy(chain[0], chain[1], known); err != nil {
			return err
		}
	}
	return nil
}

// failOnHold fails the signature if an authority in the chain is on hold at the time of validation,
// and reports whether it did. The OCSP responders of the authority sign in its name, so their
// responses are on hold too (EN 319 102-1 5.2.6.4).
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

// failIfPending fails the signature if a certificate is still pending.
func (v *pastValidation) failIfPending() {
	if len(v.pending) == 0 {
		return
	}
	sub, problem := ades.RevocationOutOfBoundsNoPOE, fmt.Sprintf(
		"Nothing proves that the revocation data for %s existed before the certificate of its signer expired or was revoked.", ades.Identify(v.report.Chain[v.pending[0]]))
	switch {
	case errors.Is(v.errs[v.pending[0]], ades.ErrAlgorithm):
		sub, problem = ades.CryptoConstraintsFailureNoPOE, v.errs[v.pending[0]].Error()
	case v.Time.After(v.report.Certificate.NotAfter):
		sub = ades.OutOfBoundsNoPOE
	}
	v.report.Fail(ades.Indeterminate, sub, problem)
}
