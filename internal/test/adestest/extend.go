package adestest

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// testExtendInSteps: an extension adds only what is missing, and a renewal always adds a timestamp
// (EN 319 142-1 5.4 to 5.6, EN 319 132-1 5.3 to 5.5).
func testExtendInSteps(t *testing.T, f Format) {
	ca := newAuthority(t, time.Now())
	for _, v := range f.Variants {
		d := f.newDocument(v)
		d.sign(t, newSigner(t, ca, time.Now()), ades.B, ades.Sources{})
		for i, step := range []struct {
			run       ExtendFunc
			level     ades.Level
			revisions int
			want      ades.Level // afterwards
		}{
			{f.Extend, ades.B, 0, ades.B}, {f.Extend, ades.T, 1, ades.T}, {f.Extend, ades.T, 0, ades.T},
			{f.Extend, ades.LT, 1, ades.LT}, {f.Extend, ades.LT, 0, ades.LT}, {f.Extend, ades.T, 0, ades.LT},
			{f.Extend, ades.LTA, 1, ades.LTA}, {f.Extend, ades.LTA, 0, ades.LTA}, {f.Extend, ades.LT, 0, ades.LTA},
			{f.Renew, 0, 1, ades.LTA}, {f.Renew, 0, 1, ades.LTA},
		} {
			extended, revisions, err := step.run(t, d.content, step.level, ca.Sources(nil))
			if err != nil || revisions != step.revisions || bytes.Equal(extended, d.content) != (revisions == 0) {
				t.Fatalf("%s, step %d: %d revisions, want %d: %v", v.Name, i, revisions, step.revisions, err)
			}
			d.content = extended
			if got := f.verify(t, extended, ca); got.Signatures[0].Format != f.format(step.want) || !got.Passed() {
				t.Errorf("%s, step %d: %s, want %v: %q", v.Name, i, got.Signatures[0].Format, step.want, got.Problems())
			}
		}
	}
}

// verify has Verify validate a document with the roots of an authority.
func (f Format) verify(t testing.TB, document []byte, ca *sandboxca.Authority) *ades.Report {
	t.Helper()
	return f.Verify(t, document, ades.VerifyOptions{Roots: ca.Roots()})
}

// testExtendLast: ExtendLast does not judge the signatures of earlier signers, and Extend does.
func testExtendLast(t *testing.T, f Format) {
	ca := newAuthority(t, time.Now())
	s, sources := newSigner(t, ca, time.Now()), ca.Sources(nil)
	first := f.signNew(t, s, ades.B)
	broken := f.ChangeValue(t, first)
	var both []byte
	if f.DocumentTimestamps { // in PDF, the second signature is over the first
		both = f.sign(t, broken, s, Options{Level: ades.T}, sources.Time)
	} else { // in XML, a broken signature prevents a second one
		both = f.ChangeValue(t, f.sign(t, first, s, Options{Level: ades.T}, sources.Time))
	}
	if _, _, err := f.Extend(t, both, ades.LT, sources); !errors.Is(err, ades.ErrBroken) {
		t.Errorf("all signatures: %v, want %v", err, ades.ErrBroken)
	}
	extended, _, err := f.ExtendLast(t, both, ades.LT, sources)
	if err != nil {
		t.Fatal(err)
	}
	got := f.verify(t, extended, ca).Signatures
	if len(got) != 2 || got[0].Indication != ades.TotalFailed || outcomeOf(got[1]) != f.passed(ades.LT) {
		t.Errorf("got %+v, want a broken signature and one of level LT", got)
	}
	if _, _, err := f.ExtendLast(t, broken, ades.LT, sources); !errors.Is(err, ades.ErrBroken) {
		t.Errorf("the last signature is broken: %v, want %v", err, ades.ErrBroken)
	}
}

// endingTest is a test with a context of its own.
type endingTest struct {
	testing.TB
	ctx context.Context
}

