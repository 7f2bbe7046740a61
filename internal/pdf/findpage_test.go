package pdf

import (
	"errors"
	"testing"
)

// The attributes of a page that is found are those that it inherits (7.7.3.4).
func TestFindPage(t *testing.T) {
	b := newBuilder()
	b.object(1, "<< /Type /Catalog /Pages 2 0 R >>")
	b.object(2, "<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 /Rotate 90 >>")
	b.object(3, "<< /Type /Page /Parent 2 0 R >>")
	b.object(4, "<< /Type /Page /Parent 2 0 R /Annots [5 0 R] >>")
	f := mustOpen(t, b.table(5, "/Root 1 0 R"))
	page, err := f.FindPage(func(_ Ref, page Dict) bool { return page["Annots"] != nil })
	if err != nil || page.Ref.Num != 4 || page.Rotate != 90 {
		t.Errorf("%+v, %v", page, err)
	}
	if _, err := f.FindPage(func(Ref, Dict) bool { return false }); !errors.Is(err, ErrNoPage) {
		t.Errorf("no page matches: %v", err)
	}
}

func TestRect(t *testing.T) {
	b := newBuilder()
	b.object(1, "<< /Type /Catalog >>")
	b.object(2, "[30 40.5 10 20]")
	f := mustOpen(t, b.table(3, "/Root 1 0 R"))
	for name, test := range map[string]struct {
		o    Object
		want Rect
		err  error
	}{
		"corners in order, indirect": {Ref{Num: 2}, Rect{10, 20, 30, 40.5}, nil},
		"null":                       {nil, Rect{}, nil},
		"without area":               {Array{Integer(5), Integer(5), Integer(5), Integer(9)}, Rect{}, nil},
		"no array":                   {Name("Rect"), Rect{}, ErrDamaged},
	} {
		if got, err := f.Rect(test.o); got != test.want || !errors.Is(err, test.err) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
