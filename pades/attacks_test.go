package pades_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/pades"
)

// attack is a row of the table: a document, a change of it, and Innsigli's verdict. TestAttacksByValidators has the
// verdicts of EU DSS, pyHanko and pdfsig on the same rows.
type attack struct {
	family, name string
	victim       victim
	edit         edit   // nil: the victim is what is verified
	want         string // as verdictOf writes it; three by " | ": for certifications with P 1, 2 and 3
}

// Families of attacks: "1 Trillion Dollar Refund" (Mladenov et al., CCS 2019), "Shadow Attacks" (Mainka et al., NDSS
// 2021), "Breaking the Specification: PDF Certification" (Rohlmann et al., IEEE S&P 2021).
const (
	universalForgery   = "universal signature forgery"
	incrementalSaving  = "incremental saving"
	signatureWrapping  = "signature wrapping"
	shadowAttack       = "shadow"
	certification      = "certification"
	fileStructure      = "structure"
	cmsMessage         = "CMS"
	falseProof         = "proof"
	certificatePurpose = "purpose of the certificate"
	validationUpdate   = "validation data"
)

func attacks() []attack {
	return slices.Concat(forgeries, wrappings, messageForgeries, falseProofs, documentChanges, formChanges, pageChanges,
		fieldChanges, structureChanges, shadowAttacks, updatesOfLTA, looseUpdatesOfLTA, ambiguousLTA)
}

