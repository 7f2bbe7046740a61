package pades

import (
	"crypto/x509"
	"slices"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/evidence"
	"github.com/innsigli/innsigli/internal/pdf"
)

// level is what the signature has, which is found as the validators find it (EN 319 142-1
// 6.3): whether a timestamp is there, not whether it is any good, which its report says.
func (v *verification) level() (ades.Level, error) {
	later := v.later()
	switch {
	case len(v.stamps)+len(later) == 0:
		return ades.B, nil
	case !v.stored || len(v.missing(v.evidence, v.targets(later))) > 0:
		return ades.T, nil
	}
	covered, err := v.coversEvidence(later)
	if err != nil || !covered {
		return ades.LT, err
	}
	return ades.LTA, nil
}

// later are the document timestamps over the signature.
func (v *verification) later() []timestamp {
	return slices.DeleteFunc(slices.Clone(v.timestamps), func(t timestamp) bool { return t.ranges.end <= v.ranges.end })
}

// targets are the signer and the timestamp authorities, but that of the last document
// timestamp: what proves it comes with its renewal.
func (v *verification) targets(later []timestamp) []evidence.Target {
	all := []evidence.Target{{Certificate: v.report.Certificate, Fresh: v.report.BestTime}}
	for _, t := range slices.Concat(v.stamps, later[:max(len(later)-1, 0)]) {
		if t.token != nil {
			all = append(all, evidence.Target{Certificate: t.token.Certificate, Fresh: t.token.Time})
		}
	}
	return all
}

func (v *verification) missing(data *evidence.Data, targets []evidence.Target) []string {
	return data.Missing(v.options.Roots, v.known(), targets...)
}

// known are the certificates that the signature and the timestamps carry.
func (v *verification) known() []*x509.Certificate {
	all := slices.Clone(v.signed.Certificates)
	for _, t := range slices.Concat(v.stamps, v.timestamps) {
		if t.token != nil {
			all = append(all, t.token.Certificates...)
		}
	}
	return all
}

// coversEvidence says whether the last document timestamp is over validation data that
// suffices for the signature (EN 319 142-1 5.5): it covers all that earlier ones do.
func (v *verification) coversEvidence(later []timestamp) (bool, error) {
	if len(later) == 0 {
		return false, nil
	}
	e, err := v.evidenceUpTo(later[len(later)-1].ranges.end)
	if err != nil || !e.stored {
		return false, err
	}
	return len(v.missing(e.data, v.targets(later))) == 0, nil
}

// earlierEvidence is the document security store of an earlier revision.
type earlierEvidence struct {
	data   *evidence.Data
	stored bool // there was one that can be read
}

// evidenceUpTo reads the validation data of the document as it was when it had so many
// bytes. It is the same for many signatures, and read once.
func (d *inspection) evidenceUpTo(end int64) (earlierEvidence, error) {
	e, ok := d.earlier[end]
	if ok {
		return e, nil
	}
	file, err := pdf.Open(d.doc, end)
	if err == nil {
		e.data, e.stored, err = storedEvidence(file)
	}
	if err != nil {
		e.stored = false
	}
	if err = notMalformed(err); err == nil {
		d.earlier[end] = e
	}
	return e, err
}
