package xades

import (
	"slices"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/validation"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// judge judges by the data that the signatures of the document carry: what is said of a certificate is true of it in
// whichever of them. For the sake of one that has failed already nobody is asked.
func (v *verification) judge() validation.Judge {
	j := validation.Judge{Data: v.shared, Time: v.options.Time, Online: v.online}
	if v.report.Indication != "" {
		j.Online = nil
	}
	return j
}

// checkTimestamps reads and judges the timestamps of the signature, the archive timestamps from the newest to
// the oldest: each that is trusted proves that those before it existed at its time, at which their certificates
// are judged in turn (EN 319 102-1 5.6.3). All of them prove that the signature existed. The error is one of the
// context.
func (v *verification) checkTimestamps() (err error) {
	v.data.ChargeTo(v.inspection.known)
	v.known = v.inspection.known.With(v.signature.known...)
	if v.stamps, err = v.readStamps(ades.SignatureTimestamp, v.signature.stamps); err != nil {
		return err
	}
	if v.archives, err = v.readStamps(ades.ArchiveTimestamp, v.signature.archives); err != nil {
		return err
	}
	for i := range slices.Backward(v.archives) {
		v.judge().Timestamp(&v.archives[i], v.known, v.existed(v.signature.archives[i].property))
	}
	for i := range v.stamps {
		v.judge().Timestamp(&v.stamps[i], v.known, v.existed(v.signature.stamps[i].property))
	}
	v.noteTimestamps()
	return nil
}

// existed is when a property existed at the latest. An archive timestamp is over the properties before its own
// and proves nothing of what is put behind, though it is over the same signature (EN 319 132-1 5.5.2.2).
func (v *verification) existed(property xmldoc.Node) time.Time {
	at := v.options.Time
	for i, archive := range v.signature.archives {
		if property.Precedes(archive.property) {
			at = v.archives[i].ProvenAt(at)
		}
	}
	return at
}

// proven goes through the validation data that archive timestamps prove: each is over what stands before it.
func (v *verification) proven(yield func(validation.POE) bool) {
	at := v.options.Time
	for i, t := range slices.Backward(v.archives) {
		at = t.ProvenAt(at)
		if !t.Report.Trusted {
			continue
		}
		data := v.before(v.signature.archives[i].property).ChargeTo(v.inspection.known)
		if !yield(validation.POE{Data: data, At: at}) {
			return
		}
	}
}

func (v *verification) noteTimestamps() {
	best := v.options.Time
	for _, t := range slices.Concat(v.stamps, v.archives) {
		v.report.Timestamps = append(v.report.Timestamps, t.Report)
		if best = t.ProvenAt(best); t.Report.Trusted {
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
