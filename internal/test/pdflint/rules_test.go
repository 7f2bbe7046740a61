package pdflint_test

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/internal/test/pdflint"
)

// TestRules signs the file of each row and spoils the increment. CheckAt has to find no fault before, and has to find
// the fault of the row afterwards. Every rule needs a row.
func TestRules(t *testing.T) {
	s := newSigner(t)
	untested := everyRule(t)
	delete(untested, pdflint.Store) // see TestStore
	for _, test := range ruleTests {
		delete(untested, test.rule)
		t.Run(string(test.rule)+"/"+test.text+"/"+test.file.name, func(t *testing.T) {
			base := test.file.base(t, s)
			i := &increment{t, base, s.sign(t, base, test.file.options)}
			if faults := pdflint.CheckAt(test.file.place(), i.base, i.whole); len(faults) > 0 {
				t.Errorf("faults of the increment before it is spoilt: %v", faults)
			}
			test.spoil(i)
			checkFault(t, pdflint.CheckAt(test.file.place(), i.base, i.whole), test.rule, test.text)
		})
	}
	for rule := range untested {
		t.Errorf("no row for the rule %q", rule)
	}
}

// checkFault fails the test unless faults has one of the rule whose text contains text.
func checkFault(t *testing.T, faults []pdflint.Fault, rule pdflint.Rule, text string) {
	t.Helper()
	if !slices.ContainsFunc(faults, func(f pdflint.Fault) bool { return f.Rule == rule && strings.Contains(f.Text, text) }) {
		t.Errorf("got faults %v, want one of %q with %q", faults, rule, text)
	}
}

// everyRule returns the rules that pdflint.go declares.
func everyRule(t *testing.T) map[pdflint.Rule]bool {
	t.Helper()
	source, err := os.ReadFile("pdflint.go")
	if err != nil {
		t.Fatal(err)
	}
	rules := make(map[pdflint.Rule]bool)
	for _, m := range regexp.MustCompile(`\sRule\s+= "([^"]+)"`).FindAllSubmatch(source, -1) {
		rules[pdflint.Rule(m[1])] = true
	}
	if len(rules) < 20 {
		t.Fatalf("%d rules found", len(rules))
	}
	return rules
}

// ruleTest is an increment that breaks a rule.
type ruleTest struct {
	rule  pdflint.Rule
	text  string // part of the text of the fault
	file  fixture
	spoil func(*increment)
}

// Patterns of white space in the files, in which a row puts other entries.
const inCatalog, inPage, inForm = `/Lang \(en\) {61}`, `/Rotate 90 {61}`, `/NeedAppearances false {61}`

