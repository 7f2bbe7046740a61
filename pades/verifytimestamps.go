package pades

import (
	"cmp"
	"context"
	"crypto/x509"
	"slices"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/cms"
	"github.com/innsigli/innsigli/internal/pki/validation"
	"github.com/innsigli/innsigli/pades/internal/form"
)

// inspection is the verification of one document.
type inspection struct {
	ctx context.Context
	coverage
	options         ades.VerifyOptions
	broken          bool           // the cross-reference, so that nothing covers what is shown
	usedGaps        map[int64]bool // gaps that are other fields' signatures
	sums            *rangeHashes
	store           store
	timestamps      []judgedTimestamp         // in the order of what they cover
	earlierStores   map[int64]store           // of earlier revisions, by their length
	decoded         map[streamLocation]stream // of all stores
	signedRevisions []int64                   // see signedRevisionEnds
	known           *validation.Known         // whom to trust, and what the document timestamps carry
	online          *validation.Online        // nil: nobody is asked
}

// verification is the work on one signature.
type verification struct {
	*inspection
	field form.SignatureField

	ranges              byteRange
	signed              *cms.SignedData
	known               *validation.Known      // with what the signature carries
	data                *validation.Data       // that of the store, with what the signature carries
	signatureTimestamps []validation.Timestamp // that the signature carries
	report              ades.SignatureReport
}

func (d *inspection) report(fields []form.SignatureField) (*ades.Report, error) {
	all := make([]verification, 0, len(fields))
	for _, f := range fields {
		v := verification{inspection: d, field: f}
		if err := cmp.Or(v.run(), d.ctx.Err()); err != nil {
			return nil, readError(err)
		}
		all = append(all, v)
	}
	slices.SortStableFunc(all, func(a, b verification) int {
		return cmp.Or(cmp.Compare(a.ranges.end, b.ranges.end), cmp.Compare(a.report.CoveredBytes, b.report.CoveredBytes))
	})
	if err := d.noteChanges(all); err != nil {
		return nil, err
	}
	report := new(ades.Report)
	for _, v := range all {
		report.Signatures = append(report.Signatures, v.report)
	}
	return report, nil
}

// claim reads what ByteRange leaves out, which no two fields may share. The problem is
// empty when all is well.
func (d *inspection) readUniqueContents(f form.SignatureField) (r byteRange, contents []byte, problem string) {
	if d.broken {
		return r, nil, brokenCrossReference
	}
	r, contents, problem = d.readContents(f)
	if problem == "" && d.usedGaps[r.gap] {
		problem = "The signature is another field's."
	}
	if problem == "" {
		d.usedGaps[r.gap] = true
	}
	return r, contents, problem
}

// judgedTimestamp is a timestamp over a document with all that is in it.
type judgedTimestamp struct {
	validation.Timestamp
	ranges byteRange
}

// readTimestamps reads and judges the document timestamps (ISO 32000-2 12.8.5).
func (d *inspection) readTimestamps(fields []form.SignatureField) error {
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
	d.store.data.ChargeTo(d.known)
	d.judgeTimestamps()
	return d.ctx.Err()
}

func (d *inspection) readTimestamp(f form.SignatureField) (t judgedTimestamp, _ error) {
	ranges, contents, problem := d.readUniqueContents(f)
	t.ranges = ranges
	switch kind, _ := d.file.Name(f.Signature["Type"]); {
	case problem != "":
	case d.coverageOf(ranges) == ades.Partial:
		problem = "The timestamp does not cover a whole revision of the document."
	case kind != "DocTimeStamp": // ISO 32000-2 table 255: without Type it is a signature
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

// tokensOf leaves out what the timestamps are over.
func tokensOf(timestamps []judgedTimestamp) []validation.Timestamp {
	var all []validation.Timestamp
	for _, t := range timestamps {
		all = append(all, t.Timestamp)
	}
	return all
}

// judgeTimestamps goes from the newest document timestamp to the oldest: each that is
// trusted proves that those before it existed at its time, at which their certificates
// are judged in turn (EN 319 102-1 5.6.3).
func (d *inspection) judgeTimestamps() {
	at := d.options.Time
	for i := range slices.Backward(d.timestamps) {
		t := &d.timestamps[i]
		d.judge().Timestamp(&t.Timestamp, d.known, at)
		at = t.ProvenAt(at)
	}
}

func (d *inspection) judge() validation.Judge {
	return validation.Judge{Data: d.store.data, Time: d.options.Time, Online: d.online}
}

// withArchived is validation data with what the signature itself carries.
func (v *verification) withArchived(data *validation.Data) *validation.Data {
	lists, responses := v.signed.ArchivedRevocation()
	if len(lists)+len(responses) == 0 {
		return data
	}
	return data.With(&validation.Data{OCSP: responses, CRLs: lists})
}

// judge asks nobody for the sake of a signature that has failed already.
func (v *verification) judge() validation.Judge {
	j := v.inspection.judge()
	j.Data = cmp.Or(v.data, j.Data)
	if v.report.Indication != "" {
		j.Online = nil
	}
	return j
}

// checkTimestamps judges the timestamps that the signature carries, as of the earliest
// time at which a document timestamp proves that they existed, and notes all that are
// over the signature.
func (v *verification) checkTimestamps() {
	at := v.options.Time
	for _, t := range slices.Backward(v.laterTimestamps()) {
		at = t.ProvenAt(at)
	}
	carried := slices.Concat(v.signed.Certificates, v.store.data.Certificates)
	for _, token := range v.signed.SignatureTimestamps() {
		v.signatureTimestamps = append(v.signatureTimestamps, signatureTimestamp(token, v.signed.Value, carried))
	}
	v.known = v.inspection.known.With(slices.Concat(v.signed.Certificates, validation.Certificates(v.signatureTimestamps))...)
	best := at
	for i := range v.signatureTimestamps {
		v.judge().Timestamp(&v.signatureTimestamps[i], v.known, at)
		best = v.signatureTimestamps[i].ProvenAt(best)
	}
	for _, t := range slices.Concat(v.signatureTimestamps, tokensOf(v.laterTimestamps())) {
		v.report.Timestamps = append(v.report.Timestamps, t.Report)
		if t.Report.Trusted {
			v.report.BestTime = best
		}
	}
}

// checkPOE makes sure that the revocation data is from who is in force, or was when a document timestamp
// proves the store as it was then. The error is one of reading.
func (v *verification) checkPOE() (err error) {
	v.judge().Evidence(&v.report, func(yield func(validation.POE) bool) {
		at := v.options.Time
		for _, t := range slices.Backward(v.laterTimestamps()) {
			at = t.ProvenAt(at)
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

// signatureTimestamp is a token over a signature value (EN 319 122-1 5.3).
func signatureTimestamp(token, value []byte, known []*x509.Certificate) validation.Timestamp {
	t := validation.Read(ades.SignatureTimestamp, token)
	if t.Token != nil {
		h := t.Token.Hash.New()
		h.Write(value)
		t.Check(h.Sum(nil), known)
	}
	return t
}
