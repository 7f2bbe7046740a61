package pades

import (
	"context"
	"crypto/x509"
	"errors"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/cms"
	"github.com/innsigli/innsigli/internal/pdf"
)

// VerifyOptions are what a verification goes by. The zero value trusts nobody and
// judges at the present time.
type VerifyOptions struct {
	Roots *x509.CertPool
	Time  time.Time // at which certificates have to be valid; zero: now
	// Revocation and Issuers are asked for what the document lacks. nil: nobody is asked.
	Revocation ades.Revocation
	Issuers    ades.Issuers
}

// Verify reports on the signatures of a document. A signature that does not verify
// is no error but a result; [ErrUnreadable] and [ErrEncrypted] when there is
// nothing to report on.
//
// Certificates are judged by the revocation data that the document carries, as of the
// earliest time at which a timestamp that is trusted proves the signature, else as of
// Time. Without such data the result is INDETERMINATE with TRY_LATER. With data whose signer has
// expired since, and which no document timestamp proves, it is OUT_OF_BOUNDS_NO_POE if the
// certificate has expired too, else REVOCATION_OUT_OF_BOUNDS_NO_POE.
func Verify(ctx context.Context, doc Document, options VerifyOptions) (*ades.Report, error) {
	if options.Time.IsZero() {
		options.Time = time.Now()
	}
	file, err := pdf.Open(doc, doc.Size)
	if err != nil {
		return nil, readError(err)
	}
	covers, err := newCoverage(doc, file)
	if err != nil {
		return nil, readError(err)
	}
	fields, err := readFields(file)
	if err != nil {
		return nil, readError(err)
	}
	d := &inspection{
		ctx: ctx, coverage: covers, options: options, sums: rangeHashes{doc: Document{ReaderAt: doc, Size: doc.Size}},
		taken: make(map[int64]bool), earlier: make(map[int64]store),
	}
	if d.store, err = readStore(file); err != nil {
		return nil, readError(err)
	}
	if err := d.readTimestamps(fields.timestamps); err != nil {
		return nil, err
	}
	return d.report(fields.signatures)
}

// run makes the checks of EN 319 102-1 5.2, from the format over the digest, the
// value and the certificate to its chain: the first that fails decides. The error is
// one of reading.
func (v *verification) run() error {
	v.describe()
	ranges, contents, problem := v.claim(v.field)
	if v.ranges = ranges; problem != "" {
		v.report.Coverage = ades.Partial
		v.report.Fail(ades.TotalFailed, ades.FormatFailure, problem)
		return nil
	}
	v.report.Coverage, v.report.CoveredBytes = v.of(v.ranges), v.ranges.end
	if v.report.Coverage == ades.Partial {
		v.report.Fail(ades.TotalFailed, ades.FormatFailure, "The signature does not cover a whole revision of the document.")
	}
	var err error
	if v.signed, err = cms.Parse(contents); err != nil {
		v.reject(err)
		return nil
	}
	v.report.Algorithm = v.signed.Algorithm()
	v.report.Format = v.format()
	if err := v.checkValue(); err != nil {
		return err
	}
	v.checkTimestamps()
	v.judge().Signer(&v.report, v.known)
	if err := v.checkEvidence(); err != nil {
		return err
	}
	if v.report.Indication == "" {
		v.report.Indication = ades.TotalPassed
	}
	return v.noteLevel()
}

// describe notes what the dictionary says. Entries that cannot be read say
// nothing.
func (v *verification) describe() {
	d := v.field.signature
	text := func(key pdf.Name) string {
		s, err := v.file.Bytes(d[key])
		if err != nil {
			return ""
		}
		return pdf.Text(pdf.String(s))
	}
	v.report = ades.SignatureReport{
		Name: v.field.name, Format: notETSI,
		SignerName: text("Name"), Reason: text("Reason"), Location: text("Location"),
	}
	if m, err := v.file.Bytes(d["M"]); err == nil {
		if t, err := pdf.ParseDate(pdf.String(m)); err == nil {
			v.report.ClaimedTime = t
		}
	}
}

// Formats of signatures, as EU DSS names them. The first two go on with the level.
const (
	baseline = "PAdES-BASELINE"
	pkcs7    = "PKCS7"
	notETSI  = "PDF-NOT-ETSI"
)

// format is the name of the signature's format. A baseline signature has the
// entries and attributes of EN 319 142-1 6.3 and none that it excludes.
func (v *verification) format() string {
	switch name, _ := v.file.Name(v.field.signature["SubFilter"]); name {
	case "ETSI.CAdES.detached":
		_, cert := v.field.signature["Cert"]
		if !cert && !v.report.ClaimedTime.IsZero() && !v.signed.HasSigningTime() && v.signed.NamesCertificate() {
			return baseline
		}
	case "adbe.pkcs7.detached":
		return pkcs7
	}
	return notETSI
}

// noteLevel adds the level to the names of the formats that have one.
func (v *verification) noteLevel() error {
	if v.report.Format == notETSI {
		return nil
	}
	level, err := v.level()
	v.report.Format += "-" + level.String()
	return err
}

// checkValue checks the digest, the value and the certificate that goes with it.
func (v *verification) checkValue() error {
	sum, err := v.sums.of(v.ctx, v.signed.Algorithm().Hash, v.ranges)
	if err != nil {
		return err
	}
	v.report.Certificate, _ = v.signed.Signer()
	if err := v.signed.Verify(sum); err != nil {
		v.reject(err)
		return nil
	}
	v.report.Intact = true
	if v.report.Format == pkcs7 && !v.signed.NamesCertificate() {
		return nil // ISO 32000-1 12.8.3.3 asks for no such attribute
	}
	if err := v.signed.CheckBinding(); err != nil {
		v.reject(err)
	}
	return nil
}

// reject notes what an error of the CMS comes to. What this package does not know
// is no failure of the signature.
func (v *verification) reject(err error) {
	indication, sub := ades.TotalFailed, ades.FormatFailure
	switch {
	case errors.Is(err, cms.ErrDigest):
		sub = ades.HashFailure
	case errors.Is(err, ades.ErrValue):
		sub = ades.SigCryptoFailure
	case errors.Is(err, cms.ErrNoCertificate):
		indication, sub = ades.Indeterminate, ades.NoSigningCertificateFound
	case errors.Is(err, cms.ErrBinding):
		indication, sub = ades.Indeterminate, ades.SigConstraintsFailure
	case errors.Is(err, ades.ErrAlgorithm):
		indication, sub = ades.Indeterminate, ades.CryptoConstraintsFailureNoPOE
	}
	v.report.Fail(indication, sub, err.Error())
}
