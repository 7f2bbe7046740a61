package pades_test

import (
	"bytes"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/internal/pdf"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/pades"
)

// Objects of a tagged file instead of those that pdftest.Archival makes.
var structures = map[string]map[int]string{
	"as Archival makes it":          {},
	"kid of the root in an array":   {20: "<< /Type /StructTreeRoot /K [21 0 R] /ParentTree 23 0 R /ParentTreeNextKey 1 >>"},
	"kids of the Document indirect": {21: "<< /Type /StructElem /S /Document /P 20 0 R /K 24 0 R >>", 24: "[22 0 R]"},
	"one kid of the Document":       {21: "<< /Type /StructElem /S /Document /P 20 0 R /K 22 0 R >>"},
	"Document by role mapping": {
		20: "<< /Type /StructTreeRoot /K 21 0 R /RoleMap << /Letter /Paper /Paper /Document >> /ParentTree 23 0 R >>",
		21: "<< /Type /StructElem /S /Letter /P 20 0 R /K 22 0 R >>",
	},
	"no Document": {
		20: "<< /Type /StructTreeRoot /K 22 0 R /ParentTree 23 0 R >>",
		22: "<< /Type /StructElem /S /P /P 20 0 R /Pg 10 0 R /K 0 >>",
	},
	"two elements below the root": {
		20: "<< /Type /StructTreeRoot /K [22 0 R 21 0 R] /ParentTree 23 0 R >>",
		21: "<< /Type /StructElem /S /Document /P 20 0 R >>",
		22: "<< /Type /StructElem /S /P /P 20 0 R /Pg 10 0 R /K 0 >>",
	},
	"parent tree direct":      {20: "<< /Type /StructTreeRoot /K 21 0 R /ParentTree << /Nums [0 [22 0 R]] >> /ParentTreeNextKey 1 >>"},
	"numbers indirect":        {23: "<< /Nums 24 0 R >>", 24: "[0 [22 0 R]]"},
	"numbers behind two":      {23: "24 0 R", 24: "<< /Nums 25 0 R >>", 25: "26 0 R", 26: "[0 [22 0 R]]"},
	"parent tree with leaves": {23: "<< /Kids [24 0 R 25 0 R] >>", 24: "<< /Limits [0 0] /Nums [0 [22 0 R]] >>", 25: "<< /Limits [4 7] /Nums [4 null 7 null] >>"},
	"kids of the parent tree indirect": {
		23: "<< /Kids 26 0 R >>", 24: "<< /Limits [0 7] /Kids [25 0 R] >>",
		25: "<< /Limits [0 7] /Nums [0 [22 0 R] 7 null] >>", 26: "[24 0 R]",
	},
	"next key missing":    {20: "<< /Type /StructTreeRoot /K 21 0 R /ParentTree 23 0 R >>"},
	"next key too low":    {20: "<< /Type /StructTreeRoot /K 21 0 R /ParentTree 23 0 R /ParentTreeNextKey 0 >>"},
	"next key far above":  {20: "<< /Type /StructTreeRoot /K 21 0 R /ParentTree 23 0 R /ParentTreeNextKey 5000 >>"},
	"next key indirect":   {20: "<< /Type /StructTreeRoot /K 21 0 R /ParentTree 23 0 R /ParentTreeNextKey 24 0 R >>", 24: "3"},
	"order of tabs given": {10: "<< /Type /Page /Parent 2 0 R /Contents 3 0 R /MediaBox [0 0 595 842] /Resources << >> /StructParents 0 /Tabs /S >>"},
}

// ISO 14289-1 7.18.1, 7.18.3, 7.18.4. veraPDF takes an invisible widget for one outside of
// the page and asks nothing of it, so it is shown a visible one.
func TestWidgetIsTagged(t *testing.T) {
	p := newPerson(t, newAuthority(t), p256(t))
	folder := t.TempDir()
	var claims []validators.VeraPDFClaim
	claim := func(name string, b []byte) {
		path := filepath.Join(folder, name+".pdf")
		writeFile(t, path, bytes.Replace(b, []byte("/Rect [0 0 0 0]"), []byte("/Rect [9 9 9 9]"), 1))
		claims = append(claims, validators.VeraPDFClaim{Profile: "ua1", File: path})
	}
	var untagged []byte // for veraPDF to refuse
	for name, objects := range structures {
		for _, kind := range pdftest.Kinds {
			b := pdftest.Archival(pdftest.Archive{Profile: "ua1", Kind: kind, Objects: objects})
			if kind == pdftest.Table {
				claim(name, b)
			}
			signed := sign(t, b, p, pades.Options{})
			claim(name+" "+string(kind)+" signed", signed)
			if got := verify(t, signed, p.ca); len(got) != 1 || !got[0].Passed() {
				t.Errorf("%s: %+v", name, got)
			}
			checkTagged(t, name, b, signed)
			untagged = bytes.Replace(signed, []byte("/StructParent "), []byte("/Nothing       "), 1)
		}
	}
	claim("untagged", untagged)
	reports := validators.VeraPDF(t, claims...)
	for _, r := range reports[:len(reports)-1] {
		if !r.Compliant || r.Error != "" {
			t.Errorf("%s: %q, %v", filepath.Base(r.File), r.Error, r.Failures)
		}
	}
	if last := reports[len(reports)-1]; last.Compliant || len(last.Failures) != 1 || last.Failures[0].Clause != "7.18.4" {
		t.Errorf("a widget without its number passes: %+v", last)
	}
}

