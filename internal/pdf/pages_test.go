package pdf

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// treeFile is a file whose objects from 2 on are the given ones; 2 is the tree's root.
func treeFile(objects ...string) []byte {
	b := newBuilder()
	b.object(1, "<< /Type /Catalog /Pages 2 0 R >>")
	for i, o := range objects {
		b.object(2+i, o)
	}
	return b.table(2+len(objects), "/Root 1 0 R")
}

func TestPageAttributes(t *testing.T) {
	square := Rect{0, 0, 100, 100}
	tests := map[string]struct {
		root, page string
		want       Page
	}{
		"7.7.3.4 inherited": {
			"/MediaBox [0 0 100 100] /CropBox [1 2 3 4] /Rotate 90 /Resources 9 0 R", "",
			Page{MediaBox: square, CropBox: Rect{1, 2, 3, 4}, Rotate: 90, Resources: Ref{Num: 9}},
		},
		"table 31 UserUnit":         {"", "/UserUnit 2.5", Page{MediaBox: usLetter, CropBox: usLetter, UserUnit: 2.5}},
		"UserUnit is not inherited": {"/UserUnit 2.5", "", Page{MediaBox: usLetter, CropBox: usLetter, UserUnit: 1}},
		"UserUnit of nothing":       {"", "/UserUnit 0", Page{MediaBox: usLetter, CropBox: usLetter, UserUnit: 1}},
		"UserUnit below 0":          {"", "/UserUnit -2", Page{MediaBox: usLetter, CropBox: usLetter, UserUnit: 1}},
		"7.7.3.4 own ones win": {
			"/MediaBox [0 0 1 1] /CropBox [0 0 1 1] /Rotate 90 /Resources 9 0 R",
			"/MediaBox [0 0 100 100] /CropBox [1 2 3 4] /Rotate 180 /Resources << /A 1 >>",
			Page{MediaBox: square, CropBox: Rect{1, 2, 3, 4}, Rotate: 180, Resources: Dict{"A": Integer(1)}},
		},
		"7.7.3.3 CropBox is MediaBox by default": {"", "/MediaBox [0 0 100 100]", Page{MediaBox: square, CropBox: square}},
		"7.9.5 any opposite corners":             {"", "/MediaBox [100 0 0 100]", Page{MediaBox: square, CropBox: square}},
		"indirect numbers":                       {"", "/MediaBox [0 0.0 5 0 R 5 0 R]", Page{MediaBox: square, CropBox: square}},
		"MediaBox missing":                       {"", "", Page{MediaBox: usLetter, CropBox: usLetter}},
		"MediaBox empty":                         {"", "/MediaBox [0 0 0 0]", Page{MediaBox: usLetter, CropBox: usLetter}},
		"MediaBox of three numbers":              {"", "/MediaBox [0 0 1]", Page{MediaBox: usLetter, CropBox: usLetter}},
		"Rotate below 0":                         {"", "/Rotate -90", Page{MediaBox: usLetter, CropBox: usLetter, Rotate: 270}},
		"Rotate above 360":                       {"", "/Rotate 450.0", Page{MediaBox: usLetter, CropBox: usLetter, Rotate: 90}},
		"Rotate by no quarter":                   {"", "/Rotate 45", Page{MediaBox: usLetter, CropBox: usLetter}},
		"Rotate far out":                         {"", "/Rotate 1" + strings.Repeat("0", 300), Page{MediaBox: usLetter, CropBox: usLetter}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := mustOpen(t, treeFile(
				"<< /Type /Pages /Kids [4 0 R] "+test.root+" >>", "null",
				"<< /Type /Pages /Kids [6 0 R] >>", "100",
				"<< /Type /Page "+test.page+" >>"))
			got, err := f.Page(1)
			if err != nil {
				t.Fatal(err)
			}
			test.want.Ref, test.want.Dict = got.Ref, got.Dict
			if test.want.UserUnit == 0 {
				test.want.UserUnit = 1
			}
			if diff := cmp.Diff(&test.want, got); diff != "" || got.Ref.Num != 6 {
				t.Errorf("page %v\n%s", got.Ref, diff)
			}
		})
	}
}

