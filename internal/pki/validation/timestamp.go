package validation

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/tsp"
)

// Timestamp is a timestamp in a document.
type Timestamp struct {
	Token  *tsp.Token // nil if it could not be read
	Report ades.TimestampReport
}

// Read parses a timestamp token. If the token cannot be parsed, the report contains the error.
func Read(kind ades.TimestampType, ber []byte) Timestamp {
	t := Timestamp{Report: ades.TimestampReport{Type: kind}}
	token, err := tsp.ParseToken(ber)
	if err != nil {
		t.Report.Fail(err.Error())
		return t
	}
	t.Token, t.Report.Time = token, token.Time
	return t
}

// Check verifies that the token covers the data with the digest sum, computed with the token's
// Hash. The token must have been read. If the token does not contain the certificate of its
// authority, Check looks for it in known.
func (t *Timestamp) Check(sum []byte, known []*x509.Certificate) {
	t.Token.AddCertificates(known)
	t.Report.Authority = t.Token.Certificate
	switch err := t.Token.VerifyOver(sum); {
	case errors.Is(err, tsp.ErrMismatch):
		t.Report.Fail("The timestamp covers other data.")
	case err != nil:
		t.Report.Fail(err.Error())
	default:
		t.Report.Intact = true
	}
}

// EarliestPOE returns the earliest time of a POE for the data that the timestamp covers, given that
// there is a POE at the time later: the time of the timestamp if it is trusted and earlier, else
// later.
func (t *Timestamp) EarliestPOE(later time.Time) time.Time {
	if t.Report.Trusted && t.Report.Time.Before(later) {
		return t.Report.Time
	}
	return later
}

// Timestamp decides whether a timestamp is trusted, so that it is a POE at its time (EN 319 102-1
// 5.6.3). The caller has called [Timestamp.Check] before. The certificate of the timestamp
// authority is validated at the time at, when the timestamp is known to have existed. Timestamp
// stores the result in the report.
func (j Validator) Timestamp(t *Timestamp, known *Known, at time.Time) {
	if !t.Report.Intact {
		return
	}
	known = known.ForTimestamps()
	t.Report.JudgedAt = at
	data, fetchErr := j.Online.fetchMissing(j.Data, known, t.Token.Certificate, Times{SigningTime: t.Token.Time, ValidationTime: at}, time.Time{})
	if err := j.checkTimestampAuthority(t, data, known, at); err != nil {
		t.Report.Fail(err.Error())
		if fetchErr != nil {
			t.Report.Fail(unavailableWarning(fetchErr))
		}
		return
	}
	t.Report.Trusted = true
}

// checkTimestampAuthority checks the certificate of the timestamp authority and the algorithms of
// the token, and stores the status of the certificates in the report.
func (j Validator) checkTimestampAuthority(t *Timestamp, data *Data, known *Known, at time.Time) error {
	token := t.Token
	if token.Time.After(at.Add(ades.MaxSkew)) {
		return fmt.Errorf("timestamp of %s, after the validation time", token.Time.UTC().Format(time.RFC3339))
	}
	chain, err := data.Chain(known, token.Certificate, at)
	if err != nil {
		return err
	}
	found := data.FindAll(chain, Times{SigningTime: token.Time, ValidationTime: at})
	t.Report.Path = pathStatus(chain, found, j.Data)
	return cmp.Or(
		checkAuthorities(chain),
		CheckAlgorithm(token.Algorithm, token.Certificate.PublicKey, at), CheckHash(token.Hash, at),
		CheckChain(chain, at), found.Err(),
	)
}

// ReadableTimestamps returns the timestamps whose token could be read.
func ReadableTimestamps(timestamps []Timestamp) []Timestamp {
	return slices.DeleteFunc(slices.Clone(timestamps), func(t Timestamp) bool { return t.Token == nil })
}

// Certificates returns the certificates in the tokens.
func Certificates(timestamps []Timestamp) []*x509.Certificate {
	var all []*x509.Certificate
	for _, t := range ReadableTimestamps(timestamps) {
		all = append(all, t.Token.Certificates...)
	}
	return all
}

// Targets returns a Target for the authority of each timestamp whose token could be read.
func Targets(timestamps []Timestamp) []Target {
	var all []Target
	for _, t := range ReadableTimestamps(timestamps) {
		all = append(all, Target{Certificate: t.Token.Certificate, Timestamp: true, Times: Times{SigningTime: t.Token.Time}})
	}
	return all
}
