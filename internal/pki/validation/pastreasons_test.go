package validation_test

import (
	"strings"

	"github.com/innsigli/innsigli/ades"
)

// difference is one from EU DSS that is there for a reason. In none of them a signature passes here that does not
// there.
type difference struct {
	reason string
	holds  func(pastFile, verdict, verdict) bool // of a file, what is said here and there
}

var (
	tryLater              = verdict{ades.Indeterminate, ades.TryLater}
	totalPassed           = verdict{ades.TotalPassed, ""}
	revokedCA             = verdict{ades.Indeterminate, ades.RevokedCANoPOE}
	outOfBounds           = verdict{ades.Indeterminate, ades.OutOfBoundsNoPOE}
	revocationOutOfBounds = verdict{ades.Indeterminate, ades.RevocationOutOfBoundsNoPOE}
	notRevoked            = verdict{ades.Indeterminate, ades.OutOfBoundsNotRevoked}
)

var differences = []difference{
	{"EU DSS throws an exception, a NullPointerException, and has no verdict",
		func(_ pastFile, _, theirs verdict) bool { return theirs == verdict{} }},
	{"no revocation data: EN 319 102-1 5.2.6.4 says TRY_LATER, and EU DSS what it says of anything wrong with a chain",
		func(f pastFile, ours, theirs verdict) bool {
			return f.level < ades.LT && ours == tryLater && theirs == verdict{ades.Indeterminate, ades.CertificateChainGeneralFailure}
		}},
	{"no timestamp is trusted, and the data is older than the judgement: EN 319 102-1 5.2.5.4 wants it newer, and the default policy of EU DSS ignores that",
		func(f pastFile, ours, theirs verdict) bool {
			return f.level >= ades.LT && ours == tryLater && theirs == totalPassed
		}},
	{"the issuer was revoked, and the signer has expired since: EU DSS looks at the second alone (EN 319 102-1 5.2.6.4)",
		func(f pastFile, ours, theirs verdict) bool {
			return strings.HasPrefix(f.event, "issuer ") && ours == revokedCA && (theirs == totalPassed || theirs == outOfBounds || theirs == notRevoked)
		}},
	{"the issuer was revoked later, and nothing proves that what is known of the signer is from before: EN 319 102-1 5.6.2.2 asks for that, and EU DSS does while the responder is out of force only",
		func(f pastFile, ours, theirs verdict) bool {
			return strings.HasPrefix(f.event, "issuer ") && (ours == revocationOutOfBounds || ours == outOfBounds) && (theirs == totalPassed || theirs == revokedCA)
		}},
	{"the signer was revoked later and has expired, and so has who says so: EU DSS asks for a proof of the data only where nobody was revoked (EN 319 102-1 5.6.2.3)",
		func(f pastFile, ours, theirs verdict) bool {
			return strings.HasPrefix(f.event, "signer") && ours == outOfBounds && theirs == totalPassed
		}},
	{"the certificate has expired while it was on hold: trying later is in vain",
		func(f pastFile, ours, theirs verdict) bool {
			return strings.HasSuffix(f.event, "on hold") && ours == outOfBounds && (theirs == tryLater || theirs == notRevoked)
		}},
	{"who says that the certificate is on hold has expired, and nothing proves that it was said before: EU DSS takes it for said (EN 319 102-1 5.6.2.3)",
		func(f pastFile, ours, theirs verdict) bool {
			return strings.HasSuffix(f.event, "on hold") && ours == revocationOutOfBounds && theirs == tryLater
		}},
}

// reasonOf is why two verdicts differ; "" when there is no reason.
func reasonOf(f pastFile, ours, theirs verdict) string {
	for _, d := range differences {
		if d.holds(f, ours, theirs) {
			return d.reason
		}
	}
	return ""
}
