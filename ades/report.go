package ades

import (
	"cmp"
	"crypto/x509"
	"fmt"
	"slices"
	"time"
)

// Indication is the main status of a validation (EN 319 102-1 table 5).
type Indication string

const (
	TotalPassed   Indication = "TOTAL_PASSED"
	TotalFailed   Indication = "TOTAL_FAILED"
	Indeterminate Indication = "INDETERMINATE"
)

// SubIndication says why a validation did not pass (EN 319 102-1 table 6). It is
// empty when it did.
type SubIndication string

const (
	FormatFailure             SubIndication = "FORMAT_FAILURE"
	HashFailure               SubIndication = "HASH_FAILURE"
	SigCryptoFailure          SubIndication = "SIG_CRYPTO_FAILURE"
	SigConstraintsFailure     SubIndication = "SIG_CONSTRAINTS_FAILURE"
	NoSigningCertificateFound SubIndication = "NO_SIGNING_CERTIFICATE_FOUND"
	NoCertificateChainFound   SubIndication = "NO_CERTIFICATE_CHAIN_FOUND"
	// NotYetValid: the signer's certificate was issued after the signature is known to have existed.
	NotYetValid SubIndication = "NOT_YET_VALID"
	// ChainConstraintsFailure: the signer's certificate was not issued for signing documents.
	ChainConstraintsFailure SubIndication = "CHAIN_CONSTRAINTS_FAILURE"
	// CertificateChainGeneralFailure: a certificate of the chain is not what its authority may issue, or there are two
	// of its number; or it is not valid any more, and nothing that is there says whether it was revoked.
	CertificateChainGeneralFailure SubIndication = "CERTIFICATE_CHAIN_GENERAL_FAILURE"
	OutOfBoundsNoPOE               SubIndication = "OUT_OF_BOUNDS_NO_POE"
	// OutOfBoundsNotRevoked: a certificate has expired, and is known not to be revoked.
	OutOfBoundsNotRevoked SubIndication = "OUT_OF_BOUNDS_NOT_REVOKED"
	// RevocationOutOfBoundsNoPOE: who signed the revocation data has expired, and nothing that is
	// trusted proves that the data existed before.
	RevocationOutOfBoundsNoPOE SubIndication = "REVOCATION_OUT_OF_BOUNDS_NO_POE"
	// RevokedNoPOE: the signer's certificate is revoked, and nothing that is trusted
	// proves that the signature existed before. RevokedCANoPOE: one above it is.
	RevokedNoPOE   SubIndication = "REVOKED_NO_POE"
	RevokedCANoPOE SubIndication = "REVOKED_CA_NO_POE"
	// CryptoConstraintsFailureNoPOE: nobody relies on an algorithm or a key any more, and nothing that is
	// trusted proves that what was made with it existed while somebody did.
	CryptoConstraintsFailureNoPOE SubIndication = "CRYPTO_CONSTRAINTS_FAILURE_NO_POE"
	// SignedDataNotFound: what was signed is not in the document, or not where the
	// signature may look for it.
	SignedDataNotFound SubIndication = "SIGNED_DATA_NOT_FOUND"
	// TryLater: revocation data is missing, or a certificate is on hold; more data may give another result.
	TryLater SubIndication = "TRY_LATER"
)

// Coverage says how much of the document a signature covers.
type Coverage string

const (
	// WholeDocument: every byte but the signature itself.
	WholeDocument Coverage = "WHOLE_DOCUMENT"
	// WholeRevision: everything up to the end of the revision that the signature
	// was made in; the document grew afterwards.
	WholeRevision Coverage = "WHOLE_REVISION"
	// Partial: bytes before the end of the signed revision are not covered, so the
	// signature says nothing certain about what a reader sees.
	Partial Coverage = "PARTIAL"
)

// VerifyOptions configure a verification. The zero value trusts no root and judges at the present time.
type VerifyOptions struct {
	// Roots are what the certificates of signers have to lead to.
	Roots *x509.CertPool
	// TimestampRoots are what the certificates of timestamp authorities have to lead to; nil: Roots.
	TimestampRoots *x509.CertPool
	// Time is the time at which certificates have to be valid; zero: now.
	Time time.Time
	// Revocation and Issuers are asked for what the document lacks, below the roots and about each certificate once;
	// package online has sources that ask over HTTP. nil: nothing is fetched.
	Revocation Revocation
	Issuers    Issuers
}

// Report is the result of validating a document.
type Report struct {
	Signatures []SignatureReport // in the order in which they were made
}

