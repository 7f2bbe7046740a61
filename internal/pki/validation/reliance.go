package validation

import (
	"crypto"
	"time"

	"github.com/innsigli/innsigli/ades"
)

// The ends below are those of ETSI TS 119 312 V1.5.1, and before it of TS 102 176-1, as the default policy of EU DSS
// 6.4 has them. What is not listed was never relied upon.

// listed is the day of that list. An end which lies after it is an announcement, which later versions put off as a
// rule: whoever validates is told of it, and the result does not depend on it.
var listed = dayOf(2024, time.October, 13)

// hashReliance is until when hashes are relied upon; zero: no end is set.
var hashReliance = map[crypto.Hash]time.Time{
	crypto.SHA1:     dayOf(2012, time.August, 1),
	crypto.SHA224:   dayOf(2029, time.January, 1),
	crypto.SHA256:   {},
	crypto.SHA384:   {},
	crypto.SHA512:   {},
	crypto.SHA3_256: {},
	crypto.SHA3_384: {},
	crypto.SHA3_512: {},
}

// reliance is until when keys of so many bits and more are relied upon; zero: no end is set.
type reliance struct {
	bits  int
	until time.Time
}

// schemeReliance is in the order of the bits.
var schemeReliance = map[ades.Scheme][]reliance{
	ades.PKCS1v15: {
		{786, dayOf(2010, time.August, 1)}, {1024, dayOf(2019, time.October, 1)}, {1900, dayOf(2029, time.January, 1)},
	},
	ades.PSS: {
		{786, dayOf(2010, time.August, 1)}, {1024, dayOf(2019, time.October, 1)}, {1900, dayOf(2029, time.January, 1)}, {3000, time.Time{}},
	},
	ades.ECDSA: {{160, dayOf(2012, time.August, 1)}, {224, dayOf(2021, time.October, 1)}, {256, time.Time{}}},
}

func dayOf(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}