// checkTagged follows the widget's number to its element, from there to the parent, and back.
func checkTagged(t *testing.T, name string, b, signed []byte) {
	t.Helper()
	file := open(t, signed)
	page, err := file.Page(1)
	if err != nil {
		t.Fatal(err)
	}
	annotations, _ := file.Array(page.Dict["Annots"])
	widget, _ := file.Dict(annotations[0])
	key, ok := widget["StructParent"].(pdf.Integer)
	if !ok || page.Dict["Tabs"] != pdf.Name("S") {
		t.Fatalf("%s: widget %v on page %v", name, widget, page.Dict)
	}
	_, catalog, err := file.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	root, _ := file.Dict(catalog["StructTreeRoot"])
	before, after := numbers(t, open(t, b)), numbers(t, file)
	form, _ := after[int64(key)].(pdf.Ref)
	if _, taken := before[int64(key)]; taken || len(after) != len(before)+1 {
		t.Errorf("%s: keys were %v, are %v", name, before, after)
	}
	if next, _ := file.Int(root["ParentTreeNextKey"]); next != int64(key)+1 {
		t.Errorf("%s: key %d, next key %d", name, key, next)
	}
	element, _ := file.Dict(form)
	content, _ := element["K"].(pdf.Dict)
	if element["S"] != pdf.Name("Form") || content["Obj"] != annotations[0] || content["Pg"] != page.Ref {
		t.Errorf("%s: element %v", name, element)
	}
	parent, _ := file.Dict(element["P"])
	kids, _ := file.Array(parent["K"])
	if len(kids) == 0 || kids[len(kids)-1] != pdf.Object(form) {
		t.Errorf("%s: parent %v with kids %v", name, parent, kids)
	}
}

// numbers reads the parent tree of a file and checks that keys ascend within their limits.
func numbers(t *testing.T, file *pdf.File) map[int64]pdf.Object {
	t.Helper()
	_, catalog, err := file.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	root, _ := file.Dict(catalog["StructTreeRoot"])
	found, last := map[int64]pdf.Object{}, int64(-1)
	var visit func(node pdf.Dict)
	visit = func(node pdf.Dict) {
		first := last + 1
		pairs, _ := file.Array(node["Nums"])
		for ; len(pairs) >= 2; pairs = pairs[2:] {
			key, err := file.Int(pairs[0])
			if err != nil || key <= last {
				t.Errorf("key %v follows %d", pairs[0], last)
			}
			found[key], last = pairs[1], key
		}
		kids, _ := file.Array(node["Kids"])
		for _, kid := range kids {
			dict, _ := file.Dict(kid)
			visit(dict)
		}
		if limits, _ := node["Limits"].(pdf.Array); limits != nil && (limits[0].(pdf.Integer) < pdf.Integer(first) || limits[1] != pdf.Integer(last)) {
			t.Errorf("limits %v of keys from %d to %d", limits, first, last)
		}
	}
	tree, _ := file.Dict(root["ParentTree"])
	visit(tree)
	return found
}

