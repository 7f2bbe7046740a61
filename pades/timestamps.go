package pades

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/evidence"
	"github.com/innsigli/innsigli/internal/tsp"
)

// timestamp is a timestamp that a document carries.
type timestamp struct {
	token  *tsp.Token // nil when it cannot be read
	ranges byteRange  // of a document timestamp
	report ades.TimestampReport
}

// readTimestamps reads and judges the document timestamps (ISO 32000-2 12.8.5).
func (d *inspection) readTimestamps(fields []signatureField) error {
	for _, f := range fields {
		t, err := d.documentTimestamp(f)
		if err != nil {
			return err
		}
		d.timestamps = append(d.timestamps, t)
	}
	slices.SortStableFunc(d.timestamps, func(a, b timestamp) int { return cmp.Compare(a.ranges.end, b.ranges.end) })
	d.known = evidence.NewKnown(d.ctx, ades.Sources{Roots: d.options.Roots}, certificatesOf(d.timestamps)...)
	d.store.data.ChargeTo(d.known)
	d.judgeTimestamps()
	return d.ctx.Err()
}

// certificatesOf returns what the tokens carry.
func certificatesOf(timestamps []timestamp) []*x509.Certificate {
	var all []*x509.Certificate
	for _, t := range timestamps {
		if t.token != nil {
			all = append(all, t.token.Certificates...)
		}
	}
	return all
}

func (d *inspection) documentTimestamp(f signatureField) (timestamp, error) {
	t := timestamp{report: ades.TimestampReport{Type: ades.DocumentTimestamp, Name: f.name}}
	ranges, contents, problem := d.claim(f)
	t.ranges = ranges
	if problem == "" && d.of(ranges) == ades.Partial {
		problem = "The timestamp does not cover a whole revision of the document."
	}
	if problem != "" {
		t.report.Fail(problem)
		return t, nil
	}
	if !t.read(contents) {
		return t, nil
	}
	sum, err := d.sums.of(d.ctx, t.token.Hash, ranges)
	if err != nil {
		return t, err
	}
	t.check(sum, d.store.data.Certificates)
	return t, nil
}

// signatureTimestamp is a token over a signature value (EN 319 122-1 5.3).
func signatureTimestamp(token, value []byte, known []*x509.Certificate) timestamp {
	t := timestamp{report: ades.TimestampReport{Type: ades.SignatureTimestamp}}
	if t.read(token) {
		h := t.token.Hash.New()
		h.Write(value)
		t.check(h.Sum(nil), known)
	}
	return t
}

func (t *timestamp) read(ber []byte) bool {
	token, err := tsp.ParseToken(ber)
	if err != nil {
		t.report.Fail(err.Error())
		return false
	}
	t.token, t.report.Time = token, token.Time
	return true
}

// check compares the token with what it stands for. Its certificate may be elsewhere in
// the document.
func (t *timestamp) check(sum []byte, known []*x509.Certificate) {
	t.token.Supply(known)
	t.report.Authority = t.token.Certificate
	switch err := t.token.VerifyOver(sum); {
	case errors.Is(err, tsp.ErrMismatch):
		t.report.Fail("The timestamp is over something else.")
	case err != nil:
		t.report.Fail(err.Error())
	default:
		t.report.Intact = true
	}
}

// judgeTimestamps goes from the newest document timestamp to the oldest: each that is
// trusted proves that those before it existed at its time, at which their certificates
// are judged in turn (EN 319 102-1 5.6.3).
func (d *inspection) judgeTimestamps() {
	at := d.options.Time
	for i := range slices.Backward(d.timestamps) {
		t := &d.timestamps[i]
		d.judge(t, d.known, at)
		at = t.provenAt(at)
	}
}

// provenAt is the time at which what the timestamp is over is known to have existed, when
// that is known at a later time already.
func (t *timestamp) provenAt(later time.Time) time.Time {
	if t.report.Trusted && t.report.Time.Before(later) {
		return t.report.Time
	}
	return later
}

// judge decides whether a timestamp proves its time, given that it existed at another.
func (d *inspection) judge(t *timestamp, known *evidence.Known, at time.Time) {
	if !t.report.Intact {
		return
	}
	if err := d.judgeToken(t.token, known, at); err != nil {
		t.report.Fail(err.Error())
		return
	}
	t.report.Trusted = true
}

func (d *inspection) judgeToken(token *tsp.Token, known *evidence.Known, at time.Time) error {
	if token.Time.After(at.Add(ades.MaxSkew)) {
		return fmt.Errorf("timestamp of %s, after the time of judgement", token.Time.UTC().Format(time.RFC3339))
	}
	chain, err := d.store.data.Chain(known, token.Certificate, at)
	if err != nil {
		return err
	}
	for _, a := range []ades.Algorithm{token.Algorithm, {Hash: token.Hash, Scheme: token.Algorithm.Scheme}} {
		if err := a.CheckSuite(token.Certificate.PublicKey); err != nil {
			return err
		}
	}
	if err := evidence.CheckSuite(chain); err != nil {
		return err
	}
	return d.store.data.ChainStatus(chain, evidence.Times{Used: token.Time, Judged: at})
}
