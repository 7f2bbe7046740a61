package pades

import (
	"cmp"
	"crypto/x509"
	"slices"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/validation"
	"github.com/innsigli/innsigli/pades/internal/form"
)

// judgedTimestamp is a document timestamp with the byte range that it covers.
type judgedTimestamp struct {
	validation.Timestamp
	ranges byteRange
}

// readTimestamps reads and judges the document timestamps (ISO 32000-2 12.8.5).
func (d *documentValidation) readTimestamps(fields []form.SignatureField) error {
	for _, f := range fields {
		t, err := d.readTimestamp(f)
		if err != nil {
			return err
		}
		t.Report.Name = f.Name
		d.timestamps = append(d.timestamps, t)
	}
	slices.SortStableFunc(d.timestamps, func(a, b judgedTimestamp) int { return cmp.Compare(a.ranges.end, b.ranges.end) })
	d.known = d.known.With(validation.Certificates(tokensOf(d.timestamps))...)
	d.store.data.ShareLimit(d.known)
	d.judgeTimestamps()
	return d.ctx.Err()
}

// readTimestamp reads the document timestamp in a field, and compares its digest with the document.
// What is wrong with the timestamp is in its report; the error is an error of reading.
func (d *documentValidation) readTimestamp(f form.SignatureField) (t judgedTimestamp, _ error) {
	ranges, contents, problem := d.readUniqueContents(f)
	t.ranges = ranges
	switch kind, _ := d.file.Name(f.Signature["Type"]); {
	case problem != "":
	case d.coverageOf(ranges) == ades.Partial:
		problem = "The timestamp does not cover a whole revision of the document."
	case kind != "DocTimeStamp": // ISO 32000-2 table 255: Type is Sig if it is absent
		problem = "The timestamp of the document is not of type DocTimeStamp."
	}
	if problem != "" {
		t.Report.Type = ades.DocumentTimestamp
		t.Report.Fail(problem)
		return t, nil
	}
	if t.Timestamp = validation.Read(ades.DocumentTimestamp, contents); t.Token == nil {
		return t, nil
	}
	sum, err := d.sums.digest(d.ctx, t.Token.Hash, ranges)
	if err != nil {
		return t, err
	}
	if d.hasDuplicateKeys(f) {
		t.Report.Fail(errDuplicateKeys.Error())
		return t, nil
	}
	t.Check(sum, d.store.data.Certificates)
	return t, nil
}

// judgeTimestamps judges the document timestamps from the newest to the oldest. A trusted timestamp
// is a proof of existence for those before it, so that their certificates are judged as of its time
// (EN 319 102-1 5.6.3).
func (d *documentValidation) judgeTimestamps() {
	at := d.options.Time
	for i := range slices.Backward(d.timestamps) {
		t := &d.timestamps[i]
		d.validator().Timestamp(&t.Timestamp, d.known, at)
		at = t.EarliestPOE(at)
	}
}

// validateSignatureTimestamps reads the signature timestamps and validates them as of the earliest
// time at which a trusted document timestamp shows that they existed. It adds all timestamps over
// the signature to the report, and sets BestTime if one of them is trusted.
func (v *signatureValidation) validateSignatureTimestamps() {
	at := v.options.Time
	for _, t := range slices.Backward(v.laterTimestamps()) {
		at = t.EarliestPOE(at)
	}
	certificates := slices.Concat(v.signed.Certificates, v.store.data.Certificates)
	for _, token := range v.signed.SignatureTimestamps() {
		v.signatureTimestamps = append(v.signatureTimestamps, signatureTimestamp(token, v.signed.Value, certificates))
	}
	v.knownWithSignature = v.known.With(slices.Concat(v.signed.Certificates, validation.Certificates(v.signatureTimestamps))...)
	best := at
	for i := range v.signatureTimestamps {
		v.validator().Timestamp(&v.signatureTimestamps[i], v.knownWithSignature, at)
		best = v.signatureTimestamps[i].EarliestPOE(best)
	}
	for _, t := range slices.Concat(v.signatureTimestamps, tokensOf(v.laterTimestamps())) {
		v.report.Timestamps = append(v.report.Timestamps, t.Report)
		if t.Report.Trusted {
			v.report.BestTime = best
		}
	}
}

// signatureTimestamp reads a token over a signature value (EN 319 122-1 5.3) and compares its
// digest with the value.
func signatureTimestamp(token, value []byte, known []*x509.Certificate) validation.Timestamp {
	t := validation.Read(ades.SignatureTimestamp, token)
	if t.Token != nil {
		h := t.Token.Hash.New()
		h.Write(value)
		t.Check(h.Sum(nil), known)
	}
	return t
}

// notePastValidation makes past certificate validation (EN 319 102-1 5.6.2): the signers of the
// revocation data are valid at options.Time, or were valid when a trusted document timestamp covered
// the document security store with this data. The error is an error of reading.
func (v *signatureValidation) notePastValidation() (err error) {
	v.validator().PastValidation(&v.report, func(yield func(validation.POE) bool) {
		at := v.options.Time
		for _, t := range slices.Backward(v.laterTimestamps()) {
			at = t.EarliestPOE(at)
			if !t.Report.Trusted {
				continue
			}
			var s store
			if s, err = v.storeAt(t.ranges.end); err != nil {
				return
			}
			if len(s.streams) > 0 && !yield(validation.POE{Data: s.data, At: at}) {
				return
			}
		}
	})
	return err
}

// laterTimestamps returns the document timestamps over the signature.
func (v *signatureValidation) laterTimestamps() []judgedTimestamp {
	return slices.DeleteFunc(slices.Clone(v.timestamps), func(t judgedTimestamp) bool { return t.ranges.end <= v.ranges.end })
}

// tokensOf returns the timestamps without their byte ranges.
func tokensOf(timestamps []judgedTimestamp) []validation.Timestamp {
	var all []validation.Timestamp
	for _, t := range timestamps {
		all = append(all, t.Timestamp)
	}
	return all
}

func (d *documentValidation) validator() validation.Validator {
	return validation.Validator{Data: d.store.data, Time: d.options.Time, Online: d.online}
}

// validator returns the validator for this signature. Once the signature has failed, it fetches
// nothing.
func (v *signatureValidation) validator() validation.Validator {
	own := v.documentValidation.validator()
	own.Data = cmp.Or(v.data, own.Data)
	if v.report.Indication != "" {
		own.Online = nil
	}
	return own
}

// withArchived returns the data together with the revocation data that is a signed attribute,
// adbe-revocationInfoArchival (ISO 32000-1 12.8.3.3.2).
func (v *signatureValidation) withArchived(data *validation.Data) *validation.Data {
	lists, responses := v.signed.ArchivedRevocation()
	if len(lists)+len(responses) == 0 {
		return data
	}
	return data.With(&validation.Data{OCSP: responses, CRLs: lists})
}