func open(t *testing.T, b []byte) *pdf.File {
	t.Helper()
	file, err := pdf.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// ISO 14289-2 8.9.2.4.13: in PDF 2.0 a widget of no size is an artifact. TestConformanceSurvivesSigning
// shows that to veraPDF.
func TestWidgetIsAnArtifactInPDF2(t *testing.T) {
	p := newPerson(t, newAuthority(t), p256(t))
	b := pdftest.Archival(pdftest.Archive{Profile: "ua2"})
	signed := sign(t, b, p, pades.Options{})
	checkNotTagged(t, signed[len(b):])
	if page, err := open(t, signed).Page(1); err != nil || page.Dict["Tabs"] != pdf.Name("S") {
		t.Errorf("%v, %v", page, err)
	}
}

// A structure that cannot be read, or not be added to, is left alone, and no part of it changed.
func TestMalformedStructureIsLeftAlone(t *testing.T) {
	p := newPerson(t, newAuthority(t), p256(t))
	root := func(entries string) map[int]string {
		return map[int]string{20: "<< /Type /StructTreeRoot " + entries + " >>"}
	}
	tests := map[string]map[int]string{
		"root missing":            {20: "null"},
		"root is a number":        {20: "7"},
		"kids are a name":         root("/K /21 /ParentTree 23 0 R"),
		"parent tree is a string": root("/K 21 0 R /ParentTree (23)"),
		"next key is a string":    root("/K 21 0 R /ParentTree 23 0 R /ParentTreeNextKey (1)"),
		"next key too high":       root("/K 21 0 R /ParentTree 23 0 R /ParentTreeNextKey 2147483647"),
		"key too high":            {23: "<< /Nums [9223372036854775807 [22 0 R]] >>"},
		"key is a name":           {23: "<< /Nums [/0 [22 0 R]] >>"},
		"key without a value":     {23: "<< /Nums [0] >>"},
		"parent tree in a circle": {23: "<< /Kids [24 0 R] >>", 24: "<< /Kids [23 0 R] >>"},
		"last leaf is empty":      {23: "<< /Kids [24 0 R] >>", 24: "<< /Nums [] >>"},
		"last leaf is missing":    {23: "<< /Kids [99 0 R] >>"},
		"parent tree is too deep": deepTree(100),
		"Document is a stream":    {21: "<< /S /Document /Length 0 >>\nstream\n\nendstream"},
		"numbers are a stream":    {23: "<< /Nums 24 0 R >>", 24: "<< /Length 0 >>\nstream\n\nendstream"},
		"kids lead nowhere":       {21: "<< /Type /StructElem /S /Document /P 20 0 R /K 24 0 R >>", 24: "24 0 R"},
	}
	for name, objects := range tests {
		t.Run(name, func(t *testing.T) {
			b := pdftest.Archival(pdftest.Archive{Profile: "ua1", Objects: objects})
			signed := sign(t, b, p, pades.Options{})
			if got := verify(t, signed, p.ca); len(got) != 1 || !got[0].Passed() {
				t.Errorf("%+v", got)
			}
			checkNotTagged(t, signed[len(b):])
		})
	}
}

// checkNotTagged checks that a revision has nothing of a structure tree.
func checkNotTagged(t *testing.T, revision []byte) {
	t.Helper()
	for _, word := range []string{"/StructElem", "/StructParent ", "/Type /StructTreeRoot", "/Nums"} {
		if bytes.Contains(revision, []byte(word)) {
			t.Errorf("%s was written", word)
		}
	}
}

// deepTree is a number tree of so many levels.
func deepTree(levels int) map[int]string {
	objects := map[int]string{23: "<< /Kids [100 0 R] >>"}
	for i := range levels {
		objects[100+i] = "<< /Kids [" + pdf.Ref{Num: uint32(101 + i)}.String() + "] >>"
	}
	objects[100+levels] = "<< /Limits [0 0] /Nums [0 [22 0 R]] >>"
	return objects
}

// The author's order of tabs stays, and the structure is added to all the same.
func TestOrderOfTabsStays(t *testing.T) {
	p := newPerson(t, newAuthority(t), p256(t))
	objects := maps.Clone(structures["order of tabs given"])
	objects[10] = strings.Replace(objects[10], "/Tabs /S", "/Tabs /R", 1)
	file := open(t, sign(t, pdftest.Archival(pdftest.Archive{Profile: "ua1", Objects: objects}), p, pades.Options{}))
	page, err := file.Page(1)
	if err != nil || page.Dict["Tabs"] != pdf.Name("R") {
		t.Errorf("%v, %v", page, err)
	}
	if got := numbers(t, file); len(got) != 2 {
		t.Errorf("parent tree %v", got)
	}
}

// A second signature leaves the structure alone, and the first one stays valid with it.
// That is what pyHanko's analysis of differences is about: it takes a change of the
// structure for one of the document. A second one that is shown is therefore no part of the
// structure, which veraPDF misses in PDF/UA-1, and nothing else.
func TestStructureOfSignedDocumentStays(t *testing.T) {
	p := newPerson(t, newAuthority(t), p256(t))
	folder := t.TempDir()
	var paths []string
	for name, shown := range map[string]*pades.Visible{"invisible": nil, "visible": at(1, 100, 100)} {
		once := sign(t, pdftest.Archival(pdftest.Archive{Profile: "ua1"}), p, pades.Options{Visible: shown})
		twice := sign(t, once, p, pades.Options{Visible: shown})
		checkNotTagged(t, twice[len(once):])
		paths = append(paths, filepath.Join(folder, name+".pdf"))
		writeFile(t, paths[len(paths)-1], twice)
	}
	for _, report := range validators.PyHanko(t, nil, paths...) {
		for _, s := range report.Signatures {
			if !s.Intact || !s.Valid || s.ModificationLevel == "OTHER" {
				t.Errorf("%s: %+v", report.File, s)
			}
		}
	}
	visible := validators.VeraPDF(t, validators.VeraPDFClaim{Profile: "ua1", File: filepath.Join(folder, "visible.pdf")})[0]
	if len(visible.Failures) != 1 || visible.Failures[0].Clause != "7.18.4" {
		t.Errorf("%+v", visible)
	}
}

// The widget of a signature that is shown is part of the structure in each version of PDF.
func TestVisibleWidgetIsTagged(t *testing.T) {
	p := newPerson(t, newAuthority(t), p256(t))
	for _, profile := range []string{"1a", "2a", "ua1", "ua2"} {
		for _, kind := range pdftest.Kinds {
			b := pdftest.Archival(pdftest.Archive{Profile: profile, Kind: kind})
			checkTagged(t, profile, b, sign(t, b, p, pades.Options{Visible: at(1, 100, 100)}))
		}
	}
}
