package pdf

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestPageAttributes checks the attributes of a page: its own, inherited ones and defaults.
func TestPageAttributes(t *testing.T) {
	square := Rect{0, 0, 100, 100}
	letter := Page{MediaBox: usLetter, CropBox: usLetter, UserUnit: 1}
	rotated := func(degrees int) Page {
		return Page{MediaBox: usLetter, CropBox: usLetter, Rotate: degrees, UserUnit: 1}
	}
	whole := Page{MediaBox: square, CropBox: square, UserUnit: 1}
	for name, test := range map[string]struct {
		root, page string // entries of the root of the page tree, and of the page
		want       Page
	}{
		"7.7.3.4 inherited": {
			"/MediaBox [0 0 100 100] /CropBox [1 2 3 4] /Rotate 90 /Resources 9 0 R", "",
			Page{MediaBox: square, CropBox: Rect{1, 2, 3, 4}, Rotate: 90, UserUnit: 1, Resources: Ref{Num: 9}},
		},
		"7.7.3.4 own": {
			"/MediaBox [0 0 1 1] /CropBox [0 0 1 1] /Rotate 90 /Resources 9 0 R",
			"/MediaBox [0 0 100 100] /CropBox [1 2 3 4] /Rotate 180 /Resources << /A 1 >>",
			Page{MediaBox: square, CropBox: Rect{1, 2, 3, 4}, Rotate: 180, UserUnit: 1, Resources: Dict{"A": Integer(1)}},
		},
		"Table 31 UserUnit":           {"", "/UserUnit 2.5", Page{MediaBox: usLetter, CropBox: usLetter, UserUnit: 2.5}},
		"UserUnit is not inherited":   {"/UserUnit 2.5", "", letter},
		"UserUnit is 0":               {"", "/UserUnit 0", letter},
		"7.7.3.3 CropBox is missing":  {"", "/MediaBox [0 0 100 100]", whole},
		"7.9.5 other opposite corner": {"", "/MediaBox [100 0 0 100]", whole},
		"indirect numbers":            {"", "/MediaBox [0 0.0 5 0 R 5 0 R]", whole},
		"MediaBox is missing":         {"", "", letter},
		"MediaBox has no area":        {"", "/MediaBox [0 0 0 0]", letter},
		"MediaBox of three numbers":   {"", "/MediaBox [0 0 1]", letter},
		"Rotate is negative":          {"", "/Rotate -90", rotated(270)},
		"Rotate is above 360":         {"", "/Rotate 450.0", rotated(90)},
		"Rotate is 45":                {"", "/Rotate 45", letter},
		"Rotate has 300 digits":       {"", "/Rotate 1" + strings.Repeat("0", 300), letter},
	} {
		f := mustOpen(t, treeFile("<< /Type /Pages /Kids [4 0 R] "+test.root+" >>", "null",
			"<< /Type /Pages /Kids [6 0 R] >>", "100", "<< /Type /Page "+test.page+" >>"))
		test.want.Ref = Ref{Num: 6}
		test.want.Dict, _ = f.Dict(test.want.Ref)
		expect(t, name, &test.want)(f.Page(1))
	}
}

// TestVisible checks the intersection of the crop box and the media box (14.11.2.1).
func TestVisible(t *testing.T) {
	for crop, want := range map[Rect]Rect{
		{10, 20, 90, 80}:   {10, 20, 90, 80},
		{-10, 20, 200, 80}: {0, 20, 100, 80},
		{200, 0, 300, 100}: {0, 0, 100, 100},
	} {
		if got := (&Page{MediaBox: Rect{0, 0, 100, 100}, CropBox: crop}).Visible(); got != want {
			t.Errorf("CropBox %v: got %v, want %v", crop, got, want)
		}
	}
}