// Each victim passes before it is changed, and the report on the changed document has the verdict of the row.
func TestAttacks(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, a := range attacks() {
		for _, permission := range a.victim.permissions() {
			t.Run(fmt.Sprintf("%s/%s/P %d", a.family, a.name, permission), func(t *testing.T) {
				report, err := f.in(t, permission).verify(f.in(t, permission).build(a))
				if diff := gocmp.Diff(a.wanted(permission), verdictOf(report, err)); diff != "" {
					t.Errorf("verdict (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// wanted is the verdict on a victim with a certification. Without a certification, a signature permits what P 2
// permits.
func (a attack) wanted(p pades.Permission) string {
	all := strings.Split(a.want, " | ")
	if len(all) != 1 && len(all) != 3 {
		panic(a.name + ": not one verdict and not three")
	}
	if p == 0 {
		p = pades.FormFilling
	}
	return all[min(int(p), len(all))-1]
}

// verdictOf is a report in short. It begins with "passes" if the whole document passes. Of each signature it has the
// indication, where that is not TOTAL_PASSED or INDETERMINATE TRY_LATER, which is how a signature of level B or T
// passes without revocation data; then the kinds of changes that it does not permit (reports) and permits (lists).
func verdictOf(report *ades.Report, err error) string {
	switch {
	case errors.Is(err, ades.ErrUnreadable), errors.Is(err, pades.ErrEncrypted):
		return "unreadable"
	case err != nil:
		return err.Error()
	case len(report.Signatures) == 0:
		return "no signature"
	}
	var all []string
	for _, s := range report.Signatures {
		all = append(all, signatureVerdict(s))
	}
	if report.Passed() {
		return "passes: " + strings.Join(all, "; ")
	}
	return strings.Join(all, "; ")
}

func signatureVerdict(s ades.SignatureReport) string {
	var parts []string
	add := func(applies bool, format string, args ...any) {
		if applies {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	forbidden, permitted := kindsOf(s.Changes, false), kindsOf(s.Changes, true)
	level := strings.TrimPrefix(s.Format, "PAdES-BASELINE-")
	passed := s.Indication == ades.TotalPassed
	tryLater := s.SubIndication == ades.TryLater
	add(passed, "%s TOTAL_PASSED", level)
	add(!passed && !tryLater, "%s %s", s.Indication, s.SubIndication)
	add(tryLater && level != "B", "%s", level)
	add(s.Intact && forbidden != "", "reports %s", forbidden)
	add(s.Intact && permitted != "", "lists %s", permitted)
	add(len(s.Changes) == 0 && s.Passed() && s.Coverage != ades.WholeDocument && !s.Extended, "unsigned bytes follow")
	for _, t := range s.Timestamps {
		add(!t.Trusted && len(t.Problems) > 0, "a timestamp refused")
	}
	trusted := slices.ContainsFunc(s.Timestamps, func(t ades.TimestampReport) bool { return t.Trusted })
	add(!trusted && !s.BestTime.IsZero(), "a time without a trusted timestamp")
	return cmp.Or(strings.Join(parts, ", "), level)
}

// kindsOf are the kinds of the changes that are permitted, or of those that are not, each once, in alphabetical order.
func kindsOf(changes []ades.Change, permitted bool) string {
	kinds := make(map[string]bool)
	for _, c := range changes {
		if c.Permitted == permitted {
			kinds[string(c.Kind)] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(kinds)), ", ")
}

// The report lists a change and its reversal, each with its revision.
func TestChangeAndReversal(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	changed := f.apply(replaceObject(content, otherContent), f.document(formDocument))
	reverted := f.apply(replaceObject(content, stream("", "0 0 m 10 10 l S")), changed)
	report, err := f.verify(reverted)
	if err != nil {
		t.Fatal(err)
	}
	var revisions []int
	for _, c := range report.Signatures[0].Forbidden() {
		revisions = append(revisions, c.Revision)
	}
	if !slices.Equal(revisions, []int{3, 4}) {
		t.Errorf("changes in the revisions %v, want 3 and 4", revisions)
	}
}

// A change between two signatures is forbidden by the first and is no change to the second.
func TestChangeBetweenTwoSignatures(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	changed := f.apply(replaceObject(content, otherContent), f.document(formDocument))
	report, err := f.verify(sign(t, changed, f.signer, pades.Options{}))
	if got, want := verdictOf(report, err), "reports PAGE_CONTENT, lists SIGNATURE; B"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A field that a signature locks must not change, whatever the certification permits (ISO 32000-2 12.8.2.4).
func TestChangesOfLockedFields(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	fill := map[string]edit{"Text": setKey(textField, "V", "(new)"), "Check": fillCheckBox, "Empty": signEmptyField}
	for lock, want := range map[string][]string{
		"/Action /All":                               {"Check", "Empty", "Text"},
		"/Action /Include /Fields [(Text)]":          {"Text"},
		"/Action /Exclude /Fields [(Text) (Check)]":  {"Empty"},
		"/Action /Include /Fields [] /P 1":           {"Check", "Empty", "Text"},
		"/Action /Include /Fields [(Te) (Check.x)]":  nil,
		"/Action /Include /Fields [(Empty)] /P 2":    {"Empty"},
		"/Action /Exclude /Fields [(Text)] /P 3":     {"Check", "Empty"},
		"/Action /Include /Fields [(Check) (Empty)]": {"Check", "Empty"},
	} {
		t.Run(lock, func(t *testing.T) {
			f := f.in(t, 0)
			field := "<< /FT /Sig /T (Locking) /Lock << /Type /SigFieldLock " + lock + " >> >>"
			signed := sign(t, f.apply(appendItem(theForm, "Fields", field), changeable()), f.signer, pades.Options{Field: "Locking"})
			var got []string
			for _, name := range slices.Sorted(maps.Keys(fill)) {
				report, err := f.verify(f.apply(fill[name], signed))
				if err != nil {
					t.Fatal(err)
				}
				s := slices.MaxFunc(report.Signatures, func(a, b ades.SignatureReport) int { return cmp.Compare(a.CoveredBytes, b.CoveredBytes) })
				if len(s.Changes) == 0 || s.Changes[0].Field != name {
					t.Errorf("changes of %s: %+v", name, s.Changes)
				}
				if len(s.Forbidden()) > 0 {
					got = append(got, name)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("locked fields %q, want %q", got, want)
			}
		})
	}
}

// The signed revision has a cross-reference stream whose Filter is an object that a later revision adds. Without the
// filter, its payload has the entries of the signed content; decoded, it has those of another content.
func TestFilterOfASectionAddedLater(t *testing.T) {
	f := newFixture(t)
	section := 0
	signed := forgery{
		objects: []string{"null\nendobj\n3 0 obj\n" + otherContent},
		built: func(b []byte) []byte {
			b, _, _ = bytes.Cut(b, []byte("xref\n"))
			section = len(b)
			return append(b, ambiguousSection(b)...)
		},
	}.victim().build(f)
	filter := len(signed)
	added := fmt.Appendf(signed, "900 0 obj\n/FlateDecode\nendobj\nxref\n900 1\n%010d 00000 n \ntrailer\n<< /Size 901 /Root 1 0 R /Prev %d >>\n", filter, section)
	table := bytes.LastIndex(added, []byte("\nxref\n")) + 1
	added = fmt.Appendf(added, "startxref\n%d\n%%%%EOF\n", table)
	const indirect, direct = "/Filter 900 0 R", "/Filter/Fl     "
	extended := signFor(t, bytes.Replace(added, []byte(indirect), []byte(direct), 1), f.signer, ades.T)
	revisions, err := pades.Extender{Sources: f.ca.Sources(nil)}.ExtendLast(t.Context(), document(extended), ades.LTA)
	if err != nil {
		t.Fatal(err)
	}
	extended = bytes.Replace(appendAll(t, extended, revisions), []byte(direct), []byte(indirect), 1)
	for name, b := range map[string][]byte{"filter": added, "filter, and a signature with validation data": extended} {
		report, err := f.verify(b)
		if err != nil {
			t.Fatal(name, err)
		}
		if got := signatureVerdict(report.Signatures[0]); got != formatFailure {
			t.Errorf("%s: got %q, want %q", name, got, formatFailure)
		}
	}
}

// ambiguousSection returns a cross-reference stream and the end of a file with objects. The first row of its payload is
// the head of uncompressed deflated data, and the others have two entries for each object. Index names each object
// twice, so that the first entry counts in the payload as it is, and the second one in the decoded payload. They differ
// for an object that is in the file twice.
func ambiguousSection(objects []byte) []byte {
	places := make(map[int][]int)
	for _, head := range regexp.MustCompile(`(?m)^(\d+) 0 obj$`).FindAllSubmatchIndex(objects, -1) {
		num, _ := strconv.Atoi(string(objects[head[2]:head[3]]))
		places[num] = append(places[num], head[0])
	}
	index, rows := "0 1", []byte(nil)
	for _, num := range slices.Sorted(maps.Keys(places)) {
		index += fmt.Sprintf(" %d 1 %[1]d 1", num)
		for _, at := range []int{places[num][0], places[num][len(places[num])-1]} {
			rows = append(binary.BigEndian.AppendUint32(append(rows, 1), uint32(at)), 0, 0)
		}
	}
	rows = append(rows, make([]byte, 7)...)
	payload := binary.LittleEndian.AppendUint16([]byte{0x78, 0x01, 0x01}, uint16(len(rows)))
	payload = append(binary.LittleEndian.AppendUint16(payload, ^uint16(len(rows))), rows...)
	payload = binary.BigEndian.AppendUint32(payload, adler32.Checksum(rows))
	return fmt.Appendf(nil, "899 0 obj\n<< /Type /XRef /Size 901 /W [1 4 2] /Index [%s] /Root 1 0 R /Filter 900 0 R /Length %d >>\nstream\n%s\nendstream\nendobj\n"+
		"startxref\n%d\n%%%%EOF\n", index, len(payload), payload, len(objects))
}
