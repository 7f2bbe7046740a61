package pades

import (
	"slices"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/validation"
)

// level is what the signature has, which is found as the validators find it (EN 319 142-1
// 6.3): whether a timestamp is there, not whether it is any good, which its report says.
func (v *verification) level() (ades.Level, error) {
	own := validation.Readable(v.stamps)
	later := slices.DeleteFunc(v.later(), func(t documentTimestamp) bool { return t.Token == nil })
	switch {
	case len(own)+len(later) == 0:
		return ades.B, nil
	case v.store.dict == nil || !v.suffices(v.store.data, own, later):
		return ades.T, nil
	}
	if old, err := v.storeUpTo(v.ranges.end); err != nil || len(old.streams) == len(v.store.streams) {
		return ades.T, err // what was there before the signature cannot have been collected for it
	}
	covered, err := v.coversEvidence(own, later)
	if err != nil || !covered {
		return ades.LT, err
	}
	return ades.LTA, nil
}

// later are the document timestamps over the signature.
func (v *verification) later() []documentTimestamp {
	return slices.DeleteFunc(slices.Clone(v.timestamps), func(t documentTimestamp) bool { return t.ranges.end <= v.ranges.end })
}

// suffices reports whether the data has what level LT needs for the signer and the timestamp
// authorities, but that of the last document timestamp: what proves it comes with its
// renewal. The others are those of all signatures, and looked at once.
func (v *verification) suffices(data *validation.Data, own []validation.Timestamp, later []documentTimestamp) bool {
	signer := validation.Target{Certificate: v.report.Certificate, BestSignatureTime: v.report.BestTime}
	proven := tokensOf(later[:max(len(later)-1, 0)])
	return data.Present(v.known, append(validation.Targets(own), signer)...) &&
		data.Present(v.inspection.known, validation.Targets(proven)...)
}

// coversEvidence reports whether the last document timestamp is over validation data that
// suffices for the signature (EN 319 142-1 5.5): it covers all that earlier ones do.
func (v *verification) coversEvidence(own []validation.Timestamp, later []documentTimestamp) (bool, error) {
	if len(later) == 0 {
		return false, nil
	}
	s, err := v.storeUpTo(later[len(later)-1].ranges.end)
	if err != nil || s.dict == nil {
		return false, err
	}
	return v.suffices(s.data, own, later), nil
}