func TestVisible(t *testing.T) {
	tests := map[string]struct{ page, want Rect }{
		"14.11.2.1 crop box within the medium": {Rect{10, 20, 90, 80}, Rect{10, 20, 90, 80}},
		"beyond the medium":                    {Rect{-10, 20, 200, 80}, Rect{0, 20, 100, 80}},
		"off the medium":                       {Rect{200, 0, 300, 100}, Rect{0, 0, 100, 100}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := Page{MediaBox: Rect{0, 0, 100, 100}, CropBox: test.page}
			if got := p.Visible(); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestPageTree(t *testing.T) {
	deep := make([]string, maxTreeDepth+2)
	for i := range deep {
		deep[i] = fmt.Sprintf("<< /Kids [%d 0 R] >>", 3+i)
	}
	wide := "<< /Kids [" + strings.Repeat("3 0 R ", maxItems-10) + "] >>"
	tests := map[string]struct {
		objects []string
		pages   []uint32 // object numbers
		err     error
	}{
		"pages in order": {
			[]string{"<< /Kids [3 0 R 5 0 R] >>", "<< /Kids [6 0 R 4 0 R] >>", "<< /A 4 >>", "<< /A 5 >>", "<< /A 6 >>"},
			[]uint32{6, 4, 5}, nil,
		},
		"Kids indirect":              {[]string{"<< /Kids 3 0 R >>", "[4 0 R]", "<< >>"}, []uint32{4}, nil},
		"a page may stand twice":     {[]string{"<< /Kids [3 0 R 3 0 R] >>", "<< >>"}, []uint32{3, 3}, nil},
		"wrong Count":                {[]string{"<< /Kids [3 0 R] /Count 99 >>", "<< >>"}, []uint32{3}, nil},
		"kid that is null":           {[]string{"<< /Kids [3 0 R 9 0 R] >>", "<< >>"}, []uint32{3}, nil},
		"page with Kids of its own":  {[]string{"<< /Kids [3 0 R] >>", "<< /Type /Page /Kids [2 0 R] >>"}, []uint32{3}, nil},
		"no kids":                    {[]string{"<< /Kids [] >>"}, nil, ErrNoPages},
		"no Kids":                    {[]string{"<< /Count 0 >>"}, nil, ErrNoPages},
		"no tree":                    {[]string{"null"}, nil, ErrNoPages},
		"kid that is a dictionary":   {[]string{"<< /Kids [<< >>] >>"}, nil, ErrDamaged},
		"kid that is a number":       {[]string{"<< /Kids [3 0 R] >>", "7"}, nil, ErrDamaged},
		"Kids that are none":         {[]string{"<< /Kids 7 >>"}, nil, ErrDamaged},
		"circle":                     {[]string{"<< /Kids [3 0 R 4 0 R] >>", "<< /Kids [2 0 R] >>", "<< >>"}, []uint32{4}, nil},
		"circle and nothing else":    {[]string{"<< /Kids [3 0 R] >>", "<< /Kids [2 0 R] >>"}, nil, ErrNoPages},
		"too deep":                   {deep, nil, ErrLimit},
		"more work than it is worth": {[]string{wide, "<< /A (" + strings.Repeat("x", 2<<10) + ") >>"}, nil, ErrLimit},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := mustOpen(t, treeFile(test.objects...))
			if n, err := f.PageCount(); !errors.Is(err, test.err) || err == nil && n != len(test.pages) {
				t.Errorf("%d pages, error %v; want %d, %v", n, err, len(test.pages), test.err)
			}
			var each []uint32
			err := f.EachPage(func(page *Page, err error) error {
				each = append(each, page.Ref.Num)
				return err
			})
			if !errors.Is(err, test.err) || err == nil && !slices.Equal(each, test.pages) {
				t.Errorf("each page: %v, error %v; want %v, %v", each, err, test.pages, test.err)
			}
			for i, num := range test.pages {
				page, err := f.Page(i + 1)
				if err != nil || page.Ref.Num != num {
					t.Fatalf("page %d: %+v, error %v; want object %d", i+1, page, err, num)
				}
			}
			if test.err != nil {
				return
			}
			for _, n := range []int{-1, 0, len(test.pages) + 1} {
				if _, err := f.Page(n); !errors.Is(err, ErrNoPage) {
					t.Errorf("page %d: error %v, want ErrNoPage", n, err)
				}
			}
		})
	}
}

// A page is found although the tree is broken behind it.
func TestPageReadsNoFurther(t *testing.T) {
	f := mustOpen(t, treeFile("<< /Kids [3 0 R 4 0 R] >>", "<< >>", "(broken)"))
	if _, err := f.Page(1); err != nil {
		t.Error(err)
	}
	if _, err := f.Page(2); !errors.Is(err, ErrDamaged) {
		t.Errorf("error %v, want ErrDamaged", err)
	}
}

// Whoever visits pages is told of one that cannot be read, and may stop.
func TestEachPage(t *testing.T) {
	f := mustOpen(t, treeFile("<< /Kids [3 0 R 4 0 R 5 0 R] >>", "<< /MediaBox 7 >>", "<< >>", "<< >>"))
	stop, visits := errors.New("stop"), 0
	err := f.EachPage(func(page *Page, err error) error {
		visits++
		if damaged := visits == 1; damaged != errors.Is(err, ErrDamaged) || damaged != (page == nil) {
			t.Errorf("page %d: %v, %v", visits, page, err)
		}
		if visits == 2 {
			return stop
		}
		return nil
	})
	if err != stop || visits != 2 {
		t.Errorf("error %v after %d visits", err, visits)
	}
}

func TestCatalog(t *testing.T) {
	tests := map[string]struct {
		trailer string
		want    error
	}{
		"reference":      {"/Root 1 0 R", nil},
		"no Root":        {"", ErrDamaged},
		"direct":         {"/Root << /Type /Catalog >>", ErrDamaged},
		"missing object": {"/Root 7 0 R", ErrDamaged},
		"number":         {"/Root 2 0 R", ErrDamaged},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBuilder()
			b.object(1, "<< /Type /Catalog >>")
			b.object(2, "2")
			ref, catalog, err := mustOpen(t, b.table(3, test.trailer)).Catalog()
			if !errors.Is(err, test.want) {
				t.Fatalf("error %v, want %v", err, test.want)
			}
			if err == nil && (ref != Ref{Num: 1} || catalog["Type"] != Name("Catalog")) {
				t.Errorf("%v %v", ref, catalog)
			}
		})
	}
}