func (t endingTest) Context() context.Context { return t.ctx }

// endingContext is a context that ends after a number of calls of Err.
type endingContext struct {
	context.Context
	checks atomic.Int64 // calls left; negative: the context has ended
	done   chan struct{}
}

func (c *endingContext) Done() <-chan struct{} { return c.done }

func (c *endingContext) Err() error {
	switch left := c.checks.Add(-1); {
	case left >= 0:
		return nil
	case left == -1:
		close(c.done)
	}
	return context.Canceled
}

// testExtendRefuses: an extension without what its level needs is an error, never a lower level.
func testExtendRefuses(t *testing.T, f Format) {
	ca, other := newAuthority(t, time.Now()), newAuthority(t, time.Now())
	signed := f.signNew(t, newSigner(t, ca, time.Now()), ades.T)
	whole := ca.Sources(nil)
	without := func(change func(*ades.Sources)) ades.Sources { s := whole; change(&s); return s }
	type row struct {
		document []byte
		level    ades.Level
		sources  ades.Sources
		want     error
	}
	rows := map[string]row{
		"no signature":           {f.Variants[0].Document, ades.LT, whole, ades.ErrUnsigned},
		"unreadable document":    {[]byte("PK"), ades.LT, whole, ades.ErrUnreadable},
		"no timestamp authority": {signed, ades.LTA, without(func(s *ades.Sources) { s.Time = nil }), ades.ErrTimestamp},
		"no revocation data":     {signed, ades.LT, without(func(s *ades.Sources) { s.Revocation = nil }), ades.ErrNoRevocation},
		"no root":                {signed, ades.LT, without(func(s *ades.Sources) { s.Roots = nil }), ades.ErrNoChain},
		"another root":           {signed, ades.LT, without(func(s *ades.Sources) { s.Roots = other.Roots() }), ades.ErrNoChain},
	}
	for name, broken := range f.Broken(t, signed) {
		rows[name] = row{broken, ades.LT, whole, ades.ErrBroken}
	}
	for name, row := range rows {
		if _, _, err := f.Extend(t, row.document, row.level, row.sources); !errors.Is(err, row.want) {
			t.Errorf("%s: %v, want %v", name, err, row.want)
		}
	}
	if _, _, err := f.Extend(t, signed, ades.LTA+1, whole); err == nil {
		t.Error("a level that does not exist is accepted")
	}
}

// testInterrupted: a context that ends, at whichever check of it, is never a statement about the document or a certificate.
func testInterrupted(t *testing.T, f Format) {
	ca := newAuthority(t, time.Now())
	s := newSigner(t, ca, time.Now())
	signed := f.signNew(t, s, ades.T)
	statements := []error{ades.ErrUnreadable, ades.ErrForbidden, ades.ErrBroken, ades.ErrUnsigned, ades.ErrNoChain, ades.ErrOutsideValidity, ades.ErrRevoked}
	for name, call := range map[string]func(testing.TB) error{
		"Prepare": func(t testing.TB) error {
			_, err := f.Prepare(t, signed, s.SignerIdentity, Options{Variant: f.Variants[0]})
			return err
		},
		"Extend": func(t testing.TB) error {
			_, _, err := f.Extend(t, signed, ades.LTA, ca.Sources(nil))
			return err
		},
		"ExtendLast": func(t testing.TB) error {
			_, _, err := f.ExtendLast(t, signed, ades.LT, ca.Sources(nil))
			return err
		},
	} {
		for checks := int64(0); ; checks++ {
			ctx := &endingContext{Context: t.Context(), done: make(chan struct{})}
			ctx.checks.Store(checks)
			err := call(endingTest{t, ctx})
			if ctx.checks.Load() >= 0 { // it has not ended
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				break
			}
			wrong := slices.ContainsFunc(statements, func(s error) bool { return errors.Is(err, s) })
			if err != nil && (wrong || !errors.Is(err, context.Canceled)) {
				t.Errorf("%s, the context ends after %d checks: %v, want %v alone", name, checks, err, context.Canceled)
			}
		}
	}
}

