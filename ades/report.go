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

// TimestampType says what a timestamp is over.
type TimestampType string

const (
	// SignatureTimestamp is over a signature's value and carried by the signature
	// (EN 319 122-1 5.3).
	SignatureTimestamp TimestampType = "SIGNATURE_TIMESTAMP"
	// DocumentTimestamp is over a document with all signatures in it (ISO 32000-2 12.8.5).
	DocumentTimestamp TimestampType = "DOCUMENT_TIMESTAMP"
	// ArchiveTimestamp is over a signature with what it signs and its validation data, and carried
	// by the signature (EN 319 132-1 5.5.2).
	ArchiveTimestamp TimestampType = "ARCHIVE_TIMESTAMP"
)

// TimestampReport is the result for one timestamp.
type TimestampReport struct {
	Type      TimestampType
	Name      string    // of the signature field of a document timestamp, else empty
	Time      time.Time // zero when the token cannot be read
	Intact    bool      // it is over what it stands for, and its value verifies
	Trusted   bool      // and its authority could be relied upon, so that it proves its time
	Authority *x509.Certificate
	// Path is from Authority to a trusted root, as of JudgedAt; empty when there is none.
	Path []CertificateStatus
	// JudgedAt is the time at which the timestamp is known to have existed, by which Authority was judged; zero
	// when it did not come to that.
	JudgedAt time.Time
	Problems []string // what keeps it from being trusted, in sentences
}

// Fail records what keeps the timestamp from being trusted.
func (t *TimestampReport) Fail(problem string) { t.Problems = append(t.Problems, problem) }

// ChangeKind says what a later revision of a document did to what was signed.
type ChangeKind string

const (
	// ChangeValidationData: validation data, or a document timestamp with the field that holds it.
	ChangeValidationData ChangeKind = "VALIDATION_DATA"
	// ChangeSignature: another signature, with its field and what is seen of it.
	ChangeSignature ChangeKind = "SIGNATURE"
	// ChangeForm: the value of a form field, and what is seen of it.
	ChangeForm ChangeKind = "FORM_FILLING"
	// ChangeAnnotation: an annotation that is no form field.
	ChangeAnnotation ChangeKind = "ANNOTATION"
	// ChangeAppearance: what is seen of a field whose value is what it was, or of a signature that was made.
	ChangeAppearance ChangeKind = "APPEARANCE"
	// ChangeFields: fields of the form, other than their values.
	ChangeFields ChangeKind = "FORM_FIELDS"
	// ChangePages: pages that were added, removed or moved.
	ChangePages ChangeKind = "PAGES"
	// ChangeContent: what a page shows.
	ChangeContent ChangeKind = "PAGE_CONTENT"
	// ChangeProducer: the producer and the date of the last writer, in the document information dictionary or the
	// metadata, and nothing else in there.
	ChangeProducer ChangeKind = "PRODUCER"
	// ChangeMetadata: what else the document says of itself, such as its title and author.
	ChangeMetadata ChangeKind = "METADATA"
	// ChangeStructure: the structure for assistive technology.
	ChangeStructure ChangeKind = "STRUCTURE"
	// ChangeCatalog: anything else that the document as a whole has: actions, layers, names, permissions.
	ChangeCatalog ChangeKind = "CATALOG"
	// ChangeHidden: objects that nothing leads to, and which a later revision could bring to light.
	ChangeHidden ChangeKind = "HIDDEN"
	// ChangeUnknown: something that cannot be compared.
	ChangeUnknown ChangeKind = "UNKNOWN"
)

// Change is one object that a later revision made another, or a part of one.
type Change struct {
	Revision int        // that made it; the first of the document is 1
	Kind     ChangeKind // what it is to a reader
	Object   string     // such as "12 0 R"
	Where    string     // the way to it from the catalog, such as "/Pages/Kids/0/Contents"; "" where there is none
	Page     int        // on which it is seen, from 1; 0: on none or many
	Field    string     // fully qualified name of the form field; "" where it is none
	// Permitted: the signature permits it, and so does the certification of the document.
	Permitted bool
}

// Forbidden are the changes that the signature does not permit.
func (s *SignatureReport) Forbidden() []Change {
	return slices.DeleteFunc(slices.Clone(s.Changes), func(c Change) bool { return c.Permitted })
}

// RevocationStatus reports whether a certificate was revoked at the time by which it is judged.
type RevocationStatus string

const (
	// RevocationGood: it was not revoked then. RevokedAt says if it was later.
	RevocationGood RevocationStatus = "GOOD"
	// RevocationRevoked: it was revoked, for good.
	RevocationRevoked RevocationStatus = "REVOKED"
	// RevocationOnHold: it was suspended, which may end or become a revocation (RFC 5280 5.3.1).
	RevocationOnHold RevocationStatus = "ON_HOLD"
	// RevocationUnknown: nothing that may be relied upon says.
	RevocationUnknown RevocationStatus = "UNKNOWN"
	// RevocationNotNeeded: nobody has to say. It is a trust anchor, or one that is issued without revocation:
	// short-lived (EN 319 412-1 5.2), or with noRevAvail (RFC 9608) or ocsp-nocheck (RFC 6960 4.2.2.2.1).
	RevocationNotNeeded RevocationStatus = "NOT_NEEDED"
)

// RevocationSource is the kind of [RevocationData].
type RevocationSource string

const (
	SourceOCSP RevocationSource = "OCSP" // an OCSP response (RFC 6960)
	SourceCRL  RevocationSource = "CRL"  // a certificate revocation list (RFC 5280 5)
)

// CertificateStatus is a certificate of a path, and what was found about its revocation. All but Certificate and
// Revocation are of the revocation data that says so, and zero without any.
type CertificateStatus struct {
	Certificate *x509.Certificate
	Revocation  RevocationStatus
	RevokedAt   time.Time // also of one that is good, and was revoked after the time by which it is judged
	Reason      int       // why it was revoked: CRLReason (RFC 5280 5.3.1)
	Source      RevocationSource
	ProducedAt  time.Time // when the data was signed; of a CRL its ThisUpdate
	ThisUpdate  time.Time // the time that the data is about
	Fetched     bool      // the data was asked for, and is not in the document
}