var ruleTests = []ruleTest{
	// How the increment is written.
	{pdflint.Prefix, "does not begin", objects, func(i *increment) { i.whole[20] ^= 1 }},
	{pdflint.LineEnd, "between the file", noEnd, func(i *increment) { i.whole[len(i.base)] = ' ' }},
	{pdflint.Readable, "the original file", objects, both("startxref\n6", "startxref\n9")},
	{pdflint.Readable, "pdf: opening", objects, swap(`/Size \d+`, "/Size 0")},
	{pdflint.Startxref, "names no section", objects, func(i *increment) {
		i.replace(`startxref\n\d+`, fmt.Sprintf("startxref\n%d", i.number(`startxref\n(\d+)`)+1))
	}},
	{pdflint.Startxref, "does not end with", objects, replace(`%%EOF\n$`, "")},
	{pdflint.Startxref, "not a dictionary", objects, swap(`trailer\n<<`, "trailer\n[[")},
	{pdflint.Startxref, "no cross-reference stream", stream, swap(`endobj\nstartxref`, "endobx\nstartxref")},
	{pdflint.SectionKind, "is a stream: false", objects, (*increment).moveAfterStream},
	{pdflint.EntrySize, "entry of object", objects, replace(`n \ntrailer`, "n\ntrailer")},
	{pdflint.EntrySize, "between entries and trailer", objects, replace(`trailer\n`, "more\ntrailer\n")},
	{pdflint.EntrySize, "W [2", stream, swap(`/W \[1`, "/W [2")},
	{pdflint.EntrySize, "ends before object 906", stream, swap(`902 4\]`, "902 5]")},
	{pdflint.EntrySize, "after the last entry", stream, swap(`902 4\]`, "902 3]")},
	{pdflint.Offset, "entry of 100 0 R names", objects, func(i *increment) {
		i.swap(`\n100 1\n\d{10}`, fmt.Sprintf("\n100 1\n%010d", i.number(`\n100 1\n0*(\d+)`)+1))
	}},
	{pdflint.Offset, "was not written", objects, func(i *increment) {
		i.swap(`\n102 4\n(?s).{20}`, fmt.Sprintf("\n102 4\n%010d 00000 n \n", bytes.Index(i.base, []byte("102 0 obj"))))
	}},
	{pdflint.Offset, "5 is not the offset of 102 0 R", objects, swap(`\n102 4\n\d{10}`, "\n102 4\n0000000005")},
	{pdflint.Offset, "listed twice", objects, replace(`trailer\n`, "100 1\n0000000005 00000 n \ntrailer\n")},
	{pdflint.Offset, "does not list itself", stream, func(i *increment) { i.row(true)[0] = 0 }},
	{pdflint.Unlisted, "is not one object", objects, func(i *increment) {
		i.swap(`\n102 4\n`, "\n102 3\n")
		i.replace(`\d{10} 00000 n \ntrailer`, "trailer")
	}},
	{pdflint.Unlisted, "no object of the increment", objects, replace(`(?s)xref\n100 1\n.*trailer\n`, "xref\n0 0\ntrailer\n")},
	{pdflint.Unlisted, "before the first object", objects, replace(`(?s)100 1\n.{20}102 4`, "102 4")},
	{pdflint.Unlisted, "100 0 R is followed by", objects, swap(`endobj\n102 0 obj`, "endobx\n102 0 obj")},
	{pdflint.Generation, "100 1 R was 100 0 R", objects, func(i *increment) {
		i.swap(`^100 0 obj`, "100 1 obj")
		i.swap(`\n100 1\n\d{10} 00000`, fmt.Sprintf("\n100 1\n%010d 00001", i.number(`\n100 1\n0*(\d+)`)))
	}},
	{pdflint.Generation, "105 1 R is new", objects, func(i *increment) {
		i.swap(`\n105 0 obj`, "\n105 1 obj")
		i.swap(`/N 105 0 R`, "/N 105 1 R")
		i.swap(`00000 n \ntrailer`, "00001 n \ntrailer")
	}},
	{pdflint.Generation, "100 1 R was 100 0 R", stream, func(i *increment) {
		i.swap(`^100 0 obj`, "100 1 obj")
		row := i.row(false)
		row[len(row)-1] = 1
	}},
	{pdflint.ObjectFlow, "of object stream", stream, func(i *increment) { i.row(false)[0] = 2 }},
	{pdflint.ObjectFlow, "with type 3", stream, func(i *increment) { i.row(false)[0] = 3 }},
	{pdflint.ObjectFlow, "is an object stream", objects, swap(`/Type /XObject`, "/Type /ObjStm")},
	{pdflint.Prev, "instead of", objects, swap(`/Prev \d+`, "/Prev 15")},
	{pdflint.Prev, "names no section", objects, swap(`/Prev \d+`, "/Prev 15")},
	{pdflint.Prev, "missing", objects, swap(`/Prev \d+`, "")},
	{pdflint.Everything, "is gone", objects, swap(`/Prev \d+`, "")},
	{pdflint.Size, "where the highest", objects, swap(`/Size \d+`, "/Size 999")},
	{pdflint.Size, "and it was", objects, swap(`/Size \d+`, "/Size 50")},
	{pdflint.Leftovers, "XRefStm", objects, swap(`/Info 101 0 R`, "/XRefStm 1")},
	{pdflint.Leftovers, "W in the trailer", objects, swap(`/Info 101 0 R`, "/W [1 2 2]")},
	{pdflint.Leftovers, "Filter in a stream", stream, swap(`/Info 101 0 R`, "/Filter []")},
	{pdflint.Carried, "Info is <nil>", objects, swap(`/Info 101 0 R`, "")},
	{pdflint.Carried, "Info is 100 0 R", stream, swap(`/Info 101 0 R`, "/Info 100 0 R")},
	{pdflint.ID, "<nil>", objects, swap(`/ID \[.*\]`, "")},
	{pdflint.ID, "first part has changed", objects, swap(`<00112233`, "<99112233")},
	{pdflint.ID, "second part is not new", objects, swap(`eeff> <[0-9a-f]+>`, "eeff> <00112233445566778899aabbccddeeff>")},
	{pdflint.ID, "that had none", noID, replace(`/Prev`, "/ID [(a) (b)] /Prev")},
	{pdflint.ByteRange, "it ends at", objects, func(i *increment) {
		i.swap(`\d+\] *\S*/Contents`, fmt.Sprintf("%d]/Contents", i.number(`(\d+)\] */Contents`)-1))
	}},
	{pdflint.ByteRange, "not in the dictionary", objects, swap(`ByteRange \[0 \d{4}`, "ByteRange [0 0001")},
	{pdflint.ByteRange, "and its delimiters", objects, func(i *increment) {
		i.swap(`ByteRange \[0 \d+`, fmt.Sprintf("ByteRange [0 %d", i.number(`ByteRange \[0 (\d+)`)-1))
	}},
	{pdflint.ByteRange, "not the value of Contents", objects, swap(`/Contents <`, "/Contentz <")},
	{pdflint.ByteRange, "not one signature", objects, swap(`/ByteRange`, "/ByteRangs")},
	{pdflint.Contents, "invalid byte", objects, swap(`/Contents <30`, "/Contents <zz")},
	{pdflint.Contents, "no CMS", objects, swap(`/Contents <3082....`, "/Contents <30829999")},
	{pdflint.Contents, "not all zero", objects, swap(`0> /M`, "1> /M")},
	{pdflint.Comment, `" 7 0 obj"`, objects, swap(inForm, "/NeedAppearances false % 7 0 obj\n")},
	{pdflint.Comment, `\x00`, objects, swap(inForm, "/NeedAppearances false % \x00\n")},
	{pdflint.PayloadSize, "cross-reference stream", stream, swap(`/Length [1-9]\d*`, "/Length 7")},
	{pdflint.PayloadSize, "105 0 R has 0 bytes", objects, swap(`/Length 0`, "/Length 1")},
	{pdflint.Plaintext, "D:2026", aes, swap(`/M <[0-9A-Fa-f]{50,}>`, "/M (D:20261121145000+00'00')")},
	{pdflint.Payload, "decrypted is", aes, payload(strings.Repeat(" ", 32))},
	{pdflint.Payload, "no vector and blocks", aes, func(i *increment) {
		i.payload(strings.Repeat(" ", 31) + "\n")
		i.swap(`/Length 32 >>\nstream\n {31}\n\nendstream`, "/Length 31  >>\nstream\n"+strings.Repeat(" ", 31)+"\nendstream")
	}},
	{pdflint.Payload, "pdf: object", aes, swap(`/Resources << >>`, "/Resources << <<")},
	{pdflint.Payload, "q /Page Do Q", rc4File, payload("q /Page Do Q")},

	// What the increment says.
	{pdflint.Rewritten, "101 0 R", objects, func(i *increment) {
		i.swap(`^100 0 obj`, "101 0 obj")
		i.swap(`\n100 1\n`, "\n101 1\n")
	}},
	{pdflint.Rewritten, "freed", objects, swap(`\n100 1\n\d{10} 00000 n`, "\n100 1\n0000000000 00001 f")},
	{pdflint.Kept, "/DR: was changed", objects, swap(`/DR << >>`, "")},
	{pdflint.Kept, "/DA: was changed", objects, swap(`/Helv 0 Tf`, "/Helv 9 Tf")},
	{pdflint.Kept, "/NeedAppearances: was changed", objects, swap(`/NeedAppearances false`, "/NeedAppearances true")},
	{pdflint.Kept, "/XFA: was added", objects, swap(inForm, "/NeedAppearances false /XFA (x)")},
	{pdflint.Kept, "/Fields: did not only grow", objects, swap(`/Fields \[101 0 R`, "/Fields [")},
	{pdflint.Kept, "102 0 R: did not only grow", objects, swap(`\n\[101 0 R`, "\n[")},
	{pdflint.Kept, "100 0 R cannot be read", objects, swap(`/Helv 0 Tf\)`, "/Helv 0 Tf")},
	{pdflint.Kept, "pdf.Dict became pdf.Array", objects, swap(`(?s)^100 0 obj\n.*SigFlags 3>>`, "100 0 obj\n[]")},
	{pdflint.Kept, "/Version: was added", inline, swap(inCatalog, "/Lang (en) /Version /2.0")},
	{pdflint.Kept, "was direct", inline, swap(`/Fields \[101 0 R \d+ 0 R\]`, "/Fields 102 0 R")},
	{pdflint.Kept, "/Annots: is no array of its own", onShared, swap(`/Annots \d+ 0 R`, "/Annots 101 0 R")},
	{pdflint.Kept, "/Annots: did not only grow", onShared, swap(`\n\[101 0 R`, "\n[")},
	{pdflint.Kept, "was an object of its own", certified, swap(`/AcroForm 100 0 R`, "/AcroForm << >>")},
	{pdflint.Kept, "/Rotate: was changed", inline, swap(inPage, "")},
	{pdflint.Kept, "10 0 R: /Rotate: was changed", pageAndForm, swap(`/Rotate 90`, "")},
	{pdflint.Kept, "/V: was changed", aField, both("(Buyer) ", "(B) /V 1")},
	{pdflint.Kept, "the catalog cannot be read", inline, swap(`/Type /Catalog`, "/Type (Catalog")},
	{pdflint.SigFlags, "1", objects, swap(`/SigFlags 3`, "/SigFlags 1")},
	{pdflint.Value, "of no one field", objects, swap(`/V 103 0 R`, "")},
	{pdflint.Value, "of no one field", aField, func(i *increment) { i.swap(`50\] {61}`, fmt.Sprintf("50] /V %d 0 R", i.number(`/V (\d+)`))) }},
	{pdflint.Value, "of 101 0 R", aField, func(i *increment) {
		value := fmt.Sprintf("/V %d 0 R", i.number(`/V (\d+)`))
		i.swap(value, "")
		i.swap(`50\] {61}`, "50] "+value)
	}},
	{pdflint.Value, "no signature field", objects, swap(`/FT /Sig`, "/FT /Tx")},
	{pdflint.FieldName, `"Signature."`, objects, swap(`/T \(Signature1\)`, "/T (Signature.)")},
	{pdflint.FieldName, "2 fields are called", objects, swap(`/T \(Signature1\)`, "/T (Name)")},
	{pdflint.AltName, "", objects, swap(`/TU \([^)]*\)`, "")},
	{pdflint.Annots, "names the page <nil>", objects, swap(`/P 10 0 R`, "")},
	{pdflint.Annots, "and before [101 0 R]", objects, swap(`\n\[101 0 R 104 0 R\]`, "\n[101 0 R]")},
	{pdflint.Annots, "and before [101 0 R]", inline, swap(`/Annots \[101 0 R 104 0 R\]`, "/Annots [101 0 R 101 0 R]")},
	{pdflint.Annots, "and before [101 0 R]", onShared, swap(`/Annots \d+ 0 R`, "/Annots 100 0 R")},
	{pdflint.Annots, "no page 1", inline, swap(`/Rotate 90 `, "/Rotate (90")},
	{pdflint.Annots, "and page 2 is 11 0 R", onSecond, swap(`/P 11 0 R`, "/P 10 0 R")},
	{pdflint.Rect, "instead of [0 0 0 0]", objects, swap(`\[0 0 0 0\] /AP`, "[0 0 9 9] /AP")},
	{pdflint.Rect, "instead of [100 700 217 755]", onSecond, swap(`\[100 700 217 755\]`, "[100 700 218 755]")},
	{pdflint.Rect, "instead of [100 700 217 755]", onTurned, swap(`\[100 700 217 755\]`, "[0 0 0 0]")},
	{pdflint.WidgetFlags, "128", objects, swap(`/F 132`, "/F 128")},
	{pdflint.WidgetFlags, "134", objects, swap(`/F 132`, "/F 134")},
	{pdflint.WidgetFlags, "148", objects, swap(`/F 132`, "/F 148")},
	{pdflint.WidgetFlags, "0 for 101 0 R", aField, swap(`/F 4`, "")},
	{pdflint.Appearance, "of 104 0 R: <nil>", objects, swap(`/AP << /N 105 0 R >>`, "")},
	{pdflint.Appearance, "map[D:", objects, swap(`/Rect \[0 0 0 0\] /AP << /N 105 0 R >>`, "/AP << /N 105 0 R /D 105 0 R >>")},
	{pdflint.Appearance, "is 103 0 R", objects, swap(`/N 105 0 R`, "/N 103 0 R")},
	{pdflint.Appearance, "is map[On:", aField, swap(`/D 102 0 R`, "")},
	{pdflint.Appearance, "of 101 0 R", aField, swap(`/On 102 0 R`, "/On 101 0 R")},
	{pdflint.Appearance, "nothing is drawn", onSecond, swap(`(?s)/Length 12 >>\nstream\nq /Page Do Q\nendstream`, "/Length 0 >>\nstream\n\nendstream")},
	{pdflint.Appearance, "on a page turned by 90", onTurned, swap(`/BBox \[0 0 55 117\]`, "/BBox [0 0 117 55]")},
	{pdflint.Appearance, "of 13 0 R: <nil>", onSecond, swap(`/AP << /N \d+ 0 R >>`, "")},
	{pdflint.Extensions, "not direct", inline, swap(`/ESIC << [^>]*>>`, "/ESIC 100 0 R")},
	{pdflint.Extensions, "version 1.4", inline, func(i *increment) { i.base[7], i.whole[7] = '4', '4' }},
	{pdflint.SubFilter, "SubFilter is adbe", objects, swap(`/ETSI.CAdES.detached`, "/adbe.pkcs7.detached")},
	{pdflint.SubFilter, "Type is <nil>", objects, swap(`/Type /Sig`, "")},
	{pdflint.Certification, "the catalog names <nil>", certified, swap(`/Perms<< /DocMDP 103 0 R >>`, "")},
	{pdflint.Certification, "the catalog names 101 0 R", certified, swap(`/DocMDP 103 0 R`, "/DocMDP 101 0 R")},
	{pdflint.Certification, "does not certify", certified, swap(`/TransformMethod /DocMDP`, "/TransformMethod /UR3")},
	{pdflint.Certification, "permits 4", certified, swap(`/P 2`, "/P 4")},
	{pdflint.Certification, "is not the first", afterApproval, func(i *increment) {
		i.swap(inCatalog, fmt.Sprintf("/Lang (en) /Perms << /DocMDP %d 0 R >>", i.number(`/V (\d+)`)))
		i.swap(`/Reason \(r+\)`, "/Reference [<< /TransformMethod /DocMDP /TransformParams << /P 2 >> >>]")
	}},
	{pdflint.Locks, "permits no changes", afterCertified, both("/P 2", "/P 1")},
	{pdflint.Locks, "permits no changes", afterLock, both("/P 2", "/P 1")},
	{pdflint.Locks, `locks "Signature1"`, afterLock, both("(Signatures)", "(Signature1)")},
	{pdflint.Locks, `locks "Signature1"`, afterLock, both("/Include /Fields [(Signatures)]", "/All     /Fields [(Signatures)]")},
	{pdflint.Locks, "Action:Exclude", afterLock, both("/Include /Fields [(Signatures)]", "/Exclude /Fields [(Signature1)]")},
	{pdflint.Locks, "cannot be read", afterLock, both("/Include", "(nclude)")},
	{pdflint.Tagged, "Tabs: <nil>", tagged, swap(`/Tabs/S`, "")},
	{pdflint.Tagged, "Tabs: <nil>", artifact, swap(`/Tabs/S`, "")},
	{pdflint.Tagged, "to be tagged: true, StructParent: <nil>", tagged, swap(`/StructParent 1`, "")},
	{pdflint.Tagged, "to be tagged: true, StructParent: <nil>", visibleArtifact, swap(`/StructParent 1`, "")},
	{pdflint.Tagged, "to be tagged: false, StructParent: 9", artifact, swap(`/TU \([^)]*\)`, "/StructParent 9")},
	{pdflint.Tagged, "to be tagged: false, StructParent: 9", afterTagged, swap(`/TU \([^)]*\)`, "/StructParent 9")},
	{pdflint.Tagged, "the parent tree has []", tagged, swap(`\]1 28 0 R`, "]")},
	{pdflint.Tagged, "the next key is 1", tagged, swap(`/ParentTreeNextKey 2`, "/ParentTreeNextKey 1")},
	{pdflint.Tagged, "the element of", tagged, swap(`/S /Form`, "/S /Fig")},
	{pdflint.Tagged, "the element of", tagged, swap(`/Obj 25 0 R`, "/Obj 24 0 R")},
	{pdflint.Tagged, "has the kids", tagged, swap(`\[22 0 R 28 0 R\]`, "[22 0 R]")},
}
