package pades_test

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/stamp"
)

// TestConformanceSurvivesSigning signs files that conform to profiles of PDF/A (ISO 19005) or PDF/UA (ISO 14289). They
// conform to the profile after one signature, after two, and after the extension to LTA. An exception is a second
// visible signature in PDF/UA-1: see TestStructureOfSignedDocumentStays.
func TestConformanceSurvivesSigning(t *testing.T) {
	t.Parallel()
	p := newPerson(t, catest.New(t), p256(t))
	stamped := at(1, 360, 100)
	stamped.Appearance = standardStamp(t)
	var claims []validators.VeraPDFClaim
	for name, visible := range map[string][2]*pades.Visible{
		"invisible": {nil, nil}, "visible": {at(1, 100, 100), at(1, 230, 100)}, "mixed": {nil, at(1, 100, 100)},
		"stamped": {stamped, at(1, 100, 100)},
	} {
		for _, a := range conforming() {
			b := pdftest.Archival(a)
			for signatures := range 4 {
				switch signatures {
				case 1, 2:
					b = sign(t, b, p, pades.Options{Name: "Dæmi um nafn", Reason: "Undirritun", Visible: visible[signatures-1]})
				case 3:
					b = extend(t, b, ades.LTA, p.ca.Sources(nil))
				}
				if a.Profile == "ua1" && signatures >= 2 && visible[1] != nil {
					break
				}
				path := tempFile(t, fmt.Sprintf("%s-%s-%s-%d.pdf", name, a.Profile, a.Kind, signatures), b)
				claims = append(claims, validators.VeraPDFClaim{Profile: a.Profile, File: path})
			}
		}
	}
	checkCompliant(t, validators.VeraPDF(t, claims...))
}

func checkCompliant(t *testing.T, reports []validators.VeraPDFReport) {
	t.Helper()
	for _, r := range reports {
		if !r.Compliant || r.Error != "" {
			t.Errorf("%s: %q, %v", filepath.Base(r.File), r.Error, r.Failures)
		}
	}
}

// standardStamp returns the appearance that the service draws, with characters of several scripts.
func standardStamp(t *testing.T) []byte {
	t.Helper()
	drawn, err := stamp.Standard(stamp.Text{
		Name: "Þórður Ægir Ελένη Юрий 北京", Kennitala: "1203894569", Time: time.Now(), Reason: "Undirritun",
	})
	if err != nil {
		t.Fatal(err)
	}
	return drawn
}

// conforming returns files of each profile, with each kind of cross-reference that it allows.
func conforming() (all []pdftest.Archive) {
	for _, profile := range []string{"1b", "1a", "2b", "2a", "3b", "3a", "4", "ua1", "ua2"} {
		for _, kind := range pdftest.Kinds {
			if kind == pdftest.Table || !slices.Contains([]string{"1b", "1a"}, profile) {
				all = append(all, pdftest.Archive{Profile: profile, Kind: kind})
			}
		}
	}
	return all
}

// structures are objects of a tagged file that replace those of pdftest.Archival.
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
	"parent tree direct":       {20: "<< /Type /StructTreeRoot /K 21 0 R /ParentTree << /Nums [0 [22 0 R]] >> /ParentTreeNextKey 1 >>"},
	"numbers indirect":         {23: "<< /Nums 24 0 R >>", 24: "[0 [22 0 R]]"},
	"references to references": {23: "24 0 R", 24: "<< /Nums 25 0 R >>", 25: "26 0 R", 26: "[0 [22 0 R]]"},
	"parent tree with leaves":  {23: "<< /Kids [24 0 R 25 0 R] >>", 24: "<< /Limits [0 0] /Nums [0 [22 0 R]] >>", 25: "<< /Limits [4 7] /Nums [4 null 7 null] >>"},
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

