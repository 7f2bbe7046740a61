package pades_test

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"

	"github.com/innsigli/innsigli/ades"
)

// hiddenLater are documents with something in what was signed that later comes to light, or disappears.
var hiddenLater = []attack{
	{shadow, "hide: a drawing is freed", pointed("101 1\n0000000000 00001 f \n", ""), changed(ades.ChangeContent)},
	{shadow, "hide: a drawing is null", grown(func(r *revision) { r.replace(contractOverlay, "null") }), changed(ades.ChangeContent)},
	{shadow, "hide: a drawing draws nothing", grown(func(r *revision) {
		r.replace(contractOverlay, stream("/Type /XObject /Subtype /Form /BBox [0 0 0 0]", ""))
	}), changed(ades.ChangeContent)},
	{shadow, "hide: a note is removed", grown(func(r *revision) { r.set(page, "Annots", "[103 0 R]") }), listedAsForbidden},
	{shadow, "replace: a font", grown(func(r *revision) {
		r.replace(contractFont, "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding << /Differences [50 /nine] >> >>")
	}), listedAsForbidden},
	{shadow, "replace: what is seen of a field", grown(func(r *revision) {
		r.replace(contractAmountBox, stream("/Type /XObject /Subtype /Form /BBox [0 0 100 20]", "BT /F 12 Tf (1) Tj ET"))
	}), changed(ades.ChangeAppearance)},
	{shadow, "replace: what is seen of a field, by another object", grown(func(r *revision) {
		r.set(contractAmount, "AP", "<< /N "+r.addStream("/Type /XObject /Subtype /Form /BBox [0 0 100 20]", "BT /F 12 Tf (1) Tj ET").String()+" >>")
	}), changed(ades.ChangeAppearance)},
	{shadow, "hide and replace: the content that was hidden in a stream", func(s *scene) []byte {
		b := s.signed()
		at := bytes.Index(b, []byte("\n3 0 obj\n"+stream("", drawing))) + 1
		return pointed(fmt.Sprintf("3 1\n%010d 00000 n \n", at), "")(s)
	}, changed(ades.ChangeContent)},
	{shadow, "hide and replace: another object in its place", func(s *scene) []byte {
		at := regexp.MustCompile(`\n110 0 obj`).FindIndex(s.signed())
		return pointed(fmt.Sprintf("10 1\n%010d 00000 n \n", at[0]+1), "")(s)
	}, listedAsForbidden},
	{shadow, "hide and replace: the catalog that was hidden", pointed("0 0\n", "/Root 108 0 R"), unsigned},
	{shadow, "another object stream", revised((*scene).streams, func(r *revision) {
		r.replace(900, stream("/Type /ObjStm /N 3 /First 16", "1 0 2 0 10 1000 "+anotherPage))
	}), changed(ades.ChangePages)},
	{shadow, "hidden objects that a later revision could show", grown(func(r *revision) { r.add(anotherPage) }), mentioned(ades.ChangeHidden)},
}

// mentioned: the report lists it. That it does no harm yet is no matter.
func mentioned(kind ades.ChangeKind) noticing {
	return func(report *ades.Report) bool {
		return slices.ContainsFunc(report.Signatures, func(s ades.SignatureReport) bool {
			return slices.ContainsFunc(s.Changes, func(c ades.Change) bool { return c.Kind == kind })
		})
	}
}

// listedAsForbidden: something is, whatever it is called.
func listedAsForbidden(report *ades.Report) bool {
	for _, s := range report.Signatures {
		if s.Intact && len(s.Forbidden()) > 0 {
			return true
		}
	}
	return false
}

var lastSection = regexp.MustCompile(`startxref\s+(\d+)\s+%%EOF\s*$`)

// pointed is the signed contract with nothing behind it but a cross-reference table, and another entry
// of the trailer.
func pointed(entries, trailer string) func(*scene) []byte {
	return func(s *scene) []byte {
		s.Helper()
		b := s.signed()
		previous := lastSection.FindSubmatch(b)
		if previous == nil {
			s.Fatal("no cross-reference")
		}
		if trailer == "" {
			trailer = "/Root 1 0 R"
		}
		at := len(b)
		return fmt.Appendf(b, "xref\n%strailer\n<< /Size 500 %s /Info 100 0 R /Prev %s >>\nstartxref\n%d\n%%%%EOF\n", entries, trailer, previous[1], at)
	}
}