// Passed reports whether the document as a whole is signed: it has signatures, each
// of them Passed and none Partial, and one covers every byte, or every byte but
// validation data and document timestamps. What else was appended after the last
// signature nobody has signed. One that is Partial may have been made elsewhere, for
// a document that nobody sees here, and brought into this one without its signer. A
// counter-signature has to have passed like the others, and covers nothing.
func (r *Report) Passed() bool {
	covered := false
	for i := range r.Signatures {
		s := &r.Signatures[i]
		if !s.Passed() || s.Coverage == Partial && !s.CounterSignature {
			return false
		}
		covered = covered || !s.CounterSignature && (s.Coverage == WholeDocument || s.Extended)
	}
	return covered
}

// Problems returns why the document has not Passed, in English sentences; it is empty when it has.
func (r *Report) Problems() (all []string) {
	if r.Passed() {
		return nil
	}
	if len(r.Signatures) == 0 {
		return []string{"The document has no signatures."}
	}
	for i := range r.Signatures {
		s := &r.Signatures[i]
		if s.Indication != TotalPassed && !s.Passed() {
			all = append(all, fmt.Sprintf("Signature %q is %s: %s.", s.Name, s.Indication, s.SubIndication))
		}
		if forbidden := s.Forbidden(); len(forbidden) > 0 {
			c := forbidden[0]
			all = append(all, fmt.Sprintf("Signature %q does not permit what revision %d changed: %s at %.200q.", s.Name, c.Revision, c.Kind, cmp.Or(c.Where, c.Object, "an unknown place")))
		}
		if s.Coverage == Partial && !s.CounterSignature {
			all = append(all, fmt.Sprintf("Signature %q covers only a part of the document.", s.Name))
		}
	}
	if len(all) == 0 {
		all = append(all, "No signature covers the whole document as it is now.")
	}
	return all
}

// SignatureReport is the result for one signature.
type SignatureReport struct {
	Name          string // of the signature field or element
	Format        string // such as "PAdES-BASELINE-B"
	Indication    Indication
	SubIndication SubIndication
	Problems      []string // what keeps it from passing, in sentences
	Warnings      []string // what a reader should know of, and which does not keep it from passing
	Intact        bool     // the digest matches and the value verifies
	Coverage      Coverage
	// CounterSignature: it is over the value of another signature, that before it or before the
	// counter-signatures in between, and over nothing of the document (EN 319 132-1 5.2.7), so that
	// Coverage is Partial.
	CounterSignature bool
	CoveredBytes     int64 // length of the covered beginning of the document; 0 in XML
	// Extended: a validation-data-only update follows the covered beginning and nothing else (ISO 32000-2 12.8.2.2.2):
	// each of the Changes is validation data, a document timestamp, the producer and date of the last writer, or an
	// object that nothing leads to, and the update is written so strictly that all readers find the same in it.
	Extended bool
	// Changes is what later revisions did to what is signed, in their order. None in XML.
	Changes []Change

	Certificate *x509.Certificate   // the signer's, nil when not found
	Chain       []*x509.Certificate // to a trusted root; empty when there is none
	// Path is Chain with what was found about the revocation of each certificate, as of JudgedAt.
	Path        []CertificateStatus
	Algorithm   Algorithm
	ClaimedTime time.Time // what the signer says; zero when absent
	// Timestamps are those over the signature, in the order in which they were made.
	Timestamps []TimestampReport
	// BestTime is the earliest time at which a trusted timestamp proves that the
	// signature existed (EN 319 102-1 5.5.4); zero when none does.
	BestTime time.Time
	// JudgedAt is the time by which the signer's certificate was judged: BestTime, else the time of the
	// validation. Zero when it did not come to that.
	JudgedAt   time.Time
	SignerName string // as the document says
	Reason     string
	Location   string
}

// Fail records a problem and the result it leads to, unless an earlier problem
// led to one already: the first failed check decides (EN 319 102-1 5.1.4).
func (s *SignatureReport) Fail(i Indication, sub SubIndication, problem string) {
	s.Problems = append(s.Problems, problem)
	if s.Indication == "" {
		s.Indication, s.SubIndication = i, sub
	}
}

// Passed reports whether nothing but data that arrives later (see [TryLater]) keeps
// the signature from passing: it is intact, covers what a reader sees up to its
// revision, its certificate leads to a trusted root, none up to there is on hold, and later revisions
// did nothing to it that it does not permit. Indication is about the revision that was signed, and says nothing of later ones.
func (s *SignatureReport) Passed() bool {
	wanting := s.Indication == Indeterminate && s.SubIndication == TryLater && !s.onHold()
	return (s.Indication == TotalPassed || wanting) && len(s.Forbidden()) == 0
}

// onHold reports whether a certificate is suspended: what comes of that is not known, and may be that it was revoked.
func (s *SignatureReport) onHold() bool {
	return slices.ContainsFunc(s.Path, func(c CertificateStatus) bool { return c.Revocation == RevocationOnHold })
}