// testExtendNeedsNewRevocationData: revocation data from before a signature proves nothing about
// it, even if it is about the same signer.
func testExtendNeedsNewRevocationData(t *testing.T, f Format) {
	ca := newAuthority(t, time.Now())
	s, content := newSigner(t, ca, time.Now()), f.Variants[0].Document
	for i := range 2 {
		sources := ca.Sources(clock(time.Duration(i) * time.Minute))
		content = f.sign(t, content, s, Options{Level: ades.LT}, sources.Time)
		extended, revisions, err := f.Extend(t, content, ades.LT, sources)
		if err != nil || revisions != 1 {
			t.Fatalf("signature %d: %d revisions, want 1: %v", i, revisions, err)
		}
		content = extended
	}
}

// testExtendExpired: an authority does not state that a certificate was not revoked after that has
// expired, so that a signature has to reach level LT before.
func testExtendExpired(t *testing.T, f Format) {
	began := time.Now().Add(-10 * day)
	ca := newAuthority(t, began)
	first, fifth := ca.Sources(clock(-10*day)), ca.Sources(clock(-5*day))
	s := newSignerBetween(t, ca, began.Add(-day), began.Add(day))
	signed := f.sign(t, f.Variants[0].Document, s, Options{Level: ades.LT, Time: began}, first.Time)
	if _, _, err := f.Extend(t, signed, ades.LT, fifth); !errors.Is(err, ades.ErrNoRevocation) {
		t.Errorf("extended after the certificate has expired: %v, want %v", err, ades.ErrNoRevocation)
	}
	extended := f.extend(t, signed, ades.LT, first)
	if got := f.verify(t, extended, ca).Signatures[0]; outcomeOf(got) != f.passed(ades.LT) {
		t.Errorf("extended before the certificate expires: %+v: %q", outcomeOf(got), got.Problems)
	}
	if _, revisions, err := f.Extend(t, extended, ades.LT, fifth); err != nil || revisions > 0 {
		t.Errorf("extended again: %d revisions, want 0: %v", revisions, err)
	}
}

// testExtendRevoked: a timestamp from before the revocation saves a signature (EN 319 102-1 5.5.4).
// Signatures from after it, or without a timestamp, are not saved.
func testExtendRevoked(t *testing.T, f Format) {
	const stamped, before, after = -time.Minute, -2 * time.Minute, -30 * time.Second
	for _, row := range []struct {
		name    string
		level   ades.Level
		revoked time.Duration
		refused error // by Extend
		want    outcome
	}{
		{"after the timestamp, extended to LT", ades.LT, after, nil, f.passed(ades.LT)},
		{"after the timestamp, extended to LTA", ades.LTA, after, nil, f.passed(ades.LTA)},
		{"after the timestamp, not extended", ades.T, after, nil, f.undecided(ades.T, ades.TryLater)},
		{"before the timestamp", ades.LT, before, ades.ErrRevoked, outcome{}},
	} {
		ca := newAuthority(t, time.Now())
		s := newSigner(t, ca, time.Now())
		signed := f.sign(t, f.Variants[0].Document, s, Options{Level: row.level}, ca.Sources(clock(stamped)).Time)
		ca.Revoke(s.Certificate.SerialNumber, time.Now().Add(row.revoked), 1)
		extended, _, err := f.Extend(t, signed, row.level, ca.Sources(nil))
		if !errors.Is(err, row.refused) {
			t.Errorf("%s: %v, want %v", row.name, err, row.refused)
		}
		if err != nil {
			continue
		}
		if got := f.verify(t, extended, ca).Signatures[0]; outcomeOf(got) != row.want {
			t.Errorf("%s: %+v, want %+v: %q", row.name, outcomeOf(got), row.want, got.Problems)
		}
		if row.level == ades.LT {
			later := f.sign(t, extended, s, Options{}, nil)
			if got := outcomes(f.verify(t, later, ca)); got[0] != row.want || got[1] != f.undecided(ades.B, ades.RevokedNoPOE) {
				t.Errorf("%s, then a second signature: %+v", row.name, got)
			}
		}
	}
}

