package main

import (
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/test/validators"
)

// dssRest is what stands in a report beside the verdicts, and the order of timestamps of
// the same second.
var dssRest = cmp.Options{
	cmpopts.IgnoreFields(validators.DSSSignature{}, "SigningTime", "BestTime", "Warnings"),
	cmpopts.IgnoreFields(validators.DSSTimestamp{}, "ProductionTime", "Warnings"),
	cmpopts.SortSlices(func(a, b validators.DSSTimestamp) bool { return a.Type < b.Type }),
	cmpopts.EquateEmpty(),
}

// inDSS is the report that a file has to get.
func (f *signedFile) inDSS() validators.DSSReport {
	report := validators.DSSReport{File: f.path}
	stamp := func(kind string) {
		report.Timestamps = append(report.Timestamps, validators.DSSTimestamp{
			Type: kind, Indication: "PASSED", Intact: true, ProducedBy: timestamper,
		})
	}
	for _, field := range f.fields() {
		if field.signer == "" {
			stamp("DOCUMENT_TIMESTAMP")
			continue
		}
		if f.level >= ades.T {
			stamp("SIGNATURE_TIMESTAMP")
		}
		s := validators.DSSSignature{
			Format: "PAdES-BASELINE-" + f.level.String(), Intact: true, Valid: true, SignedBy: field.signer,
			Indication: "TOTAL_PASSED", Scopes: []string{"PARTIAL"},
		}
		if field.last {
			s.Scopes = []string{"FULL"}
		}
		report.Signatures = append(report.Signatures, s)
	}
	return report
}

// timestamper is the name of the sandbox's timestamp authority.
const timestamper = "Innsigli Sandbox TSA"

// inPyHanko is the report that a file has to get. What raises a signature's level is an
// LTA update to pyHanko, and the next signature is filling in a form.
func (f *signedFile) inPyHanko() validators.PyHankoReport {
	report := validators.PyHankoReport{File: f.path}
	fields := f.fields()
	for i, field := range fields {
		s := validators.PyHankoSignature{
			Field: field.name, Type: "/Sig", SubFilter: "/ETSI.CAdES.detached",
			Intact: true, Valid: true, Trusted: true, DocMDPOK: true, BottomLine: true,
			Coverage: "ENTIRE_REVISION", ModificationLevel: "FORM_FILLING",
		}
		switch {
		case field.last:
			s.Coverage, s.ModificationLevel = "ENTIRE_FILE", "NONE"
		case f.level == ades.LT && i == len(fields)-1, f.level == ades.LTA && i == len(fields)-2:
			s.ModificationLevel = "LTA_UPDATES"
		}
		if field.signer == "" {
			s.Type, s.SubFilter, s.DocMDPOK = "/DocTimeStamp", "/ETSI.RFC3161", false // no certification of pyHanko's
		} else if f.level >= ades.T {
			s.Timestamp = &validators.PyHankoTimestamp{Intact: true, Valid: true, Trusted: true}
		}
		report.Signatures = append(report.Signatures, s)
	}
	return report
}

// inPDFSig is the list that a file has to get. Document timestamps are unknown to pdfsig.
func (f *signedFile) inPDFSig() (all []validators.PDFSigSignature) {
	for _, field := range f.fields() {
		s := validators.PDFSigSignature{
			Field: field.name, Type: "ETSI.CAdES.detached", Hash: "SHA-256", SignedBy: field.signer,
			Signature: "Signature is Valid.", Total: field.last,
		}
		if field.signer == "" {
			s.Type, s.SignedBy, s.Signature = "unknown", timestamper, "Signature has not yet been verified."
		}
		all = append(all, s)
	}
	return all
}
