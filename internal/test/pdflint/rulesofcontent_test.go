package pdflint_test

import (
	"fmt"

	"github.com/innsigli/innsigli/internal/test/pdflint"
)

// rulesOfContent are about what an increment says.
var rulesOfContent = []row{
	{pdflint.Rewritten, "101 0 R", objects, func(i *increment) {
		i.swap(`^100 0 obj`, "101 0 obj")
		i.swap(`\n100 1\n`, "\n101 1\n")
	}},
	{pdflint.Rewritten, "freed", objects, func(i *increment) {
		i.swap(`\n100 1\n\d{10} 00000 n`, "\n100 1\n0000000000 00001 f")
	}},
	{pdflint.Kept, "/DR: was changed", objects, func(i *increment) { i.swap(`/DR << >>`, "") }},
	{pdflint.Kept, "/DA: was changed", objects, func(i *increment) { i.swap(`/Helv 0 Tf`, "/Helv 9 Tf") }},
	{pdflint.Kept, "/NeedAppearances: was changed", objects, func(i *increment) { i.swap(`/NeedAppearances false`, "/NeedAppearances true") }},
	{pdflint.Kept, "/XFA: was added", objects, func(i *increment) { i.swap(acroForm, "/NeedAppearances false /XFA (x)") }},
	{pdflint.Kept, "/Fields: did not only grow", objects, func(i *increment) { i.swap(`/Fields \[101 0 R`, "/Fields [") }},
	{pdflint.Kept, "102 0 R: did not only grow", objects, func(i *increment) { i.swap(`\n\[101 0 R`, "\n[") }},
	{pdflint.Kept, "100 0 R cannot be read", objects, func(i *increment) { i.swap(`/Helv 0 Tf\)`, "/Helv 0 Tf") }},
	{pdflint.Kept, "pdf.Dict became pdf.Array", objects, func(i *increment) { i.swap(`(?s)^100 0 obj\n.*SigFlags 3>>`, "100 0 obj\n[]") }},
	{pdflint.Kept, "/Version: was added", inline, func(i *increment) { i.swap(catalog, "/Lang (en) /Version /2.0") }},
	{pdflint.Kept, "was direct", inline, func(i *increment) { i.swap(`/Fields \[101 0 R \d+ 0 R\]`, "/Fields 102 0 R") }},
	{pdflint.Kept, "/Annots: is no array of its own", onShared, func(i *increment) { i.swap(`/Annots \d+ 0 R`, "/Annots 101 0 R") }},
	{pdflint.Kept, "/Annots: did not only grow", onShared, func(i *increment) { i.swap(`\n\[101 0 R`, "\n[") }},
	{pdflint.Kept, "was an object of its own", certified, func(i *increment) { i.swap(`/AcroForm 100 0 R`, "/AcroForm << >>") }},
	{pdflint.Kept, "/Rotate: was changed", inline, func(i *increment) { i.swap(page, "") }},
	{pdflint.Kept, "10 0 R: /Rotate: was changed", twoParts, func(i *increment) { i.swap(`/Rotate 90`, "") }},
	{pdflint.Kept, "/V: was changed", aField, func(i *increment) { i.both("(Buyer) ", "(B) /V 1") }},
	{pdflint.Kept, "the catalog cannot be read", inline, func(i *increment) { i.swap(`/Type /Catalog`, "/Type (Catalog") }},
	{pdflint.SigFlags, "1", objects, func(i *increment) { i.swap(`/SigFlags 3`, "/SigFlags 1") }},
	{pdflint.Value, "of no one field", objects, func(i *increment) { i.swap(`/V 103 0 R`, "") }},
	{pdflint.Value, "of no one field", aField, func(i *increment) { i.swap(`50\] {61}`, fmt.Sprintf("50] /V %d 0 R", i.number(`/V (\d+)`))) }},
	{pdflint.Value, "of 101 0 R", aField, func(i *increment) {
		value := fmt.Sprintf("/V %d 0 R", i.number(`/V (\d+)`))
		i.swap(value, "")
		i.swap(`50\] {61}`, "50] "+value)
	}},
	{pdflint.Value, "no signature field", objects, func(i *increment) { i.swap(`/FT /Sig`, "/FT /Tx") }},
	{pdflint.FieldName, `"Signature."`, objects, func(i *increment) { i.swap(`/T \(Signature1\)`, "/T (Signature.)") }},
	{pdflint.FieldName, "2 fields are called", objects, func(i *increment) { i.swap(`/T \(Signature1\)`, "/T (Name)") }},
	{pdflint.AltName, "", objects, func(i *increment) { i.swap(`/TU \([^)]*\)`, "") }},
	{pdflint.Annots, "says that it is on <nil>", objects, func(i *increment) { i.swap(`/P 10 0 R`, "") }},
	{pdflint.Annots, "and were [101 0 R]", objects, func(i *increment) { i.swap(`\n\[101 0 R 104 0 R\]`, "\n[101 0 R]") }},
	{pdflint.Annots, "and were [101 0 R]", inline, func(i *increment) { i.swap(`/Annots \[101 0 R 104 0 R\]`, "/Annots [101 0 R 101 0 R]") }},
	{pdflint.Annots, "and were [101 0 R]", onShared, func(i *increment) { i.swap(`/Annots \d+ 0 R`, "/Annots 100 0 R") }},
	{pdflint.Annots, "no page 1", inline, func(i *increment) { i.swap(`/Rotate 90 `, "/Rotate (90") }},
	{pdflint.Annots, "and page 2 is 11 0 R", onSecond, func(i *increment) { i.swap(`/P 11 0 R`, "/P 10 0 R") }},
	{pdflint.Rect, "was to be [0 0 0 0]", objects, func(i *increment) { i.swap(`\[0 0 0 0\] /AP`, "[0 0 9 9] /AP") }},
	{pdflint.Rect, "was to be [100 700 217 755]", onSecond, func(i *increment) { i.swap(`\[100 700 217 755\]`, "[100 700 218 755]") }},
	{pdflint.Rect, "was to be [100 700 217 755]", onTurned, func(i *increment) { i.swap(`\[100 700 217 755\]`, "[0 0 0 0]") }},
	{pdflint.WidgetFlags, "128", objects, func(i *increment) { i.swap(`/F 132`, "/F 128") }},
	{pdflint.WidgetFlags, "134", objects, func(i *increment) { i.swap(`/F 132`, "/F 134") }},
	{pdflint.WidgetFlags, "148", objects, func(i *increment) { i.swap(`/F 132`, "/F 148") }},
	{pdflint.WidgetFlags, "0 for 101 0 R", aField, func(i *increment) { i.swap(`/F 4`, "") }},
	{pdflint.Appearance, "of 104 0 R: <nil>", objects, func(i *increment) { i.swap(`/AP << /N 105 0 R >>`, "") }},
	{pdflint.Appearance, "map[D:", objects, func(i *increment) {
		i.swap(`/Rect \[0 0 0 0\] /AP << /N 105 0 R >>`, "/AP << /N 105 0 R /D 105 0 R >>")
	}},
	{pdflint.Appearance, "is 103 0 R", objects, func(i *increment) { i.swap(`/N 105 0 R`, "/N 103 0 R") }},
	{pdflint.Appearance, "is map[On:", aField, func(i *increment) { i.swap(`/D 102 0 R`, "") }},
	{pdflint.Appearance, "of 101 0 R", aField, func(i *increment) { i.swap(`/On 102 0 R`, "/On 101 0 R") }},
	{pdflint.Appearance, "nothing is drawn", onSecond, func(i *increment) {
		i.swap(`(?s)/Length 12 >>\nstream\nq /Page Do Q\nendstream`, "/Length 0 >>\nstream\n\nendstream")
	}},
	{pdflint.Appearance, "on a page turned by 90", onTurned, func(i *increment) { i.swap(`/BBox \[0 0 55 117\]`, "/BBox [0 0 117 55]") }},
	{pdflint.Appearance, "of 13 0 R: <nil>", onSecond, func(i *increment) { i.swap(`/AP << /N \d+ 0 R >>`, "") }},
	{pdflint.Extensions, "not direct", inline, func(i *increment) { i.swap(`/ESIC << [^>]*>>`, "/ESIC 100 0 R") }},
	{pdflint.Extensions, "version 1.4", inline, func(i *increment) { i.base[7], i.whole[7] = '4', '4' }},
	{pdflint.SubFilter, "SubFilter is adbe", objects, func(i *increment) { i.swap(`/ETSI.CAdES.detached`, "/adbe.pkcs7.detached") }},
	{pdflint.SubFilter, "Type is <nil>", objects, func(i *increment) { i.swap(`/Type /Sig`, "") }},
	{pdflint.Certification, "the catalog names <nil>", certified, func(i *increment) { i.swap(`/Perms<< /DocMDP 103 0 R >>`, "") }},
	{pdflint.Certification, "the catalog names 101 0 R", certified, func(i *increment) { i.swap(`/DocMDP 103 0 R`, "/DocMDP 101 0 R") }},
	{pdflint.Certification, "does not certify", certified, func(i *increment) { i.swap(`/TransformMethod /DocMDP`, "/TransformMethod /UR3") }},
	{pdflint.Certification, "permits 4", certified, func(i *increment) { i.swap(`/P 2`, "/P 4") }},
	{pdflint.Certification, "is not the first", afterApproval, func(i *increment) {
		i.swap(catalog, fmt.Sprintf("/Lang (en) /Perms << /DocMDP %d 0 R >>", i.number(`/V (\d+)`)))
		i.swap(`/Reason \(r+\)`, "/Reference [<< /TransformMethod /DocMDP /TransformParams << /P 2 >> >>]")
	}},
	{pdflint.Locks, "permits no changes", afterCertified, func(i *increment) { i.both("/P 2", "/P 1") }},
	{pdflint.Locks, "permits no changes", afterLock, func(i *increment) { i.both("/P 2", "/P 1") }},
	{pdflint.Locks, `locks "Signature1"`, afterLock, func(i *increment) { i.both("(Signatures)", "(Signature1)") }},
	{pdflint.Locks, `locks "Signature1"`, afterLock, func(i *increment) { i.both("/Include /Fields [(Signatures)]", "/All     /Fields [(Signatures)]") }},
	{pdflint.Locks, "Action:Exclude", afterLock, func(i *increment) { i.both("/Include /Fields [(Signatures)]", "/Exclude /Fields [(Signature1)]") }},
	{pdflint.Locks, "cannot be read", afterLock, func(i *increment) { i.both("/Include", "(nclude)") }},
	{pdflint.Tagged, "Tabs: <nil>", tagged, func(i *increment) { i.swap(`/Tabs/S`, "") }},
	{pdflint.Tagged, "Tabs: <nil>", artifact, func(i *increment) { i.swap(`/Tabs/S`, "") }},
	{pdflint.Tagged, "to be tagged: true, StructParent: <nil>", tagged, func(i *increment) { i.swap(`/StructParent 1`, "") }},
	{pdflint.Tagged, "to be tagged: true, StructParent: <nil>", shownArtifact, func(i *increment) { i.swap(`/StructParent 1`, "") }},
	{pdflint.Tagged, "to be tagged: false, StructParent: 9", artifact, func(i *increment) { i.swap(`/TU \([^)]*\)`, "/StructParent 9") }},
	{pdflint.Tagged, "to be tagged: false, StructParent: 9", afterTagged, func(i *increment) { i.swap(`/TU \([^)]*\)`, "/StructParent 9") }},
	{pdflint.Tagged, "the parent tree has []", tagged, func(i *increment) { i.swap(`\]1 28 0 R`, "]") }},
	{pdflint.Tagged, "goes on with 1", tagged, func(i *increment) { i.swap(`/ParentTreeNextKey 2`, "/ParentTreeNextKey 1") }},
	{pdflint.Tagged, "the element of", tagged, func(i *increment) { i.swap(`/S /Form`, "/S /Fig") }},
	{pdflint.Tagged, "the element of", tagged, func(i *increment) { i.swap(`/Obj 25 0 R`, "/Obj 24 0 R") }},
	{pdflint.Tagged, "has the kids", tagged, func(i *increment) { i.swap(`\[22 0 R 28 0 R\]`, "[22 0 R]") }},
}
