// Package adestest is the suite that both signature formats, pades and xades, pass: signatures of
// the levels B, T, LT and LTA, extension and renewal, validation with and without a network,
// validation at later times, and signatures that earlier releases stored. Only tests import it:
//
//	func TestFormat(t *testing.T) {
//		adestest.Run(t, adestest.Format{
//			Name:     "PAdES",
//			Variants: []adestest.Variant{{Name: "cross-reference table", Document: blank}},
//			Prepare:  func(t testing.TB, b []byte, s ades.SignerIdentity, o adestest.Options) (adestest.Pending, error) { ... },
//			...
//		})
//	}
//
// Functions of a [Format] take and return whole documents. Those that need a context take that of
// the test. Every signer and every authority is made for the test (package sandbox/ca).
//
// EU DSS validates each document too, where it is installed (package internal/test/validators), and
// [Format].Judge has further validators of the format do so.
package adestest

import (
	"crypto"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	"github.com/innsigli/innsigli/internal/test/validators"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// Format is a signature format under test.
type Format struct {
	Name      string // "PAdES" or "XAdES", as in [ades.SignatureReport].Format
	Extension string // of file names: ".pdf"
	// Variants are the ways to sign. Tests for which one is enough take the first.
	Variants []Variant
	// DocumentTimestamps: a timestamp is over the document and covers all signatures in it, as in
	// PDF. Otherwise each signature has archive timestamps of its own.
	DocumentTimestamps bool

	NewPending func() Pending // an empty one, to be decoded
	Prepare    func(t testing.TB, document []byte, s ades.SignerIdentity, o Options) (Pending, error)
	// Sign signs in one call. With the error it returns the document that was signed below the
	// level.
	Sign                      func(t testing.TB, document []byte, key crypto.Signer, s ades.SignerIdentity, o Options, sources ades.Sources) ([]byte, error)
	Extend, ExtendLast, Renew ExtendFunc
	Verify                    func(t testing.TB, document []byte, o ades.VerifyOptions) *ades.Report

	// ChangeValue changes the value of the first signature, of level B.
	ChangeValue func(t testing.TB, signed []byte) []byte
	// Broken returns documents that are made of a signed one of level T, by what is wrong with
	// their signature.
	Broken func(t testing.TB, signed []byte) map[string][]byte
	// Stored are golden files of [Stored] signatures, one for each version of the encoding. The
	// last one is written if it does not exist (package internal/test/env).
	Stored []string

	// Signers are programs that sign documents of this format.
	Signers map[string]func(testing.TB, validators.SignOptions, ...string) []validators.SignedFile
	// Packagings are those of EU DSS in which the programs sign, such as "ENVELOPED"; "" for a PDF.
	Packagings []string
	// Judge has validators of this format alone validate files; nil: there are none.
	Judge func(t *testing.T, files []File)
}

// Variant is a way to sign, with a document for it: a kind of PDF file, or a packing in XML.
type Variant struct {
	Name     string
	Document []byte
	Encloses bool // a signature signs the earlier ones as they are, so that these are not extended any more
	Hides    bool // a signature hides the earlier ones from validators
	NoDSS    bool // EU DSS cannot read the document
}

// Options are how a signature is made.
type Options struct {
	Variant Variant
	Level   ades.Level
	Time    time.Time // that the signer claims; zero: now
}

// Pending is a prepared signature of a format.
type Pending interface {
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
	Digest() ades.Digest
	Level() ades.Level
	// Complete returns the document with the signature.
	Complete(t testing.TB, document, value []byte, timestamps ades.Timestamper) ([]byte, error)
}

// ExtendFunc extends a document, and returns how many revisions that took. [Format].Renew gets no
// level.
type ExtendFunc func(t testing.TB, document []byte, level ades.Level, s ades.Sources) (extended []byte, revisions int, err error)

// Run runs the suite.
func Run(t *testing.T, f Format) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, Format)
	}{
		{"Levels", RunLevels},
		{"LevelsOverDays", testLevelsOverDays},
		{"OtherSoftware", testOtherSoftware},
		{"ExtendInSteps", testExtendInSteps},
		{"ExtendLast", testExtendLast},
		{"ExtendRefuses", testExtendRefuses},
		{"Interrupted", testInterrupted},
		{"ExtendNeedsNewRevocationData", testExtendNeedsNewRevocationData},
		{"ExtendExpired", testExtendExpired},
		{"ExtendRevoked", testExtendRevoked},
		{"CompleteNeedsTimestamp", testCompleteNeedsTimestamp},
		{"SignWithoutRevocationData", testSignWithoutRevocationData},
		{"VerifyLater", testVerifyLater},
		{"VerifyExpiredResponder", testVerifyExpiredResponder},
		{"VerifyRoots", testVerifyRoots},
		{"VerifyOnline", testVerifyOnline},
		{"VerifyOnlineRevoked", testVerifyOnlineRevoked},
		{"VerifyOnlineFails", testVerifyOnlineFails},
		{"VerifyOnlineUntrusted", testVerifyOnlineUntrusted},
		{"VerifyWarm", testVerifyWarm},
		{"Stored", testStored},
		{"StoredLevel", testStoredLevel},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, f)
		})
	}
}