// TestWidgetIsTagged adds a field to tagged documents with structure trees of all shapes (ISO 14289-1 7.18.1, 7.18.3,
// 7.18.4). veraPDF treats an invisible widget as outside of the page and does not check it, so it gets a visible one.
func TestWidgetIsTagged(t *testing.T) {
	p := newPerson(t, catest.New(t), p256(t))
	var claims []validators.VeraPDFClaim
	claim := func(name string, b []byte) {
		path := tempFile(t, name+".pdf", bytes.Replace(b, []byte("/Rect [0 0 0 0]"), []byte("/Rect [9 9 9 9]"), 1))
		claims = append(claims, validators.VeraPDFClaim{Profile: "ua1", File: path})
	}
	var untagged []byte // for veraPDF to refuse
	for name, objects := range structures {
		for _, kind := range pdftest.Kinds {
			t.Run(name+"/"+string(kind), func(t *testing.T) {
				b := pdftest.Archival(pdftest.Archive{Profile: "ua1", Kind: kind, Objects: objects})
				signed := sign(t, b, p, pades.Options{})
				verifyPassed(t, signed, p.ca, "Signature1")
				checkTagged(t, open(t, b), open(t, signed), "S")
				if kind == pdftest.Table {
					claim(name, b)
				}
				claim(name+" "+string(kind)+" signed", signed)
				untagged = bytes.Replace(signed, []byte("/StructParent "), []byte("/Nothing       "), 1)
			})
		}
	}
	claim("untagged", untagged)
	reports := validators.VeraPDF(t, claims...)
	checkCompliant(t, reports[:len(reports)-1])
	if last := reports[len(reports)-1]; last.Compliant || len(last.Failures) != 1 || last.Failures[0].Clause != "7.18.4" {
		t.Errorf("veraPDF accepts a widget without StructParent: %+v", last)
	}
}

// TestVisibleWidgetIsTagged adds visible signatures in all versions of PDF.
func TestVisibleWidgetIsTagged(t *testing.T) {
	p := newPerson(t, catest.New(t), p256(t))
	for _, profile := range []string{"1a", "2a", "ua1", "ua2"} {
		for _, kind := range pdftest.Kinds {
			b := pdftest.Archival(pdftest.Archive{Profile: profile, Kind: kind})
			checkTagged(t, open(t, b), open(t, sign(t, b, p, pades.Options{Visible: at(1, 100, 100)})), "S")
		}
	}
}

// TestOrderOfTabsStays has a page whose author chose another order of tabs.
func TestOrderOfTabsStays(t *testing.T) {
	p := newPerson(t, catest.New(t), p256(t))
	objects := maps.Clone(structures["order of tabs given"])
	objects[10] = strings.Replace(objects[10], "/Tabs /S", "/Tabs /R", 1)
	b := pdftest.Archival(pdftest.Archive{Profile: "ua1", Objects: objects})
	checkTagged(t, open(t, b), open(t, sign(t, b, p, pades.Options{})), "R")
}

// checkTagged follows the widget's StructParent to its structure element, and from there to the parent and back.
func checkTagged(t *testing.T, before, after *pdf.File, tabs pdf.Name) {
	t.Helper()
	page, array := pageAnnotations(t, after, 1)
	widget, _ := after.Dict(array[0])
	key, ok := widget["StructParent"].(pdf.Integer)
	if !ok || page.Dict["Tabs"] != tabs {
		t.Fatalf("widget %v on page %v", widget, page.Dict)
	}
	was, is := parentTree(t, before), parentTree(t, after)
	form, _ := is[int64(key)].(pdf.Ref)
	if _, taken := was[int64(key)]; taken || len(is) != len(was)+1 {
		t.Errorf("keys were %v, are %v", was, is)
	}
	if next, _ := after.Int(dictAt(t, after, "StructTreeRoot")["ParentTreeNextKey"]); next != int64(key)+1 {
		t.Errorf("key %d, next key %d", key, next)
	}
	element, _ := after.Dict(form)
	content, _ := element["K"].(pdf.Dict)
	if element["S"] != pdf.Name("Form") || content["Obj"] != array[0] || content["Pg"] != page.Ref {
		t.Errorf("element %v", element)
	}
	parent, _ := after.Dict(element["P"])
	kids, _ := after.Array(parent["K"])
	if len(kids) == 0 || kids[len(kids)-1] != pdf.Object(form) {
		t.Errorf("parent %v with kids %v", parent, kids)
	}
}

// parentTree reads the parent tree of a file and checks that its keys ascend and are within the limits.
func parentTree(t *testing.T, file *pdf.File) map[int64]pdf.Object {
	t.Helper()
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
	visit(dictAt(t, file, "StructTreeRoot", "ParentTree"))
	return found
}

// TestWidgetIsAnArtifactInPDF2 adds an invisible field to a document of PDF 2.0 (ISO 14289-2 8.9.2.4.13).
// TestConformanceSurvivesSigning has veraPDF check the same.
func TestWidgetIsAnArtifactInPDF2(t *testing.T) {
	p := newPerson(t, catest.New(t), p256(t))
	b := pdftest.Archival(pdftest.Archive{Profile: "ua2"})
	signed := sign(t, b, p, pades.Options{})
	checkNotTagged(t, signed[len(b):])
	if page, _ := pageAnnotations(t, open(t, signed), 1); page.Dict["Tabs"] != pdf.Name("S") {
		t.Errorf("Tabs is %v", page.Dict["Tabs"])
	}
}

