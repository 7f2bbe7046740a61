package pades_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
)

// Objects of the document that is changed.
const (
	textField = first + iota
	textDrawn
	checkField
	checkDrawn
	emptyField
	annotation
	information
	saidOf
	nobodys
	font
	theForm
	names
	tree
	layers
)

// changeable is a document with something of each kind to change.
func changeable() []byte {
	widget := func(entries string) string {
		return "<< /Type /Annot /Subtype /Widget /P 10 0 R /F 4 /Rect [10 10 90 30] " + entries + " >>"
	}
	const form = "/Type /XObject /Subtype /Form /BBox [0 0 90 90]"
	return pdftest.Build(pdftest.Options{
		Catalog: fmt.Sprintf("/AcroForm %d 0 R /Metadata %d 0 R /Names %d 0 R /StructTreeRoot %d 0 R /OCProperties %d 0 R /OpenAction [10 0 R /Fit]",
			theForm, saidOf, names, tree, layers),
		Page: fmt.Sprintf("/Annots [%d 0 R %d 0 R %d 0 R %d 0 R] /Resources << /Font << /F %d 0 R >> >>", textField, checkField, emptyField, annotation, font),
		Objects: []string{
			widget(fmt.Sprintf("/FT /Tx /T (Text) /V (old) /AP << /N %d 0 R >>", textDrawn)), stream(form, "0 0 m"),
			widget(fmt.Sprintf("/FT /Btn /T (Check) /V /Off /AS /Off /AP << /N << /Yes %d 0 R >> >>", checkDrawn)), stream(form, "1 1 m"),
			widget("/FT /Sig /T (Empty)"), square, "<< /Title (This one) >>", xmp("This one", 1), stream(form, "2 2 m"),
			"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
			fmt.Sprintf("<< /Fields [%d 0 R %d 0 R %d 0 R] /DR << /Font << /F %d 0 R >> >> >>", textField, checkField, emptyField, font),
			"<< /Dests << /Names [(Here) [10 0 R /Fit]] >> >>",
			"<< /Type /StructTreeRoot /K << /S /Document /P 112 0 R /K << /Type /OBJR /Pg 10 0 R /Obj 105 0 R >> >> >>",
			"<< /OCGs [] /D << >> >>",
		},
		Trailer: fmt.Sprintf("/Info %d 0 R", information),
	})
}

// changeRow is what a later revision did, what that is, and from which permission of a
// certification on it is permitted; 4 is never.
type changeRow struct {
	name    string
	appends func(*revision)
	kinds   string
	needs   pades.Permission
}

const never = pades.Annotations + 1

// ISO 32000-2 table 257: what a certification permits, and no certification as P of 2.
func TestChanges(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	signed := make(map[pades.Permission][]byte)
	for _, permission := range []pades.Permission{0, pades.NoChanges, pades.FormFilling, pades.Annotations} {
		signed[permission] = sign(t, changeable(), p, pades.Options{Certify: permission})
	}
	for _, row := range slices.Concat(changeTable...) {
		t.Run(row.name, func(t *testing.T) {
			for permission, b := range signed {
				r := newRevision(t, b)
				row.appends(r)
				row.check(t, permission, changesOf(t, r.written(), p))
			}
		})
	}
}

// What was changed and changed back was changed.
func TestChangesTakenBack(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	signed := sign(t, changeable(), p, pades.Options{})
	r := newRevision(t, signed)
	r.replace(content, stream("", drawing))
	r = newRevision(t, r.written())
	r.replace(content, stream("", "0 0 m 10 10 l S"))
	var revisions []int
	report := changesOf(t, r.written(), p)
	for _, c := range report.Forbidden() {
		revisions = append(revisions, c.Revision)
	}
	if !slices.Equal(revisions, []int{3, 4}) {
		t.Errorf("changes in %v", revisions)
	}
}

// Each signature permits what it did not sign: of two, the second does not know what came
// between them.
func TestChangesOfTwoSignatures(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	r := newRevision(t, sign(t, changeable(), p, pades.Options{}))
	r.replace(content, stream("", drawing))
	b := sign(t, r.written(), p, pades.Options{})
	report, err := pades.Verify(t.Context(), document(b), ades.VerifyOptions{Roots: p.ca.Roots()})
	if err != nil || len(report.Signatures) != 2 {
		t.Fatalf("%v, %+v", err, report)
	}
	if first, second := report.Signatures[0], report.Signatures[1]; len(first.Forbidden()) != 1 || len(second.Changes) != 0 || report.Passed() {
		t.Errorf("%+v and %+v", first.Changes, second.Changes)
	}
}

