package xades

import (
	"slices"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/validation"
)

// judge judges by the data that the signature carries.
func (v *verification) judge() validation.Judge {
	return validation.Judge{Data: v.data, Time: v.options.Time}
}

// checkTimestamps reads and judges the timestamps of the signature, from the newest to the oldest: each that
// is trusted proves that those before it existed at its time, at which their certificates are judged in turn
// (EN 319 102-1 5.6.3). The error is one of the context.
func (v *verification) checkTimestamps() (err error) {
	v.data.ChargeTo(v.inspection.known)
	v.known = v.inspection.known.With(v.signature.known...)
	if v.stamps, err = v.readStamps(ades.SignatureTimestamp, v.signature.stamps); err != nil {
		return err
	}
	if v.archives, err = v.readStamps(ades.ArchiveTimestamp, v.signature.archives); err != nil {
		return err
	}
	at := v.options.Time
	for i := range slices.Backward(v.archives) {
		v.judge().Timestamp(&v.archives[i], v.known, at)
		at = v.archives[i].ProvenAt(at)
	}
	v.evidenceAt = at
	best := at
	for i := range v.stamps {
		v.judge().Timestamp(&v.stamps[i], v.known, at)
		best = v.stamps[i].ProvenAt(best)
	}
	v.noteTimestamps(best)
	return nil
}

func (v *verification) noteTimestamps(best time.Time) {
	for _, t := range slices.Concat(v.stamps, v.archives) {
		v.report.Timestamps = append(v.report.Timestamps, t.Report)
		if t.Report.Trusted {
			v.report.BestTime = best
		}
	}
}

// readStamps reads timestamps and compares them with what they are over.
func (v *verification) readStamps(kind ades.TimestampType, carried []carriedStamp) ([]validation.Timestamp, error) {
	var all []validation.Timestamp
	for _, c := range carried {
		t := validation.Read(kind, c.der)
		t.Report.Name, _ = c.property.Attr("", "Id")
		if t.Token != nil {
			if err := v.compare(&t, c); err != nil {
				return nil, err
			}
		}
		all = append(all, t)
	}
	return all, nil
}

func (v *verification) compare(t *validation.Timestamp, c carriedStamp) error {
	sum, err := v.stampedSum(v.ctx, c, t.Token.Hash)
	switch {
	case v.ctx.Err() != nil:
		return v.ctx.Err()
	case err != nil:
		t.Report.Fail(err.Error())
	default:
		t.Check(sum, slices.Concat(v.signature.known, v.data.Certificates))
	}
	return nil
}
