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

// SubIndication states why an Indication is not TotalPassed (EN 319 102-1 table 6). It is empty when
// the Indication is.
type SubIndication string

const (
	FormatFailure             SubIndication = "FORMAT_FAILURE"
	HashFailure               SubIndication = "HASH_FAILURE"
	SigCryptoFailure          SubIndication = "SIG_CRYPTO_FAILURE"
	SigConstraintsFailure     SubIndication = "SIG_CONSTRAINTS_FAILURE"
	NoSigningCertificateFound SubIndication = "NO_SIGNING_CERTIFICATE_FOUND"
	NoCertificateChainFound   SubIndication = "NO_CERTIFICATE_CHAIN_FOUND"
	// NotYetValid: the signer's certificate was issued after the signature is known to have
	// existed.
	NotYetValid SubIndication = "NOT_YET_VALID"
	// ChainConstraintsFailure: the signer's certificate was not issued for signing documents.
	ChainConstraintsFailure SubIndication = "CHAIN_CONSTRAINTS_FAILURE"
	// CertificateChainGeneralFailure: the authority was not allowed to issue a certificate of the
	// chain, or a certificate has expired and no available revocation data covers it.
	CertificateChainGeneralFailure SubIndication = "CERTIFICATE_CHAIN_GENERAL_FAILURE"
	OutOfBoundsNoPOE               SubIndication = "OUT_OF_BOUNDS_NO_POE"
	// OutOfBoundsNotRevoked: a certificate has expired, and revocation data shows that it is not
	// revoked.
	OutOfBoundsNotRevoked SubIndication = "OUT_OF_BOUNDS_NOT_REVOKED"
	// RevocationOutOfBoundsNoPOE: the certificate that signed the revocation data has expired, and
	// no trusted proof of existence (POE) shows that the data is older than the expiry.
	RevocationOutOfBoundsNoPOE SubIndication = "REVOCATION_OUT_OF_BOUNDS_NO_POE"
	// RevokedNoPOE: the signer's certificate is revoked, and no trusted POE shows that the
	// signature is older than the revocation. RevokedCANoPOE: the same for a certificate above the
	// signer's.
	RevokedNoPOE   SubIndication = "REVOKED_NO_POE"
	RevokedCANoPOE SubIndication = "REVOKED_CA_NO_POE"
	// CryptoConstraintsFailureNoPOE: an algorithm or a key is not reliable any more, and no trusted
	// POE shows that what was made with it is older than the end of its reliability.
	CryptoConstraintsFailureNoPOE SubIndication = "CRYPTO_CONSTRAINTS_FAILURE_NO_POE"
	// SignedDataNotFound: the signed data is not in the document, or not where the signature may
	// refer to.
	SignedDataNotFound SubIndication = "SIGNED_DATA_NOT_FOUND"
	// TryLater: revocation data is missing, or a certificate is on hold. More data may change the
	// result.
	TryLater SubIndication = "TRY_LATER"
)

// Coverage states how much of the document a signature covers.
type Coverage string

const (
	// WholeDocument: every byte of the document except the signature value itself.
	WholeDocument Coverage = "WHOLE_DOCUMENT"
	// WholeRevision: all bytes up to the end of the signed revision. Later revisions follow.
	WholeRevision Coverage = "WHOLE_REVISION"
	// Partial: bytes before the end of the signed revision are not covered, so a reader may see
	// content that the signer did not sign.
	Partial Coverage = "PARTIAL"
)

// VerifyOptions configure a verification. The zero value trusts no root and validates at the
// present time.
type VerifyOptions struct {
	// Roots are the trusted roots for the certificates of signers.
	Roots *x509.CertPool
	// TimestampRoots are the trusted roots for the certificates of timestamp authorities; nil:
	// Roots.
	TimestampRoots *x509.CertPool
	// Time is the time at which certificates have to be valid; zero: now.
	Time time.Time
	// Revocation and Issuers are the sources of validation data that the document lacks. Revocation
	// is asked below the roots only, and about each certificate once. Package online has sources
	// that use HTTP. If nil, nothing is fetched.
	Revocation Revocation
	Issuers    Issuers
	// Chains caches verified chains for a batch of documents. The caller sets the same Chains and
	// the same pools of roots for all of them. Several verifications may use it at once. If nil,
	// chains are cached within the document.
	Chains *Chains
}

// Report is the result of validating a document.
type Report struct {
	Signatures []SignatureReport // in the order in which they were made
}

// Passed reports whether the document as a whole is signed: it has signatures, each of them has
// Passed and none is Partial, and one of them covers every byte, or every byte but validation data
// and document timestamps. Anything else that was appended after the last signature is unsigned. A
// Partial signature may have been made for another document and moved into this one without its
// signer. A counter-signature has to have Passed like the others, but covers nothing.
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

