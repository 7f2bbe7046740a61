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

// Timestamp is a timestamp that a document carries.
type Timestamp struct {
	Token  *tsp.Token // nil when it cannot be read
	Report ades.TimestampReport
}

// Read reads a token. What is the matter with one that cannot be read is in its report.
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

// Check compares a token that could be read with what it stands for, by the digest of that under the
// token's Hash. Its certificate may be elsewhere in the document, among those known.
func (t *Timestamp) Check(sum []byte, known []*x509.Certificate) {
	t.Token.Supply(known)
	t.Report.Authority = t.Token.Certificate
	switch err := t.Token.VerifyOver(sum); {
	case errors.Is(err, tsp.ErrMismatch):
		t.Report.Fail("The timestamp is over something else.")
	case err != nil:
		t.Report.Fail(err.Error())
	default:
		t.Report.Intact = true
	}
}

// ProvenAt is the time at which what the timestamp is over is known to have existed, when
// that is known at a later time already.
func (t *Timestamp) ProvenAt(later time.Time) time.Time {
	if t.Report.Trusted && t.Report.Time.Before(later) {
		return t.Report.Time
	}
	return later
}

// Timestamp decides whether a timestamp that was checked proves its time, given that it existed at
// another (EN 319 102-1 5.6.3).
func (j Judge) Timestamp(t *Timestamp, known *Known, at time.Time) {
	if !t.Report.Intact {
		return
	}
	known = known.ForTimestamps()
	t.Report.JudgedAt = at
	data, fetchErr := j.Online.fetchMissing(j.Data, known, t.Token.Certificate, Times{SigningTime: t.Token.Time, ValidationTime: at})
	if err := j.checkTimestampAuthority(t, data, known, at); err != nil {
		t.Report.Fail(err.Error())
		if fetchErr != nil {
			t.Report.Fail(unavailableWarning(fetchErr))
		}
		return
	}
	t.Report.Trusted = true
}

// authority decides whether who made a timestamp may be relied upon, by the data of the document and what was
// fetched, and notes the path.
func (j Judge) checkTimestampAuthority(t *Timestamp, data *Data, known *Known, at time.Time) error {
	token := t.Token
	if token.Time.After(at.Add(ades.MaxSkew)) {
		return fmt.Errorf("timestamp of %s, after the time of judgement", token.Time.UTC().Format(time.RFC3339))
	}
	chain, err := data.Chain(known, token.Certificate, at)
	if err != nil {
		return err
	}
	found := data.FindAll(chain, Times{SigningTime: token.Time, ValidationTime: at})
	t.Report.Path = pathStatus(chain, found, j.Data)
	return cmp.Or(
		CheckAuthorities(chain),
		CheckAlgorithm(token.Algorithm, token.Certificate.PublicKey, at), CheckHash(token.Hash, at),
		CheckChain(chain, at), found.Err(),
	)
}

// Readable leaves out what is no timestamp.
func Readable(stamps []Timestamp) []Timestamp {
	return slices.DeleteFunc(slices.Clone(stamps), func(t Timestamp) bool { return t.Token == nil })
}

// Certificates returns what the tokens carry.
func Certificates(stamps []Timestamp) []*x509.Certificate {
	var all []*x509.Certificate
	for _, t := range Readable(stamps) {
		all = append(all, t.Token.Certificates...)
	}
	return all
}

// Targets are the authorities of the timestamps that could be read.
func Targets(stamps []Timestamp) []Target {
	var all []Target
	for _, t := range Readable(stamps) {
		all = append(all, Target{Certificate: t.Token.Certificate, Timestamp: true, Times: Times{SigningTime: t.Token.Time}})
	}
	return all
}
