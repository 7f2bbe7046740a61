package pades

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"slices"
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
}

// Verify reports on the signatures of a document. A signature that does not verify
// is no error but a result; [ErrUnreadable] and [ErrEncrypted] when there is
// nothing to report on. Revocation is not looked at, so no result is better than
// INDETERMINATE with TRY_LATER.
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
	report := new(ades.Report)
	taken := make(map[int64]bool)
	for _, f := range fields.signatures {
		v := verification{ctx: ctx, coverage: covers, taken: taken, field: f, options: options}
		if err := v.run(); err != nil {
			return nil, err
		}
		report.Signatures = append(report.Signatures, v.report)
	}
	slices.SortStableFunc(report.Signatures, func(a, b ades.SignatureReport) int { return cmp.Compare(a.CoveredBytes, b.CoveredBytes) })
	return report, nil
}

// verification is the work on one signature.
type verification struct {
	ctx context.Context
	coverage
	taken   map[int64]bool // gaps that are other fields' signatures
	field   signatureField
	options VerifyOptions

	ranges byteRange
	signed *cms.SignedData
	report ades.SignatureReport
}

// run makes the checks of EN 319 102-1 5.2, from the format over the digest, the
// value and the certificate to its chain: the first that fails decides. The error is
// one of reading.
func (v *verification) run() error {
	v.describe()
	var contents []byte
	var problem string
	if v.ranges, contents, problem = v.read(v.field); problem == "" && v.taken[v.ranges.gap] {
		problem = "The signature is another field's."
	}
	if problem != "" {
		v.report.Coverage = ades.Partial
		v.report.Fail(ades.TotalFailed, ades.FormatFailure, problem)
		return nil
	}
	v.taken[v.ranges.gap] = true
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
	v.checkChain()
	if v.report.Indication == "" {
		v.report.Fail(ades.Indeterminate, ades.TryLater, "The signature carries no revocation data for its certificates.")
	}
	return nil
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

// Formats of signatures, as EU DSS names them.
const (
	baselineB = "PAdES-BASELINE-B"
	pkcs7     = "PKCS7-B"
	notETSI   = "PDF-NOT-ETSI"
)

// format is the name of the signature's format. A baseline signature has the
// entries and attributes of EN 319 142-1 6.3 and none that it excludes.
func (v *verification) format() string {
	switch name, _ := v.file.Name(v.field.signature["SubFilter"]); name {
	case "ETSI.CAdES.detached":
		_, cert := v.field.signature["Cert"]
		if !cert && !v.report.ClaimedTime.IsZero() && !v.signed.HasSigningTime() && v.signed.NamesCertificate() {
			return baselineB
		}
	case "adbe.pkcs7.detached":
		return pkcs7
	}
	return notETSI
}

// checkValue checks the digest, the value and the certificate that goes with it.
func (v *verification) checkValue() error {
	h := v.signed.Algorithm().Hash.New()
	for _, part := range v.ranges.parts() {
		if err := hashPart(v.ctx, h, v.doc, part[0], part[1]); err != nil {
			return err
		}
	}
	v.report.Certificate, _ = v.signed.Signer()
	if err := v.signed.Verify(h.Sum(nil)); err != nil {
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

// checkChain checks that the certificate leads to a root, and that the algorithm
// is one to rely on.
func (v *verification) checkChain() {
	cert := v.report.Certificate
	if cert == nil {
		return
	}
	chain, err := ades.Chain(cert, v.signed.Certificates, v.options.Roots, v.options.Time)
	switch {
	case errors.Is(err, ades.ErrOutsideValidity):
		v.report.Fail(ades.Indeterminate, ades.OutOfBoundsNoPOE, err.Error())
	case err != nil:
		v.report.Fail(ades.Indeterminate, ades.NoCertificateChainFound, err.Error())
	}
	v.report.Chain = chain
	if err := v.signed.Algorithm().CheckSuite(cert.PublicKey); err != nil {
		v.report.Fail(ades.Indeterminate, ades.CryptoConstraintsFailureNoPOE, err.Error())
	}
}
