package agreement

import (
	"slices"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/validators"
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

// passedBut says whether nothing keeps the signature from passing but revocation data that may come later, as
// [ades.SignatureReport.Passed] has it. EU DSS has the second sub-indication where there is none.
func (v verdict) passedBut() bool {
	return v.passed() || v.Indication == string(ades.Indeterminate) &&
		(v.SubIndication == string(ades.TryLater) || v.SubIndication == string(ades.CertificateChainGeneralFailure))
}

// result is what both say about a file, signature by signature; none where there is nothing to report on.
type result struct {
	file         string
	theirs, ours []verdict
	passed       bool // here, as a whole
}

func ofDSS(r validators.DSSReport) []verdict {
	var all []verdict
	for _, s := range r.Signatures {
		all = append(all, verdict{s.Format, s.Indication, s.SubIndication})
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

// sameVerdicts counts a file in which one finds nothing to verify as equal to one in which the other finds nothing
// but what fails for its format (EN 319 102-1 5.2.2).
func (r result) sameVerdicts() bool {
	return slices.EqualFunc(r.theirs, r.ours, func(a, b verdict) bool { return a.judged() == b.judged() }) ||
		len(r.theirs) == 0 && all(r.ours, verdict.malformed) || len(r.ours) == 0 && all(r.theirs, verdict.malformed)
}

func (v verdict) malformed() bool { return v.SubIndication == string(ades.FormatFailure) }

// sameFormats counts nothing to verify as equal to what has no format.
func (r result) sameFormats() bool {
	formless := func(v verdict) bool { return v.Format == "PDF-NOT-ETSI" || v.Format == "XML-NOT-ETSI" }
	return slices.EqualFunc(r.theirs, r.ours, func(a, b verdict) bool { return a.Format == b.Format }) ||
		len(r.theirs) == 0 && all(r.ours, formless)
}

// passesTooMuch says whether a signature passes here whose counterpart does not with EU DSS, or the file
// as a whole. Where the two see different signatures, all of EU DSS's have to pass.
func (r result) passesTooMuch() bool {
	if r.passed && !all(r.theirs, verdict.passedBut) {
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