// Problems returns why the document has not Passed, in English sentences. It is empty when the
// document has.
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
	Name string // of the signature field or element
	// Format is the format with the level, as EU DSS names it: "PAdES-BASELINE-B" to -LTA,
	// "XAdES-BASELINE-B" to -LTA, "PKCS7-B" to -LTA, an extended profile such as "PAdES-EPES" or
	// "XAdES-A", and "PDF-NOT-ETSI" or "XML-NOT-ETSI" for all others.
	Format        string
	Indication    Indication
	SubIndication SubIndication
	// Problems are the reasons for an Indication other than TotalPassed, in English sentences. A
	// signature that lacks only revocation data has one, and has Passed.
	Problems []string
	Warnings []string // facts that a reader should know and that do not prevent passing
	Intact   bool     // the digest matches and the value verifies
	Coverage Coverage
	// CounterSignature: the signature is over the value of another signature and over nothing of
	// the document (EN 319 132-1 5.2.7), so Coverage is Partial. The other signature is the one
	// before it in the report; further counter-signatures of that signature may stand in between.
	CounterSignature bool
	CoveredBytes     int64 // length of the signed revision from the start of the document; 0 in XML
	// Extended: the only thing after the signed revision is a validation-data-only update (ISO
	// 32000-2 12.8.2.2.2). Each of the Changes is validation data, a document timestamp, the
	// producer and date of the last writer, or an object that nothing refers to, and the update's
	// syntax is so strict that all readers read the same.
	Extended bool
	// Changes are the changes that later revisions made to the signed revision, in their order. XML
	// has none.
	Changes []Change

	Certificate *x509.Certificate   // the signer's certificate; nil when not found
	Chain       []*x509.Certificate // to a trusted root; empty when there is no chain
	// Path is Chain with the revocation status of each certificate at JudgedAt.
	Path        []CertificateStatus
	Algorithm   Algorithm
	ClaimedTime time.Time // the signing time that the signer claims; zero when absent
	// Timestamps are the timestamps over the signature, in the order in which they were made.
	Timestamps []TimestampReport
	// BestTime is the best-signature-time: the earliest time at which a trusted timestamp shows
	// that the signature existed (EN 319 102-1 5.5.4). It is zero when no timestamp does.
	BestTime time.Time
	// JudgedAt is the time at which the signer's certificate was validated: BestTime, else the time
	// of the validation. It is zero when the certificate was not validated.
	JudgedAt   time.Time
	SignerName string // as the document states it, unverified
	Reason     string
	Location   string
}

// Fail records a problem. The first call also sets the indications, and later calls do not change
// them: the first failed check decides (EN 319 102-1 5.1.4).
func (s *SignatureReport) Fail(i Indication, sub SubIndication, problem string) {
	s.Problems = append(s.Problems, problem)
	if s.Indication == "" {
		s.Indication, s.SubIndication = i, sub
	}
}

// Passed reports whether the signature has passed, or whether only data that may arrive later is
// missing (see [TryLater]): the signature is intact, it covers what a reader sees up to its
// revision, its certificate leads to a trusted root, no certificate of the path is on hold, and
// later revisions changed nothing that the signature does not permit. Indication is about the
// signed revision only, not about later ones.
func (s *SignatureReport) Passed() bool {
	onlyDataMissing := s.Indication == Indeterminate && s.SubIndication == TryLater && !s.onHold()
	return (s.Indication == TotalPassed || onlyDataMissing) && len(s.Forbidden()) == 0
}

// onHold reports whether a certificate of the path is suspended. A suspension may end, or become a
// revocation.
func (s *SignatureReport) onHold() bool {
	return slices.ContainsFunc(s.Path, func(c CertificateStatus) bool { return c.Revocation == RevocationOnHold })
}

// TimestampType is the kind of a timestamp, by what it covers.
type TimestampType string

const (
	// SignatureTimestamp covers the value of a signature and is embedded in that signature (EN 319
	// 122-1 5.3).
	SignatureTimestamp TimestampType = "SIGNATURE_TIMESTAMP"
	// DocumentTimestamp covers a document with all signatures in it (ISO 32000-2 12.8.5).
	DocumentTimestamp TimestampType = "DOCUMENT_TIMESTAMP"
	// ArchiveTimestamp covers a signature with the data that it signs and its validation data, and
	// is embedded in that signature (EN 319 132-1 5.5.2).
	ArchiveTimestamp TimestampType = "ARCHIVE_TIMESTAMP"
)

// TimestampReport is the result for one timestamp.
type TimestampReport struct {
	Type      TimestampType
	Name      string    // of the signature field of a document timestamp, else empty
	Time      time.Time // zero when the token cannot be read
	Intact    bool      // its imprint matches the covered data, and its value verifies
	Trusted   bool      // it is Intact and its authority is trusted, so it is a POE for its Time
	Authority *x509.Certificate
	// Path leads from Authority to a trusted root, with the revocation status at JudgedAt. It is
	// empty when there is no such path.
	Path []CertificateStatus
	// JudgedAt is the time at which Authority was validated, and at which the timestamp is known to
	// have existed; zero when Authority was not validated.
	JudgedAt time.Time
	Problems []string // why the timestamp is not trusted, in English sentences
}