// TestMalformedStructureIsLeftAlone signs documents whose structure tree cannot be read or extended.
func TestMalformedStructureIsLeftAlone(t *testing.T) {
	p := newPerson(t, catest.New(t), p256(t))
	root := func(entries string) map[int]string {
		return map[int]string{20: "<< /Type /StructTreeRoot " + entries + " >>"}
	}
	deep := map[int]string{23: "<< /Kids [100 0 R] >>", 200: "<< /Limits [0 0] /Nums [0 [22 0 R]] >>"}
	for i := 100; i < 200; i++ {
		deep[i] = fmt.Sprintf("<< /Kids [%d 0 R] >>", i+1)
	}
	for name, objects := range map[string]map[int]string{
		"root missing":             {20: "null"},
		"root is a number":         {20: "7"},
		"kids are a name":          root("/K /21 /ParentTree 23 0 R"),
		"parent tree is a string":  root("/K 21 0 R /ParentTree (23)"),
		"next key is a string":     root("/K 21 0 R /ParentTree 23 0 R /ParentTreeNextKey (1)"),
		"next key too high":        root("/K 21 0 R /ParentTree 23 0 R /ParentTreeNextKey 2147483647"),
		"key too high":             {23: "<< /Nums [9223372036854775807 [22 0 R]] >>"},
		"key is a name":            {23: "<< /Nums [/0 [22 0 R]] >>"},
		"key without a value":      {23: "<< /Nums [0] >>"},
		"parent tree in a circle":  {23: "<< /Kids [24 0 R] >>", 24: "<< /Kids [23 0 R] >>"},
		"last leaf is empty":       {23: "<< /Kids [24 0 R] >>", 24: "<< /Nums [] >>"},
		"last leaf is missing":     {23: "<< /Kids [99 0 R] >>"},
		"parent tree is too deep":  deep,
		"Document is a stream":     {21: "<< /S /Document /Length 0 >>\nstream\n\nendstream"},
		"numbers are a stream":     {23: "<< /Nums 24 0 R >>", 24: "<< /Length 0 >>\nstream\n\nendstream"},
		"kids refer to themselves": {21: "<< /Type /StructElem /S /Document /P 20 0 R /K 24 0 R >>", 24: "24 0 R"},
	} {
		t.Run(name, func(t *testing.T) {
			b := pdftest.Archival(pdftest.Archive{Profile: "ua1", Objects: objects})
			signed := sign(t, b, p, pades.Options{})
			verifyPassed(t, signed, p.ca, "Signature1")
			checkNotTagged(t, signed[len(b):])
		})
	}
}

// checkNotTagged fails the test if a revision has a part of a structure tree.
func checkNotTagged(t *testing.T, revision []byte) {
	t.Helper()
	for _, word := range []string{"/StructElem", "/StructParent ", "/Type /StructTreeRoot", "/Nums"} {
		if bytes.Contains(revision, []byte(word)) {
			t.Errorf("%s was written", word)
		}
	}
}

// TestStructureOfSignedDocumentStays signs a tagged document twice. The second signature leaves the structure tree as
// it is, because pyHanko takes a change of it for a change of the document. A second visible signature therefore is not
// tagged, which is the only fault that veraPDF finds in PDF/UA-1.
func TestStructureOfSignedDocumentStays(t *testing.T) {
	p := newPerson(t, catest.New(t), p256(t))
	var paths []string
	for _, visible := range []*pades.Visible{nil, at(1, 100, 100)} {
		once := sign(t, pdftest.Archival(pdftest.Archive{Profile: "ua1"}), p, pades.Options{Visible: visible})
		twice := sign(t, once, p, pades.Options{Visible: visible})
		checkNotTagged(t, twice[len(once):])
		paths = append(paths, tempFile(t, "twice.pdf", twice))
	}
	for _, report := range validators.PyHanko(t, nil, paths...) {
		for _, s := range report.Signatures {
			if !s.Intact || !s.Valid || s.ModificationLevel == "OTHER" {
				t.Errorf("%s: %+v", report.File, s)
			}
		}
	}
	visible := validators.VeraPDF(t, validators.VeraPDFClaim{Profile: "ua1", File: paths[1]})[0]
	if len(visible.Failures) != 1 || visible.Failures[0].Clause != "7.18.4" {
		t.Errorf("%+v", visible)
	}
}
