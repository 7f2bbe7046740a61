package inspect_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades/inspect"
)

// stream is the source of a stream object.
func stream(entries, content string) string {
	return fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", entries, len(content), content)
}

// ink is an appearance that shows something.
var ink = stream("/Type /XObject /Subtype /Form /BBox [0 0 9 9]", "0 0 9 9 re f")

const script = "<< /S /JavaScript /JS (app.alert\\(1\\)) >>"

// annotation returns the entries of a page with one annotation, whose appearance is object 101.
func annotation(entries string) pdftest.Options {
	return pdftest.Options{
		Page:    "/Annots [100 0 R]",
		Objects: []string{"<< /Type /Annot /Rect [10 10 50 50] " + entries + " >>", ink},
	}
}

// layer returns a page with content in object 100, a layer with the entries given.
func layer(entries, config string) pdftest.Options {
	return pdftest.Options{
		Catalog: "/OCProperties << /OCGs [100 0 R] /D << " + config + " >> >>",
		Page:    "/Resources << /Properties << /L 100 0 R >> >>",
		Objects: []string{"<< /Type /OCG /Name (L) " + entries + " >>"},
	}
}

// xobject returns a page that shows object 100, an XObject.
func xobject(entries string) pdftest.Options {
	return pdftest.Options{
		Page:    "/Resources << /XObject << /X 100 0 R >> >>",
		Objects: []string{stream("/Type /XObject "+entries, "0 0 9 9 re f")},
	}
}

