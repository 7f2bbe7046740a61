package pades

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
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

// maxContents bounds the signature that is read from a document.
const maxContents = 4 << 20

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
	revisions, err := file.Revisions()
	if err != nil {
		return nil, readError(err)
	}
	fields, err := signatureFields(file)
	if err != nil {
		return nil, readError(err)
	}
	report := new(ades.Report)
	for _, f := range fields {
		v := verification{ctx: ctx, doc: doc, file: file, revisions: revisions, field: f, options: options}
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
	ctx       context.Context
	doc       Document
	file      *pdf.File
	field     signatureField
	options   VerifyOptions
	revisions []int64 // where they end

	ranges   byteRange
	contents []byte
	signed   *cms.SignedData
	report   ades.SignatureReport
}

// run makes the checks in the order of EN 319 102-1 5.1.3: format, identification
// of the certificate, chain, cryptography. The error is one of reading.
func (v *verification) run() error {
	v.describe()
	if problem := v.readRange(); problem != "" {
		v.report.Coverage = ades.Partial
		v.report.Fail(ades.TotalFailed, ades.FormatFailure, problem)
		return nil
	}
	v.cover()
	var err error
	if v.signed, err = cms.Parse(v.contents); err != nil {
		v.report.Fail(ades.TotalFailed, ades.FormatFailure, err.Error())
		return nil
	}
	v.report.Algorithm = v.signed.Algorithm()
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
		Name: v.field.name, Format: v.format(),
		SignerName: text("Name"), Reason: text("Reason"), Location: text("Location"),
	}
	if m, err := v.file.Bytes(d["M"]); err == nil {
		if t, err := pdf.ParseDate(pdf.String(m)); err == nil {
			v.report.ClaimedTime = t
		}
	}
}

const baselineSubFilter = "ETSI.CAdES.detached"

// format is the name of the signature's format as far as the dictionary tells.
func (v *verification) format() string {
	switch name, _ := v.file.Name(v.field.signature["SubFilter"]); name {
	case baselineSubFilter:
		return "PAdES-BASELINE-B"
	case "adbe.pkcs7.detached", "adbe.pkcs7.sha1":
		return "PKCS7-B"
	}
	return "PDF-NOT-ETSI"
}

// cover says how much of the document is signed.
func (v *verification) cover() {
	end := v.ranges.end()
	v.report.CoveredBytes = end
	switch {
	case end == v.doc.Size:
		v.report.Coverage = ades.WholeDocument
	case slices.ContainsFunc(v.revisions, func(r int64) bool { return v.endsAt(r, end) }):
		v.report.Coverage = ades.WholeRevision
	default:
		v.report.Coverage = ades.Partial
		v.report.Fail(ades.TotalFailed, ades.FormatFailure, "The signature does not cover a whole revision of the document.")
	}
}

// endsAt says whether the revision whose end-of-file marker ends at an offset is
// covered to the end: an end of line may follow the marker.
func (v *verification) endsAt(marker, end int64) bool {
	if end < marker || end > marker+2 {
		return false
	}
	rest := make([]byte, end-marker)
	_, err := v.doc.ReadAt(rest, marker)
	return err == nil && len(bytes.Trim(rest, "\r\n")) == 0
}

// checkValue checks the digest, the value and the certificate that goes with it.
func (v *verification) checkValue() error {
	h := v.signed.Algorithm().Hash.New()
	for _, part := range v.ranges.parts() {
		if err := v.ctx.Err(); err != nil {
			return err
		}
		if _, err := io.CopyBuffer(h, io.NewSectionReader(v.doc, part[0], part[1]), make([]byte, readSize)); err != nil {
			return fmt.Errorf("pades: reading the document: %w", err)
		}
	}
	v.report.Certificate, _ = v.signed.Signer()
	err := v.signed.Verify(h.Sum(nil))
	if err == nil {
		v.report.Intact = true
		err = v.signed.CheckBinding()
		if v.report.Format == "PKCS7-B" {
			err = nil // ISO 32000-1 asks for no such attribute
		}
	}
	if err == nil {
		return nil
	}
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
	return nil
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
	if err := v.signed.Algorithm().Check(cert.PublicKey); err != nil {
		v.report.Fail(ades.Indeterminate, ades.CryptoConstraintsFailureNoPOE, err.Error())
	}
}