// TestPageTree checks which pages PageCount, EachPage and Page find in a page tree.
func TestPageTree(t *testing.T) {
	deep := make([]string, maxTreeDepth+2)
	for i := range deep {
		deep[i] = fmt.Sprintf("<< /Kids [%d 0 R] >>", 3+i)
	}
	wide := "<< /Kids [" + strings.Repeat("3 0 R ", maxItems-10) + "] >>"
	for name, test := range map[string]struct {
		objects []string
		want    any // the object numbers of the pages
	}{
		"pages in order": {
			[]string{"<< /Kids [3 0 R 5 0 R] >>", "<< /Kids [6 0 R 4 0 R] >>", "<< /A 4 >>", "<< /A 5 >>", "<< /A 6 >>"},
			[]uint32{6, 4, 5},
		},
		"Kids is indirect":            {[]string{"<< /Kids 3 0 R >>", "[4 0 R]", "<< >>"}, []uint32{4}},
		"a page is listed twice":      {[]string{"<< /Kids [3 0 R 3 0 R] >>", "<< >>"}, []uint32{3, 3}},
		"Count is wrong":              {[]string{"<< /Kids [3 0 R] /Count 99 >>", "<< >>"}, []uint32{3}},
		"a kid is null":               {[]string{"<< /Kids [3 0 R 9 0 R] >>", "<< >>"}, []uint32{3}},
		"a page has Kids":             {[]string{"<< /Kids [3 0 R] >>", "<< /Type /Page /Kids [2 0 R] >>"}, []uint32{3}},
		"a node is its own ancestor":  {[]string{"<< /Kids [3 0 R 4 0 R] >>", "<< /Kids [2 0 R] >>", "<< >>"}, []uint32{4}},
		"Kids is empty":               {[]string{"<< /Kids [] >>"}, ErrNoPages},
		"Kids is missing":             {[]string{"<< /Count 0 >>"}, ErrNoPages},
		"the root is null":            {[]string{"null"}, ErrNoPages},
		"only a cycle":                {[]string{"<< /Kids [3 0 R] >>", "<< /Kids [2 0 R] >>"}, ErrNoPages},
		"a kid is a dictionary":       {[]string{"<< /Kids [<< >>] >>"}, ErrDamaged},
		"a kid is a number":           {[]string{"<< /Kids [3 0 R] >>", "7"}, ErrDamaged},
		"Kids is a number":            {[]string{"<< /Kids 7 >>"}, ErrDamaged},
		"too many levels":             {deep, ErrLimit},
		"a large page is listed much": {[]string{wide, "<< /A (" + strings.Repeat("x", 2<<10) + ") >>"}, ErrLimit},
	} {
		t.Run(name, func(t *testing.T) {
			f := mustOpen(t, treeFile(test.objects...))
			var each []uint32
			err := f.EachPage(func(page *Page, err error) error {
				each = append(each, page.Ref.Num)
				return err
			})
			expect(t, "EachPage", test.want)(each, err)
			pages, ok := test.want.([]uint32)
			if !ok {
				expect(t, "PageCount", test.want)(f.PageCount())
				return
			}
			expect(t, "PageCount", len(pages))(f.PageCount())
			for i, num := range pages {
				if page, err := f.Page(i + 1); err != nil || page.Ref.Num != num {
					t.Errorf("page %d: got %+v, error %v; want object %d", i+1, page, err, num)
				}
			}
			for _, n := range []int{-1, 0, len(pages) + 1} {
				expect(t, n, ErrNoPage)(f.Page(n))
			}
		})
	}
}

// TestBrokenPages checks that a page which cannot be read does not hide the pages before it, that EachPage reports it
// and continues, and that EachPage stops with the error of its caller.
func TestBrokenPages(t *testing.T) {
	f := mustOpen(t, treeFile("<< /Kids [3 0 R 4 0 R 5 0 R 6 0 R] >>", "<< >>", "<< /MediaBox 7 >>", "<< >>", "(broken)"))
	for n, want := range map[int]error{1: nil, 2: ErrDamaged, 3: nil, 4: ErrDamaged} {
		if _, err := f.Page(n); !errors.Is(err, want) {
			t.Errorf("page %d: error %v, want %v", n, err, want)
		}
	}
	stop, visits := errors.New("stop"), 0
	err := f.EachPage(func(page *Page, err error) error {
		visits++
		if damaged := visits == 2; damaged != errors.Is(err, ErrDamaged) || damaged != (page == nil) {
			t.Errorf("page %d: %v, error %v", visits, page, err)
		}
		if visits == 3 {
			return stop
		}
		return nil
	})
	if err != stop || visits != 3 {
		t.Errorf("error %v after %d visits; want %v after 3", err, visits, stop)
	}
}

// TestFindPage checks that a page is found with its inherited attributes (7.7.3.4).
func TestFindPage(t *testing.T) {
	f := mustOpen(t, treeFile("<< /Kids [3 0 R 4 0 R] /Rotate 90 >>", "<< >>", "<< /Annots [5 0 R] >>"))
	page, err := f.FindPage(func(_ Ref, page Dict) bool { return page["Annots"] != nil })
	if err != nil || page.Ref.Num != 4 || page.Rotate != 90 {
		t.Errorf("got %+v, error %v; want object 4 with Rotate 90", page, err)
	}
	expect(t, "no page matches", ErrNoPage)(f.FindPage(func(Ref, Dict) bool { return false }))
}

// TestRect checks rectangles that are not attributes of a page.
func TestRect(t *testing.T) {
	f := mustOpen(t, newBuilder("<< >>", "[30 40.5 10 20]").table(""))
	for _, test := range []struct {
		o    Object
		want any
	}{
		{Ref{Num: 2}, Rect{10, 20, 30, 40.5}},
		{nil, Rect{}},
		{Array{Integer(5), Integer(5), Integer(5), Integer(9)}, Rect{}},
		{Name("Rect"), ErrDamaged},
	} {
		expect(t, test.o, test.want)(f.Rect(test.o))
	}
}

// TestCatalog checks which values of Root name a catalog.
func TestCatalog(t *testing.T) {
	for root, want := range map[string]error{
		"1 0 R": nil, "null": ErrDamaged, "<< /Type /Catalog >>": ErrDamaged, "7 0 R": ErrDamaged, "2 0 R": ErrDamaged,
	} {
		ref, catalog, err := mustOpen(t, newBuilder("<< /Type /Catalog >>", "2").table("/Root "+root)).Catalog()
		if !errors.Is(err, want) || err == nil && (ref != Ref{Num: 1} || catalog["Type"] != Name("Catalog")) {
			t.Errorf("Root %s: got %v %v, error %v; want %v", root, ref, catalog, err, want)
		}
	}
}