// hostile are documents with one thing to warn of.
var hostile = map[string]struct {
	options pdftest.Options
	code    inspect.Code
	page    int
}{
	"a script at opening":               {pdftest.Options{Catalog: "/OpenAction " + script}, inspect.JavaScript, 0},
	"a script in the name tree":         {pdftest.Options{Catalog: "/Names << /JavaScript << /Kids [100 0 R] >> >>", Objects: []string{"<< /Limits [(a) (a)] /Names [(a) 101 0 R] >>", script}}, inspect.JavaScript, 0},
	"a script of the page":              {pdftest.Options{Page: "/AA << /O " + script + " >>"}, inspect.JavaScript, 1},
	"a script of an annotation":         {annotation("/Subtype /Link /AA << /E " + script + " >>"), inspect.JavaScript, 1},
	"a script after another action":     {annotation("/Subtype /Link /A << /S /GoTo /D [10 0 R /Fit] /Next [<< /S /Named /N /NextPage /Next " + script + " >>] >>"), inspect.JavaScript, 1},
	"a script of a form field":          {pdftest.Options{Catalog: "/AcroForm << /Fields [100 0 R] >>", Objects: []string{"<< /FT /Tx /T (a) /AA << /K " + script + " >> >>"}}, inspect.JavaScript, 0},
	"a script of a bookmark":            {pdftest.Options{Catalog: "/Outlines << /First 100 0 R /Last 100 0 R >>", Objects: []string{"<< /Title (a) /A " + script + " >>"}}, inspect.JavaScript, 0},
	"a script of a rendition":           {annotation("/Subtype /Link /A << /S /Rendition /JS (a) >>"), inspect.JavaScript, 1},
	"a script of a 3D view":             {pdftest.Options{Page: "/Resources << /XObject << /X 100 0 R >> >>", Objects: []string{stream("/Type /3D /Subtype /U3D /OnInstantiate 101 0 R", ""), stream("", "a()")}}, inspect.JavaScript, 1},
	"a program to start":                {annotation("/Subtype /Link /A << /S /Launch /F (calc.exe) >>"), inspect.LaunchAction, 1},
	"a form that is sent":               {annotation("/Subtype /Link /A << /S /SubmitForm /F (https://example.com) >>"), inspect.SubmitAction, 1},
	"a form that is filled":             {annotation("/Subtype /Link /A << /S /ImportData /F (a.fdf) >>"), inspect.SubmitAction, 1},
	"an XFA form":                       {pdftest.Options{Catalog: "/AcroForm << /Fields [] /XFA 100 0 R >>", Objects: []string{stream("", "<xdp/>")}}, inspect.XFA, 0},
	"an attached file":                  {pdftest.Options{Catalog: "/Names << /EmbeddedFiles << /Names [(a) 100 0 R] >> >>", Objects: []string{"<< /Type /Filespec /F (a) /EF << /F 101 0 R >> >>", stream("/Type /EmbeddedFile", "a")}}, inspect.EmbeddedFiles, 0},
	"an annotation with a file":         {annotation("/Subtype /FileAttachment /F 4 /AP << /N 101 0 R >> /FS << /Type /Filespec /F (a) /EF << /F 101 0 R >> >>"), inspect.EmbeddedFiles, 1},
	"a portfolio":                       {pdftest.Options{Catalog: "/Collection << /View /D >>"}, inspect.EmbeddedFiles, 0},
	"a hidden layer":                    {layer("", "/OFF [100 0 R]"), inspect.HiddenLayers, 1},
	"layers that are hidden by default": {layer("", "/BaseState /OFF"), inspect.HiddenLayers, 1},
	"a layer that is not printed":       {layer("/Usage << /Print << /PrintState /OFF >> >>", ""), inspect.HiddenLayers, 1},
	"a layer for a magnification":       {layer("/Usage << /Zoom << /min 2 >> >>", ""), inspect.HiddenLayers, 1},
	"a layer for a user":                {layer("/Usage << /User << /Type /Ind /Name (a) >> >>", ""), inspect.HiddenLayers, 1},
	"an image for no layer": {pdftest.Options{
		Catalog: "/OCProperties << /OCGs [101 0 R] /D << >> >>",
		Page:    "/Resources << /XObject << /X 100 0 R >> >>",
		Objects: []string{stream("/Subtype /Form /BBox [0 0 9 9] /OC << /Type /OCMD /OCGs 101 0 R /P /AllOff >>", ""), "<< /Type /OCG /Name (L) >>"},
	}, inspect.HiddenLayers, 1},
	"an image for a combination of layers": {pdftest.Options{
		Catalog: "/OCProperties << /OCGs [101 0 R] /D << >> >>",
		Page:    "/Resources << /XObject << /X 100 0 R >> >>",
		Objects: []string{stream("/Subtype /Form /BBox [0 0 9 9] /OC << /Type /OCMD /VE [/And 101 0 R [/Not 101 0 R]] >>", ""), "<< /Type /OCG /Name (L) >>"},
	}, inspect.HiddenLayers, 1},
	"a switch of layers":                  {annotation("/Subtype /Link /A << /S /SetOCGState /State [/Toggle] >>"), inspect.HiddenLayers, 1},
	"an annotation for print":             {annotation("/Subtype /Stamp /F 36 /AP << /N 101 0 R >>"), inspect.PrintDiffers, 1},
	"an annotation for the screen":        {annotation("/Subtype /Stamp /AP << /N 101 0 R >>"), inspect.PrintDiffers, 1},
	"an annotation under the pointer":     {annotation("/Subtype /Stamp /F 292 /AP << /N 101 0 R >>"), inspect.PrintDiffers, 1},
	"another appearance when pointed at":  {annotation("/Subtype /Stamp /F 4 /AP << /N 101 0 R /R 3 0 R >>"), inspect.PrintDiffers, 1},
	"an action that hides":                {annotation("/Subtype /Link /A << /S /Hide /T (a) >>"), inspect.PrintDiffers, 1},
	"a film":                              {annotation("/Subtype /Screen"), inspect.PrintDiffers, 1},
	"another image for print":             {xobject("/Subtype /Image /Width 1 /Height 1 /Alternates [<< /Image 3 0 R /DefaultForPrinting true >>]"), inspect.PrintDiffers, 1},
	"a PostScript program":                {xobject("/Subtype /PS"), inspect.PrintDiffers, 1},
	"another part of the page for print":  {pdftest.Options{Catalog: "/ViewerPreferences << /PrintArea /MediaBox >>"}, inspect.PrintDiffers, 0},
	"a watermark that moves":              {annotation("/Subtype /Watermark /F 4 /AP << /N 101 0 R >> /FixedPrint << /Type /FixedPrint >>"), inspect.PrintDiffers, 1},
	"a stream in another file":            {xobject("/Subtype /Image /Width 1 /Height 1 /F (a.jpg)"), inspect.ExternalReference, 1},
	"contents in another file":            {pdftest.Options{Page: "/Contents 100 0 R", Objects: []string{stream("/F (https://example.com/a)", "")}}, inspect.ExternalReference, 1},
	"a page of another file":              {xobject("/Subtype /Form /BBox [0 0 9 9] /Ref << /F (a.pdf) /Page 0 >>"), inspect.ExternalReference, 1},
	"an image for the printer":            {xobject("/Subtype /Form /BBox [0 0 9 9] /OPI << /2.0 << /F (a.tif) >> >>"), inspect.ExternalReference, 1},
	"another file at opening":             {pdftest.Options{Catalog: "/OpenAction << /S /GoToR /F (a.pdf) /D [0 /Fit] >>"}, inspect.ExternalReference, 0},
	"a web page when the page is reached": {pdftest.Options{Page: "/AA << /O << /S /URI /URI (https://example.com) >> >>"}, inspect.ExternalReference, 1},
	"a script that claims to be a page":   {pdftest.Options{Catalog: "/OpenAction 100 0 R", Objects: []string{"<< /Type /Page /S /JavaScript /JS (a) >>"}}, inspect.JavaScript, 0},
	"an annotation that claims to be one": {pdftest.Options{Page: "/Annots [100 0 R]", Objects: []string{"<< /Type /Page /Subtype /Link /Rect [1 1 9 9] /A " + script + " >>"}}, inspect.JavaScript, 1},
	"a script that claims to be layers":   {annotation("/Subtype /Link /A << /Type /OCMD /S /JavaScript /JS (a) >>"), inspect.JavaScript, 1},
	"an action beneath layers":            {annotation("/Subtype /Link /A << /Type /OCMD /S /GoTo /D [10 0 R /Fit] /Next " + script + " >>"), inspect.JavaScript, 1},
	"a script in the list of layers": {pdftest.Options{
		Catalog: "/OCProperties << /OCGs [100 0 R] /D << >> >> /OpenAction 100 0 R",
		Objects: []string{"<< /S /JavaScript /JS (a) >>"},
	}, inspect.JavaScript, 0},
	"a script beneath a layer of a page": {layer("/A "+script, ""), inspect.JavaScript, 1},
	"a script of a field that only its widget names": {pdftest.Options{
		Page:    "/Annots [100 0 R]",
		Objects: []string{"<< /Subtype /Widget /Rect [0 0 0 0] /Parent 101 0 R >>", "<< /T (a) /Parent 102 0 R /Kids [100 0 R] >>", "<< /FT /Tx /T (b) /Kids [101 0 R] /AA << /F " + script + " >> >>"},
	}, inspect.JavaScript, 1},
	"a script of a field that its widget and the form name": {pdftest.Options{
		Catalog: "/AcroForm << /Fields [101 0 R] >>",
		Page:    "/Annots [100 0 R]",
		Objects: []string{"<< /Subtype /Widget /Rect [0 0 0 0] /Parent 101 0 R >>", "<< /FT /Tx /T (a) /Kids [100 0 R] /AA << /F " + script + " >> >>"},
	}, inspect.JavaScript, 1},
	"a script of a field without a widget, beneath one with a widget": {pdftest.Options{
		Catalog: "/AcroForm << /Fields [101 0 R] >>",
		Page:    "/Annots [100 0 R]",
		Objects: []string{"<< /Subtype /Widget /Rect [0 0 0 0] /Parent 101 0 R >>", "<< /T (a) /Kids [100 0 R 102 0 R] >>", "<< /FT /Tx /T (b) /Parent 101 0 R /AA << /F " + script + " >> >>"},
	}, inspect.JavaScript, 0},
	"an object that cannot be read": {pdftest.Options{Page: "/Annots [100 0 R]", Objects: []string{"<< /Type /Annot /Rect [ >>"}}, inspect.NotFullyInspected, 1},
}