func outcomeOf(s ades.SignatureReport) outcome {
	return outcome{s.Format, s.Indication, s.SubIndication}
}

// timestamper is a timestamp authority with an answer of its own.
type timestamper func(h crypto.Hash, sum []byte) ([]byte, error)

func (f timestamper) Timestamp(_ context.Context, h crypto.Hash, sum []byte) ([]byte, error) {
	return f(h, sum)
}

// testCompleteNeedsTimestamp: a signature of level T is not completed without its timestamp, and
// can be later.
func testCompleteNeedsTimestamp(t *testing.T, f Format) {
	ca := newAuthority(t, time.Now())
	s := newSigner(t, ca, time.Now().AddDate(-4, -11, 0))
	honest, blank := ca.Sources(nil).Time, f.Variants[0].Document
	for name, row := range map[string]struct {
		timestamps ades.Timestamper
		want       error
	}{
		"none":        {nil, ades.ErrTimestamp},
		"unavailable": {timestamper(func(crypto.Hash, []byte) ([]byte, error) { return nil, ades.ErrUnavailable }), ades.ErrUnavailable},
		"over another digest": {timestamper(func(h crypto.Hash, sum []byte) ([]byte, error) {
			return honest.Timestamp(t.Context(), h, make([]byte, len(sum)))
		}), ades.ErrTimestamp},
		"with another hash": {timestamper(func(crypto.Hash, []byte) ([]byte, error) {
			return honest.Timestamp(t.Context(), crypto.SHA512, make([]byte, 64))
		}), ades.ErrTimestamp},
		"no token":                    {timestamper(func(crypto.Hash, []byte) ([]byte, error) { return []byte("garbage"), nil }), ades.ErrTimestamp},
		"after the certificate's end": {ca.Sources(func() time.Time { return s.Certificate.NotAfter.Add(time.Minute) }).Time, ades.ErrOutsideValidity},
		"authority has expired":       {ca.Sources(func() time.Time { return time.Now().AddDate(6, 0, 0) }).Time, ades.ErrTimestamp},
	} {
		pending, err := f.Prepare(t, blank, s.SignerIdentity, Options{Variant: f.Variants[0], Level: ades.T})
		if err != nil {
			t.Fatal(err)
		}
		value, err := s.key.Sign(rand.Reader, pending.Digest().Sum, pending.Digest().Algorithm.SignerOpts())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pending.Complete(t, blank, value, row.timestamps); !errors.Is(err, row.want) {
			t.Errorf("%s: %v, want %v", name, err, row.want)
		}
		if _, err := pending.Complete(t, blank, value, honest); err != nil {
			t.Errorf("%s, and then a right timestamp: %v", name, err)
		}
	}
}

// testSignWithoutRevocationData: a signature that cannot reach its level is returned with the
// error.
func testSignWithoutRevocationData(t *testing.T, f Format) {
	ca := newAuthority(t, time.Now())
	s, sources := newSigner(t, ca, time.Now()), ca.Sources(nil)
	sources.Revocation = nil
	v := f.Variants[0]
	signed, err := f.Sign(t, v.Document, s.key, s.SignerIdentity, Options{Variant: v, Level: ades.LT}, sources)
	if !errors.Is(err, ades.ErrNoRevocation) {
		t.Fatalf("%v, want %v", err, ades.ErrNoRevocation)
	}
	if got := f.verify(t, signed, ca).Signatures[0]; outcomeOf(got) != f.undecided(ades.T, ades.TryLater) {
		t.Errorf("%+v, want level T: %q", outcomeOf(got), got.Problems)
	}
}