// Fail records why the timestamp is not trusted.
func (t *TimestampReport) Fail(problem string) { t.Problems = append(t.Problems, problem) }

// ChangeKind classifies what a later revision changed in the signed revision.
type ChangeKind string

const (
	// ChangeValidationData: validation data, or a document timestamp with the field that holds it.
	ChangeValidationData ChangeKind = "VALIDATION_DATA"
	// ChangeSignature: another signature, with its field and its appearance.
	ChangeSignature ChangeKind = "SIGNATURE"
	// ChangeForm: the value of a form field, and its appearance.
	ChangeForm ChangeKind = "FORM_FILLING"
	// ChangeAnnotation: an annotation that is not a form field.
	ChangeAnnotation ChangeKind = "ANNOTATION"
	// ChangeAppearance: the appearance of a field whose value is unchanged, or of an existing
	// signature.
	ChangeAppearance ChangeKind = "APPEARANCE"
	// ChangeFields: form fields, other than their values.
	ChangeFields ChangeKind = "FORM_FIELDS"
	// ChangePages: pages that were added, removed or moved.
	ChangePages ChangeKind = "PAGES"
	// ChangeContent: the content of a page.
	ChangeContent ChangeKind = "PAGE_CONTENT"
	// ChangeProducer: the producer and the date of the last writer, in the document information
	// dictionary or the metadata, and nothing else in either.
	ChangeProducer ChangeKind = "PRODUCER"
	// ChangeMetadata: any other metadata of the document, such as its title and author.
	ChangeMetadata ChangeKind = "METADATA"
	// ChangeStructure: the structure tree for assistive technology.
	ChangeStructure ChangeKind = "STRUCTURE"
	// ChangeCatalog: any other entry of the document as a whole: actions, layers, names,
	// permissions.
	ChangeCatalog ChangeKind = "CATALOG"
	// ChangeHidden: objects that nothing refers to, and which a later revision could make visible.
	ChangeHidden ChangeKind = "HIDDEN"
	// ChangeUnknown: an object that cannot be compared.
	ChangeUnknown ChangeKind = "UNKNOWN"
)

// Change is one object, or a part of one, that a later revision changed.
type Change struct {
	Revision int        // the revision that made the change; the first of the document is 1
	Kind     ChangeKind // what the change means to a reader
	Object   string     // such as "12 0 R"
	Where    string     // path from the catalog, such as "/Pages/Kids/0/Contents"; "" if there is none
	Page     int        // the page that shows the object, from 1; 0: no page, or several
	Field    string     // fully qualified name of the form field; "" if it is not a field
	// Permitted: both the signature and the certification of the document permit the change.
	Permitted bool
}

// Forbidden returns the changes that the signature does not permit.
func (s *SignatureReport) Forbidden() []Change {
	return slices.DeleteFunc(slices.Clone(s.Changes), func(c Change) bool { return c.Permitted })
}

// RevocationStatus states whether a certificate was revoked at the time of its validation.
type RevocationStatus string

const (
	// RevocationGood: the certificate was not revoked at that time. RevokedAt is set if it was
	// revoked later.
	RevocationGood RevocationStatus = "GOOD"
	// RevocationRevoked: the certificate was revoked for good.
	RevocationRevoked RevocationStatus = "REVOKED"
	// RevocationOnHold: the certificate was suspended, which may end or become a revocation (RFC
	// 5280 5.3.1).
	RevocationOnHold RevocationStatus = "ON_HOLD"
	// RevocationUnknown: no reliable revocation data states the status.
	RevocationUnknown RevocationStatus = "UNKNOWN"
	// RevocationNotNeeded: the certificate needs no revocation data. It is a trust anchor, or was
	// issued without revocation: short-lived (EN 319 412-1 5.2), or with noRevAvail (RFC 9608) or
	// ocsp-nocheck (RFC 6960 4.2.2.2.1).
	RevocationNotNeeded RevocationStatus = "NOT_NEEDED"
)

// RevocationSource is the kind of a [RevocationData].
type RevocationSource string

const (
	SourceOCSP RevocationSource = "OCSP" // an OCSP response (RFC 6960)
	SourceCRL  RevocationSource = "CRL"  // a certificate revocation list (RFC 5280 5)
)

// CertificateStatus is a certificate of a path and its revocation status. All fields but
// Certificate and Revocation come from the revocation data that states the status, and are zero
// without such data.
type CertificateStatus struct {
	Certificate *x509.Certificate
	Revocation  RevocationStatus
	RevokedAt   time.Time // also set with RevocationGood, for a later revocation
	Reason      int       // CRLReason (RFC 5280 5.3.1)
	Source      RevocationSource
	ProducedAt  time.Time // when the data was signed; for a CRL its ThisUpdate
	ThisUpdate  time.Time // the time at which the data states the status
	Fetched     bool      // the data was fetched from a source and is not in the document
}