const day = 24 * time.Hour

// clock returns a clock that is a time ahead of now, or behind it.
func clock(ahead time.Duration) func() time.Time {
	return func() time.Time { return time.Now().Add(ahead) }
}

// signer is a key with a certificate of an authority.
type signer struct {
	ades.SignerIdentity
	key crypto.Signer
	ca  *sandboxca.Authority
}

// newAuthority returns an authority whose certificates, and those that it issues, name addresses
// for revocation data.
func newAuthority(t testing.TB, began time.Time) *sandboxca.Authority {
	t.Helper()
	ca := catest.NewAt(t, began)
	ca.SetBaseURL("http://sandbox.example")
	if _, err := ca.Renew(began); err != nil {
		t.Fatal(err)
	}
	return ca
}

func newKey(t testing.TB) crypto.Signer { return certtest.NewKey(t, elliptic.P256()) }

// newSigner returns a signer with a new key and a certificate of a time.
func newSigner(t testing.TB, ca *sandboxca.Authority, at time.Time) signer {
	t.Helper()
	key := newKey(t)
	return signer{catest.IssueSigner(t, ca, key, at), key, ca}
}

// newSignerBetween returns a signer whose certificate is valid between two times.
func newSignerBetween(t testing.TB, ca *sandboxca.Authority, from, to time.Time) signer {
	t.Helper()
	s := signer{ades.SignerIdentity{Chain: ca.Chain()}, newKey(t), ca}
	var err error
	s.Certificate, err = ca.IssueProfile(&x509.Certificate{
		Subject: pkix.Name{CommonName: "Short"}, NotBefore: from, NotAfter: to,
		KeyUsage: x509.KeyUsageContentCommitment, BasicConstraintsValid: true,
	}, s.key.Public())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// trySign signs as a caller does whose key is remote: the signature is prepared, stored, read again
// and completed. The level of the signature is T at most.
func (f Format) trySign(t testing.TB, document []byte, s signer, o Options, timestamps ades.Timestamper) ([]byte, error) {
	t.Helper()
	prepared, err := f.Prepare(t, document, s.SignerIdentity, o)
	if err != nil {
		return nil, err
	}
	stored, err := prepared.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	pending := f.NewPending()
	if err := pending.UnmarshalBinary(stored); err != nil || pending.Level() != o.Level {
		t.Fatalf("decoded: level %v, want %v, %v", pending.Level(), o.Level, err)
	}
	digest := pending.Digest()
	value, err := s.key.Sign(rand.Reader, digest.Sum, digest.Algorithm.SignerOpts())
	if err != nil {
		t.Fatal(err)
	}
	return pending.Complete(t, document, value, timestamps)
}

// sign is trySign without an error, in the first variant.
func (f Format) sign(t testing.TB, document []byte, s signer, o Options, timestamps ades.Timestamper) []byte {
	t.Helper()
	o.Variant = f.Variants[0]
	signed, err := f.trySign(t, document, s, o, timestamps)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// signNew signs the document of the first variant at level T at most.
func (f Format) signNew(t testing.TB, s signer, level ades.Level) []byte {
	t.Helper()
	return f.sign(t, f.Variants[0].Document, s, Options{Level: level}, s.ca.Sources(nil).Time)
}

// extend extends all signatures of a document.
func (f Format) extend(t testing.TB, document []byte, level ades.Level, s ades.Sources) []byte {
	t.Helper()
	extended, _, err := f.Extend(t, document, level, s)
	if err != nil {
		t.Fatal(err)
	}
	return extended
}

// outcome is the result for a signature.
type outcome struct {
	Format        string
	Indication    ades.Indication
	SubIndication ades.SubIndication
}

// passed returns the outcome of a signature that passes.
func (f Format) passed(level ades.Level) outcome {
	return outcome{f.format(level), ades.TotalPassed, ""}
}

// undecided returns the outcome of a signature for which something is missing.
func (f Format) undecided(level ades.Level, sub ades.SubIndication) outcome {
	return outcome{f.format(level), ades.Indeterminate, sub}
}

func (f Format) format(level ades.Level) string { return f.Name + "-BASELINE-" + level.String() }

func outcomes(r *ades.Report) (all []outcome) {
	for _, s := range r.Signatures {
		all = append(all, outcome{s.Format, s.Indication, s.SubIndication})
	}
	return all
}
