package xades

import (
	"slices"
	"time"

	"github.com/innsigli/innsigli/internal/pki/validation"
)

// timeOf is when the signature existed at the latest, by the oldest timestamp over it; zero when there is
// none.
func (s carriedSignature) timeOf() (oldest time.Time) {
	for _, t := range s.allStamps() {
		if oldest.IsZero() || t.token.Time.Before(oldest) {
			oldest = t.token.Time
		}
	}
	return oldest
}

func (s carriedSignature) allStamps() []carriedStamp { return slices.Concat(s.tokens, s.archives) }

// targets are the certificates that are relied upon: the signer's and those of the authorities of
// timestamps. The next archive timestamp proves that a timestamp existed at its own time (EN 319 102-1
// 5.6.3).
func (s carriedSignature) targets() []validation.Target {
	all := []validation.Target{{Certificate: s.signer, BestSignatureTime: s.timeOf()}}
	for _, t := range s.allStamps() {
		all = append(all, s.authority(t))
	}
	return all
}

func (s carriedSignature) authority(t carriedStamp) validation.Target {
	times := validation.Times{SigningTime: t.token.Time}
	proves := func(a carriedStamp) bool { return t.property != none && t.property.Precedes(a.property) }
	if i := slices.IndexFunc(s.archives, proves); i >= 0 {
		times.ValidationTime = s.archives[i].token.Time
	}
	return validation.Target{Certificate: t.token.Certificate, Timestamp: true, Times: times}
}

// withoutLast is the signature as it was before its last archive timestamp, with the data of that time.
func (s carriedSignature) withoutLast() carriedSignature {
	last := s.archives[len(s.archives)-1]
	earlier := *s.signature
	earlier.archives = slices.DeleteFunc(slices.Clone(s.archives), func(t carriedStamp) bool { return t.property == last.property })
	earlier.data = s.before(last.property)
	over := func(t carriedStamp) bool { return !t.property.Precedes(last.property) }
	return carriedSignature{signature: &earlier, tokens: slices.DeleteFunc(slices.Clone(s.tokens), over)}
}

// archived reports whether the last archive timestamp is over all validation data that the signature and the
// timestamps before need, so that it has level LTA. Its own comes later.
func (s carriedSignature) archived(known *validation.Known) bool {
	if len(s.archives) == 0 {
		return false
	}
	earlier := s.withoutLast()
	lacking, _ := earlier.data.ChargeTo(known).Lacking(known.With(s.known...), earlier.targets()...)
	return len(lacking) == 0 && len(earlier.tokens) > 0
}