func changesOf(t *testing.T, b []byte, p person) ades.SignatureReport {
	t.Helper()
	report, err := pades.Verify(t.Context(), document(b), ades.VerifyOptions{Roots: p.ca.Roots()})
	if err != nil || len(report.Signatures) == 0 {
		t.Fatalf("%v, %+v", err, report)
	}
	// Those that are only made up cover nothing, and come first.
	return slices.MaxFunc(report.Signatures, func(a, b ades.SignatureReport) int { return cmp.Compare(a.CoveredBytes, b.CoveredBytes) })
}

func (row changeRow) check(t *testing.T, p pades.Permission, s ades.SignatureReport) {
	t.Helper()
	found := make(map[string]bool)
	for _, c := range s.Changes {
		if c.Kind != ades.ChangeHidden || row.kinds == string(ades.ChangeHidden) {
			found[string(c.Kind)] = true
		}
		if c.Revision != 3 && c.Revision != 2 {
			t.Errorf("in revision %d", c.Revision)
		}
	}
	if diff := gocmp.Diff(row.kinds, strings.Join(slices.Sorted(maps.Keys(found)), " ")); diff != "" {
		t.Errorf("P %d: %+v\n%s", p, s.Changes, diff)
	}
	if p == 0 {
		p = pades.FormFilling
	}
	if permitted := len(s.Forbidden()) == 0; permitted != (p >= row.needs) || s.Passed() && !permitted {
		t.Errorf("P %d: permitted %t, passed %t: %+v", p, permitted, s.Passed(), s.Changes)
	}
	if pages := strings.Contains(row.name, "pages in all"); (s.SubIndication == ades.FormatFailure) != pages {
		t.Errorf("%s %s", s.Indication, s.SubIndication)
	}
}

// What is locked is not permitted, whatever the certification says (ISO 32000-2 12.8.2.4).
func TestChangesOfLockedFields(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	for lock, locked := range map[string][]string{
		"/Action /All":                               {"Text", "Check", "Empty"},
		"/Action /Include /Fields [(Text)]":          {"Text"},
		"/Action /Exclude /Fields [(Text) (Check)]":  {"Empty"},
		"/Action /Include /Fields [] /P 1":           {"Text", "Check", "Empty"},
		"/Action /Include /Fields [(Te) (Check.x)]":  nil,
		"/Action /Include /Fields [(Empty)] /P 2":    {"Empty"},
		"/Action /Exclude /Fields [(Text)] /P 3":     {"Check", "Empty"},
		"/Action /Include /Fields [(Check) (Empty)]": {"Check", "Empty"},
	} {
		t.Run(lock, func(t *testing.T) {
			base := newRevision(t, changeable())
			base.appendTo(theForm, "Fields", base.add("<< /FT /Sig /T (Locking) /Lock << /Type /SigFieldLock "+lock+" >> >>"))
			b := base.written()
			signed := sign(t, b, p, pades.Options{Field: "Locking"})
			got := []string{}
			for name, fill := range map[string]func(*revision){
				"Text": func(r *revision) { r.set(textField, "V", "(new)") }, "Check": checked, "Empty": signs,
			} {
				r := newRevision(t, signed)
				fill(r)
				s := changesOf(t, r.written(), p)
				if len(s.Changes) == 0 || s.Changes[0].Field != name {
					t.Errorf("%s: %+v", name, s.Changes)
				}
				if len(s.Forbidden()) > 0 {
					got = append(got, name)
				}
			}
			slices.Sort(got)
			want := slices.Sorted(slices.Values(locked))
			if !slices.Equal(got, want) {
				t.Errorf("locked are %q, not %q", got, want)
			}
		})
	}
}

func checked(r *revision) {
	r.set(checkField, "V", "/Yes")
	r.set(checkField, "AS", "/Yes")
}

// signs fills in the empty field as if it were signed.
func signs(r *revision) {
	r.set(emptyField, "V", r.add("<< /Type /Sig /Filter /Adobe.PPKLite /SubFilter /ETSI.CAdES.detached /Contents <00> /ByteRange [0 0 0 0] >>").String())
	r.set(emptyField, "AP", fmt.Sprintf("<< /N %s >>", r.addStream("/Type /XObject /Subtype /Form /BBox [0 0 90 90]", drawing)))
}
