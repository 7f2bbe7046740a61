package agreement

import (
	"slices"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/test/validators"
)

// verdict is what the two are compared by.
type verdict struct{ Format, Indication, SubIndication string }

func (v verdict) String() string {
	if v.SubIndication == "" {
		return v.Format + " " + v.Indication
	}
	return v.Format + " " + v.Indication + "/" + v.SubIndication
}

// judged leaves the format out.
func (v verdict) judged() verdict {
	return verdict{Indication: v.Indication, SubIndication: v.SubIndication}
}

func (v verdict) passed() bool { return v.Indication == string(ades.TotalPassed) }

// result is what both say about a file, signature by signature; none where there is nothing to report on.
type result struct {
	file         string
	theirs, ours []verdict
	passed       bool // here, as a whole
	// lacking says of each signature whether nothing keeps it from passing with EU DSS but revocation data
	// that it found none of, whatever the sub-indication.
	lacking []bool
}

func ofDSS(r validators.DSSReport) []verdict {
	var all []verdict
	for _, s := range r.Signatures {
		all = append(all, verdict{s.Format, s.Indication, s.SubIndication})
	}
	return all
}

// noRevocation are the keys of what EU DSS says where it finds no revocation data for a certificate, or none by a
// responder that it knows, and nothing else. The value is whether the key alone says so.
var noRevocation = map[string]bool{
	"BBB_XCV_SUB_ANS": false, "BBB_XCV_IRDPFC_ANS": true, "BBB_XCV_IARDPFC_ANS": true, "BBB_XCV_REVOC_ISSUER_KNOWN_ANS": false,
}

// lackingOf says of each signature whether EU DSS misses revocation data alone.
func lackingOf(r validators.DSSReport) []bool {
	var all []bool
	for _, s := range r.Signatures {
		missing := func(f validators.Finding) bool { return noRevocation[f.Key] }
		other := func(f validators.Finding) bool { _, known := noRevocation[f.Key]; return !known }
		all = append(all, slices.ContainsFunc(s.Errors, missing) && !slices.ContainsFunc(s.Errors, other))
	}
	return all
}

func ofReport(r *ades.Report) []verdict {
	var all []verdict
	for _, s := range r.Signatures {
		all = append(all, verdict{s.Format, string(s.Indication), string(s.SubIndication)})
	}
	return all
}

// same says whether there is nothing to explain.
func (r result) same() bool { return slices.Equal(r.theirs, r.ours) }

// sameVerdicts leaves the formats out. A file that one cannot read is like one without signatures.
func (r result) sameVerdicts() bool {
	return slices.EqualFunc(r.theirs, r.ours, func(a, b verdict) bool { return a.judged() == b.judged() })
}

// named is the result with the name that this project has for missing revocation data.
func (r result) named() result {
	r.theirs = slices.Clone(r.theirs)
	for i := range r.theirs {
		if v := &r.theirs[i]; i < len(r.lacking) && r.lacking[i] && v.SubIndication == string(ades.CertificateChainGeneralFailure) {
			v.SubIndication = string(ades.TryLater)
		}
	}
	return r
}

// sameFacts is sameVerdicts, but for that name.
func (r result) sameFacts() bool { return r.named().sameVerdicts() }

func (r result) sameFormats() bool {
	return slices.EqualFunc(r.theirs, r.ours, func(a, b verdict) bool { return a.Format == b.Format })
}

// passesTooMuch says whether a signature passes here whose counterpart does not with EU DSS, or the file
// as a whole. Where the two see different signatures, all of EU DSS's have to pass.
func (r result) passesTooMuch() bool {
	if r.passed && !r.mayPass() {
		return true
	}
	if len(r.ours) != len(r.theirs) {
		return slices.ContainsFunc(r.ours, verdict.passed) && !all(r.theirs, verdict.passed)
	}
	for i, v := range r.ours {
		if v.passed() && !r.theirs[i].passed() {
			return true
		}
	}
	return false
}

// mayPass says whether every signature passes with EU DSS, or is TRY_LATER, or lacks revocation data alone: what
// [ades.SignatureReport.Passed] lets pass of a file before that data is there, under the name that EU DSS has for it.
func (r result) mayPass() bool {
	for i, v := range r.theirs {
		later := v.SubIndication == string(ades.TryLater) || i < len(r.lacking) && r.lacking[i]
		if !v.passed() && !(v.Indication == string(ades.Indeterminate) && later) {
			return false
		}
	}
	return len(r.theirs) > 0
}

// all says whether there are verdicts and each of them is such.
func all(verdicts []verdict, such func(verdict) bool) bool {
	return len(verdicts) > 0 && !slices.ContainsFunc(verdicts, func(v verdict) bool { return !such(v) })
}

func shareOf(results []result, such func(result) bool) float64 {
	return float64(countOf(results, such)) / float64(max(len(results), 1))
}

func countOf(results []result, such func(result) bool) (n int) {
	for _, r := range results {
		if such(r) {
			n++
		}
	}
	return n
}