// TestHostile checks that each kind is reported with its page, once, whatever the cross-reference.
func TestHostile(t *testing.T) {
	for name, test := range hostile {
		for _, kind := range pdftest.Kinds {
			o := test.options
			if o.Kind = kind; kind == pdftest.Stream && slices.ContainsFunc(o.Objects, func(s string) bool { return strings.Contains(s, "endstream") }) {
				continue // a stream is never in an object stream
			}
			got := warningsOf(t, pdftest.Build(o))
			if len(got) != 1 || got[0].Code != test.code || got[0].Page != test.page {
				t.Errorf("%s, %s: got %+v, want one %s on page %d", name, kind, got, test.code, test.page)
			}
		}
	}
}

// TestOrdinary checks that what most documents have is not reported.
func TestOrdinary(t *testing.T) {
	for name, o := range map[string]pdftest.Options{
		"nothing":                     {},
		"a link to a web page":        annotation("/Subtype /Link /A << /S /URI /URI (https://example.com) >>"),
		"a link to another file":      annotation("/Subtype /Link /A << /S /GoToR /F (a.pdf) /D [0 /Fit] >>"),
		"a view at opening":           {Catalog: "/OpenAction << /S /GoTo /D [10 0 R /Fit] >>"},
		"an annotation":               annotation("/Subtype /Stamp /F 4 /AP << /N 101 0 R >>"),
		"a hidden annotation":         annotation("/Subtype /Stamp /F 2 /AP << /N 101 0 R >>"),
		"a pop-up window":             annotation("/Subtype /Popup"),
		"a field that shows nothing":  {Page: "/Annots [100 0 R]", Objects: []string{"<< /Type /Annot /Subtype /Widget /Rect [1 1 9 9] /AP << /N 101 0 R >> >>", stream("/Subtype /Form", "/Tx BMC EMC")}},
		"a signature without a place": annotation("/Subtype /Widget /Rect [0 0 0 0] /AP << /N 101 0 R >>"),
		"a layer":                     layer("/Usage << /Print << /PrintState /ON >> /View << /ViewState /ON >> >>", "/ON [100 0 R]"),
		"a hidden layer without use":  {Catalog: "/OCProperties << /OCGs [100 0 R] /D << /OFF [100 0 R] >> >>", Objects: []string{"<< /Type /OCG /Name (L) >>"}},
		"layers of which one is shown": {
			Catalog: "/OCProperties << /OCGs [100 0 R 101 0 R] /D << /OFF [101 0 R] >> >>",
			Page:    "/Resources << /Properties << /L << /Type /OCMD /OCGs [100 0 R 101 0 R] >> >> >>",
			Objects: []string{"<< /Type /OCG /Name (L) >>", "<< /Type /OCG /Name (M) >>"},
		},
		"a circle":                 {Page: "/Resources 100 0 R", Objects: []string{"<< /XObject << /X 101 0 R >> >>", stream("/Subtype /Form /Resources 100 0 R", "")}},
		"a missing object":         {Page: "/Annots [500 0 R]"},
		"a long list of bookmarks": {Catalog: "/Outlines << /First 100 0 R >>", Objects: list(2000)},
	} {
		if got := warningsOf(t, pdftest.Build(o)); len(got) > 0 {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

// TestSharedObject checks that a resource of several pages is reported for each of them.
func TestSharedObject(t *testing.T) {
	built := string(pdftest.Build(pdftest.Options{Pages: 3, Objects: []string{stream("/Subtype /PS", "")}}))
	shared := []byte(strings.Replace(built, "/Resources << >>", "/Resources << /X 100 0 R >>", 1))
	var pages []int
	for _, w := range warningsOf(t, shared) {
		pages = append(pages, w.Page)
	}
	if diff := cmp.Diff([]int{1, 2, 3}, pages); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOtherPages checks that a page reports neither the pages that it links to, nor the widgets of its fields on other
// pages.
func TestOtherPages(t *testing.T) {
	built := string(pdftest.Build(pdftest.Options{Page: "/Annots [100 0 R]", Objects: []string{
		"<< /Subtype /Widget /Rect [0 0 0 0] /Parent 102 0 R /A << /S /GoTo /D [103 0 R /Fit] >> >>",
		"<< /Subtype /Widget /Rect [0 0 0 0] /Parent 102 0 R /AA << /Fo " + script + " >> >>",
		"<< /FT /Btn /T (a) /Kids [100 0 R 101 0 R] >>",
		"<< /Type /Page /Parent 2 0 R /Annots [101 0 R] >>",
	}}))
	built = strings.Replace(built, "/Kids [10 0 R ]", "/Kids [10 0 R 103 0 R]", 1)
	if got := warningsOf(t, []byte(built)); len(got) != 1 || got[0].Code != inspect.JavaScript || got[0].Page != 2 {
		t.Errorf("got %+v, want JavaScript on page 2", got)
	}
}

// TestPagesWithOtherRoles checks that a page is inspected as the annotation or action that it is too.
func TestPagesWithOtherRoles(t *testing.T) {
	for name, test := range map[string]struct {
		options pdftest.Options
		code    inspect.Code
	}{
		"a widget": {pdftest.Options{Page: "/Annots [100 0 R]", Objects: []string{
			"<< /Subtype /Widget /Rect [0 0 0 0] /Parent 101 0 R >>", "<< /FT /Tx /T (a) /Kids [100 0 R] /AA << /F " + script + " >> >>",
		}}, inspect.JavaScript},
		"an action at opening": {pdftest.Options{Catalog: "/OpenAction 100 0 R", Objects: []string{
			"<< /Parent 2 0 R /S /GoToR /F (a.pdf) /D [0 /Fit] >>",
		}}, inspect.ExternalReference},
	} {
		built := strings.Replace(string(pdftest.Build(test.options)), "/Kids [10 0 R ]", "/Kids [10 0 R 100 0 R]", 1)
		built = strings.Replace(built, "/Count 1", "/Count 2", 1)
		if got := warningsOf(t, []byte(built)); !slices.Contains(codes(got), test.code) {
			t.Errorf("%s: got %+v, want %s", name, got, test.code)
		}
	}
}

// TestPresentRevision checks that a later revision can remove and add what is reported.
func TestPresentRevision(t *testing.T) {
	first := pdftest.Build(pdftest.Options{Catalog: "/OpenAction " + script})
	second := func(base []byte, catalog string) []byte {
		at := len(base)
		object := "1 0 obj\n<< /Type /Catalog /Pages 2 0 R " + catalog + " >>\nendobj\n"
		prev := strings.TrimSpace(strings.TrimSuffix(string(base[bytes.LastIndex(base, []byte("startxref"))+9:]), "%%EOF\n"))
		return fmt.Appendf(slices.Clone(base), "%sxref\n1 1\n%010d 00000 n \ntrailer\n<< /Size 20 /Root 1 0 R /Prev %s >>\nstartxref\n%d\n%%%%EOF\n", object, at, prev, at+len(object))
	}
	cleaned := second(first, "")
	if got := warningsOf(t, cleaned); len(got) > 0 {
		t.Errorf("removed: got %+v", got)
	}
	if got := codes(warningsOf(t, second(cleaned, "/AcroForm << /XFA [] >>"))); !slices.Equal(got, []inspect.Code{inspect.XFA}) {
		t.Errorf("added: got %v, want XFA", got)
	}
}

// TestBounds checks that a document beyond the bounds is reported as not fully inspected.
func TestBounds(t *testing.T) {
	deep := list(2000)
	var many []string
	for range 200 {
		many = append(many, "<< /Type /Annot /Subtype /Link /Rect [1 1 9 9] /A "+script+" >>")
	}
	for name, o := range map[string]pdftest.Options{
		"deep objects":         {Page: "/Resources 100 0 R", Objects: deep},
		"no PDF":               {},
		"deep values":          {Page: "/A " + strings.Repeat("[", 150) + strings.Repeat("]", 150) + " /B2 100 0 R", Objects: []string{strings.Repeat("[", 300) + strings.Repeat("]", 300)}},
		"unreadable page tree": {Trailer: "/Encrypt << /Filter /Other >>"},
	} {
		file := pdftest.Build(o)
		if name == "no PDF" {
			file = []byte("text")
		}
		if got := codes(warningsOf(t, file)); !slices.Contains(got, inspect.NotFullyInspected) {
			t.Errorf("%s: got %v, want NotFullyInspected", name, got)
		}
	}
	if got := warningsOf(t, pdftest.Build(pdftest.Options{Page: "/Annots [100 0 R 101 0 R 102 0 R]", Objects: many})); len(got) != 1 {
		t.Errorf("many scripts on one page: got %+v, want one warning", got)
	}
	pages := string(pdftest.Build(pdftest.Options{Page: "/Resources << /X 100 0 R >>", Objects: []string{stream("/Subtype /PS", "")}}))
	pages = strings.Replace(pages, "/Kids [10 0 R ]", "/Kids ["+strings.Repeat("10 0 R ", 150)+"]", 1)
	if got := warningsOf(t, []byte(pages)); len(got) != 100 || got[99].Code != inspect.NotFullyInspected {
		t.Errorf("a warning on each of 150 pages: got %d, want 99 and NotFullyInspected", len(got))
	}
}

// TestReaderError checks that an error of the reader is returned.
func TestReaderError(t *testing.T) {
	file := pdftest.Build(pdftest.Options{})
	broken := errors.New("disk")
	if _, err := inspect.PDF(t.Context(), brokenReader{broken}, int64(len(file))); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
}

// TestCancelled checks that a caller who goes away gets the error of the context, at whatever read that is.
func TestCancelled(t *testing.T) {
	file := pdftest.Build(pdftest.Options{Kind: pdftest.Stream, Page: "/Annots [100 0 R]", Objects: []string{"<< /Subtype /Link /Rect [1 1 9 9] /A " + script + " >>"}})
	for n := 1; ; n++ {
		ctx, cancel := context.WithCancel(t.Context())
		r := &cancellingReader{Reader: bytes.NewReader(file), left: n, cancel: cancel}
		_, err := inspect.PDF(ctx, r, int64(len(file)))
		if cancel(); r.left > 0 { // the document has fewer reads
			if testenv.NoError(t, err); n < 5 {
				t.Errorf("%d reads", n-1)
			}
			return
		}
		if !errors.Is(err, context.Canceled) || r.left < 0 {
			t.Errorf("cancelled at read %d: got %v after %d more", n, err, -r.left)
		}
	}
}

// cancellingReader cancels at its last read.
type cancellingReader struct {
	*bytes.Reader
	left   int
	cancel context.CancelFunc
}

func (r *cancellingReader) ReadAt(p []byte, offset int64) (int, error) {
	if r.left--; r.left == 0 {
		r.cancel()
	}
	return r.Reader.ReadAt(p, offset)
}

type brokenReader struct{ err error }

func (r brokenReader) ReadAt([]byte, int64) (int, error) { return 0, r.err }

// TestPolicy checks which policies are valid and what they refuse.
func TestPolicy(t *testing.T) {
	warnings := []inspect.Warning{{Code: inspect.XFA}, {Code: inspect.JavaScript, Page: 2}, {Code: inspect.JavaScript}}
	for policy, want := range map[inspect.Policy][]inspect.Code{
		"": nil, inspect.Warn: nil, inspect.Refuse: {inspect.JavaScript, inspect.XFA},
		"refuse:XFA": {inspect.XFA}, "refuse:EmbeddedFiles,JavaScript": {inspect.JavaScript}, "refuse:EmbeddedFiles": nil,
	} {
		if err := policy.Check(); err != nil {
			t.Errorf("%q: %v", policy, err)
		}
		if diff := cmp.Diff(want, policy.Refused(warnings), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", policy, diff)
		}
	}
	for _, policy := range []inspect.Policy{"refuse:", "refuse:xfa", "refuse:XFA,", "refuse:XFA,XFA", "refuse:PageNotShown", "Warn", "warn:XFA"} {
		if policy.Check() == nil {
			t.Errorf("%q is valid", policy)
		}
	}
}

// FuzzPDF checks that no file makes the package panic or return more warnings than it promises, and that codes are known.
func FuzzPDF(f *testing.F) {
	for _, test := range hostile {
		f.Add(pdftest.Build(test.options))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		got := warningsOf(t, file)
		if len(got) > 100 {
			t.Errorf("%d warnings", len(got))
		}
		for _, w := range got {
			if !slices.Contains(inspect.Codes(), w.Code) || w.Page < 0 || w.Detail == "" {
				t.Errorf("got %+v", w)
			}
		}
	})
}

func warningsOf(t *testing.T, file []byte) []inspect.Warning {
	t.Helper()
	got, err := inspect.PDF(t.Context(), bytes.NewReader(file), int64(len(file)))
	testenv.NoError(t, err)
	return got
}

// list returns objects from 100 on, each of which refers to the next.
func list(n int) (objects []string) {
	for i := range n {
		objects = append(objects, fmt.Sprintf("<< /Title (a) /Next %d 0 R >>", 101+i))
	}
	return objects
}

func codes(warnings []inspect.Warning) (list []inspect.Code) {
	for _, w := range warnings {
		list = append(list, w.Code)
	}
	return list
}
