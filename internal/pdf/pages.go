package pdf

import (
	"errors"
	"fmt"
)

// A Page is a leaf of the page tree with its own and its inherited attributes (7.7.3).
type Page struct {
	Ref       Ref
	Dict      Dict
	MediaBox  Rect    // in units of user space; US Letter if missing, as in viewers
	CropBox   Rect    // MediaBox if missing
	Rotate    int     // clockwise rotation on display: 0, 90, 180 or 270 degrees
	UserUnit  float64 // in multiples of 1/72 inch; 1 if missing or not positive (Table 31)
	Resources Object  // a dictionary or a reference to one; nil if missing
}

// A Rect is a rectangle in user space, given by its lower-left and upper-right corners (7.9.5).
type Rect struct{ LLX, LLY, URX, URY float64 }

// inheritable has the inheritable attributes of a node, its own or those of its ancestors
// (7.7.3.4).
type inheritable struct{ mediaBox, cropBox, rotate, resources Object }

// pageTreeWalk visits the leaves of a page tree, within limits.
type pageTreeWalk struct {
	file  *File
	seen  map[Ref]bool // nodes with Kids that were visited
	visit func(Ref, Dict, inheritable) error
}

var usLetter = Rect{URX: 612, URY: 792}

// errFound stops a walk of the page tree.
var errFound = errors.New("page found")

// Catalog returns the document catalog and its reference, the Root of the trailer (7.7.2).
func (f *File) Catalog() (Ref, Dict, error) {
	ref, catalog, err := f.catalog()
	if err != nil {
		return Ref{}, nil, fmt.Errorf("pdf: catalog: %w", err)
	}
	return ref, catalog, nil
}

func (f *File) catalog() (Ref, Dict, error) {
	ref, ok := f.Trailer()["Root"].(Ref)
	if !ok {
		return Ref{}, nil, fmt.Errorf("%w: trailer without a Root", ErrDamaged)
	}
	catalog, err := resolveTo[Dict](f, ref)
	if err == nil && catalog == nil {
		err = fmt.Errorf("%w: Root in the trailer refers to no object", ErrDamaged)
	}
	return ref, catalog, err
}

// PageCount returns the number of leaves of the page tree. It counts them and ignores Count.
// Errors: [ErrNoPages], [ErrDamaged], [ErrLimit].
func (f *File) PageCount() (int, error) {
	count := 0
	err := f.walkPages(func(Ref, Dict, inheritable) error { count++; return nil })
	if err == nil && count == 0 {
		err = ErrNoPages
	}
	return prefixed(count, err)
}

// Page returns page n; the first page is 1. It does not read the page tree after that page. Errors:
// [ErrNoPage], [ErrNoPages], [ErrDamaged], [ErrLimit].
func (f *File) Page(n int) (*Page, error) {
	var page *Page
	count := 0
	err := f.walkPages(func(ref Ref, dict Dict, attributes inheritable) (err error) {
		if count++; count != n {
			return nil
		}
		if page, err = f.page(ref, dict, attributes); err != nil {
			return fmt.Errorf("page %d: %w", n, err)
		}
		return errFound
	})
	switch {
	case errors.Is(err, errFound):
		return page, nil
	case err == nil && count == 0:
		err = ErrNoPages
	case err == nil:
		err = fmt.Errorf("%w: page %d of %d", ErrNoPage, n, count)
	}
	return prefixed[*Page](nil, err)
}

// EachPage calls visit with each page in order, or with the error of reading the attributes of the
// page, until visit returns an error. EachPage returns that error unchanged. Its own errors:
// [ErrNoPages], [ErrDamaged], [ErrLimit].
func (f *File) EachPage(visit func(*Page, error) error) error {
	count := 0
	var stopped error
	err := f.walkPages(func(ref Ref, dict Dict, attributes inheritable) error {
		count++
		page, err := f.page(ref, dict, attributes)
		if err != nil {
			page, err = nil, fmt.Errorf("pdf: page %d: %w", count, err)
		}
		if spent := f.CheckBudget(); spent != nil {
			return spent
		}
		stopped = visit(page, err)
		return stopped
	})
	switch {
	case stopped != nil:
		return stopped
	case err == nil && count == 0:
		err = ErrNoPages
	}
	if err != nil {
		return fmt.Errorf("pdf: %w", err)
	}
	return nil
}

// FindPage returns the first page for which match returns true. Errors: [ErrNoPage] if there is
// none, [ErrDamaged], [ErrLimit].
func (f *File) FindPage(match func(Ref, Dict) bool) (*Page, error) {
	var page *Page
	err := f.walkPages(func(ref Ref, dict Dict, attributes inheritable) (err error) {
		if !match(ref, dict) {
			return nil
		}
		if page, err = f.page(ref, dict, attributes); err != nil {
			return fmt.Errorf("page %s: %w", ref.identity(), err)
		}
		return errFound
	})
	switch {
	case errors.Is(err, errFound):
		return page, nil
	case err == nil:
		err = ErrNoPage
	}
	return prefixed[*Page](nil, err)
}

// Visible returns the part of the page that viewers display: the intersection of the crop box and
// the media box (14.11.2.1), or the media box if they do not intersect.
func (p *Page) Visible() Rect {
	m, c := p.MediaBox, p.CropBox
	r := Rect{max(m.LLX, c.LLX), max(m.LLY, c.LLY), min(m.URX, c.URX), min(m.URY, c.URY)}
	if r.LLX >= r.URX || r.LLY >= r.URY {
		return m
	}
	return r
}

// Rect returns the rectangle that o is or refers to, with its corners in order (7.9.5). It returns
// the zero value for null and for a rectangle without area.
func (f *File) Rect(o Object) (Rect, error) { return prefixed(f.rect(o, Rect{})) }

func (a inheritable) with(node Dict) inheritable {
	for key, field := range map[Name]*Object{
		"MediaBox": &a.mediaBox, "CropBox": &a.cropBox, "Rotate": &a.rotate, "Resources": &a.resources,
	} {
		if value, ok := node[key]; ok {
			*field = value
		}
	}
	return a
}

func (f *File) page(ref Ref, dict Dict, attributes inheritable) (*Page, error) {
	page := &Page{Ref: ref, Dict: dict, Resources: attributes.resources}
	var err error
	if page.MediaBox, err = f.rect(attributes.mediaBox, usLetter); err != nil {
		return nil, fmt.Errorf("reading MediaBox: %w", err)
	}
	if page.CropBox, err = f.rect(attributes.cropBox, page.MediaBox); err != nil {
		return nil, fmt.Errorf("reading CropBox: %w", err)
	}
	rotate, err := f.number(attributes.rotate)
	if err != nil {
		return nil, fmt.Errorf("reading Rotate: %w", err)
	}
	page.Rotate = quarterTurns(rotate)
	if page.UserUnit, err = f.number(dict["UserUnit"]); err != nil {
		return nil, fmt.Errorf("reading UserUnit: %w", err)
	}
	if !(page.UserUnit > 0) {
		page.UserUnit = 1
	}
	return page, nil
}

// quarterTurns returns an angle as 0, 90, 180 or 270 degrees. Angles that are not multiples of 90
// are not permitted, and count as 0.
func quarterTurns(degrees float64) int {
	n := int64(degrees)
	if float64(n) != degrees || n%90 != 0 {
		return 0
	}
	return int((n%360 + 360) % 360)
}

// rect reads a rectangle, which may be given by any two opposite corners. It returns absent if the
// rectangle is missing or has no area.
func (f *File) rect(o Object, absent Rect) (Rect, error) {
	array, err := resolveTo[Array](f, o)
	if err != nil {
		return Rect{}, err
	}
	if len(array) < 4 {
		return absent, nil
	}
	var v [4]float64
	for i := range v {
		if v[i], err = f.number(array[i]); err != nil {
			return Rect{}, err
		}
	}
	r := Rect{min(v[0], v[2]), min(v[1], v[3]), max(v[0], v[2]), max(v[1], v[3])}
	if r.LLX == r.URX || r.LLY == r.URY {
		return absent, nil
	}
	return r, nil
}

// walkPages calls visit with each leaf of the page tree in order, until visit returns an error.
func (f *File) walkPages(visit func(Ref, Dict, inheritable) error) error {
	_, catalog, err := f.catalog()
	if err != nil {
		return err
	}
	root, ok := catalog["Pages"].(Ref)
	if !ok {
		return fmt.Errorf("%w: no page tree", ErrNoPages)
	}
	w := &pageTreeWalk{file: f, seen: map[Ref]bool{}, visit: visit}
	if err := w.node(root, inheritable{}, 0); err != nil {
		return fmt.Errorf("page tree: %w", err)
	}
	return nil
}

func (w *pageTreeWalk) node(ref Ref, above inheritable, depth int) error {
	node, err := resolveTo[Dict](w.file, ref)
	if err != nil {
		return err
	}
	if depth > maxTreeDepth {
		return fmt.Errorf("%w: page tree of %d levels", ErrLimit, depth)
	}
	attributes := above.with(node)
	// Type is often missing or wrong, but a page has no Kids.
	if _, ok := node["Kids"]; !ok || node["Type"] == Name("Page") {
		if node == nil || depth == 0 {
			return nil
		}
		return w.visit(ref, node, attributes)
	}
	if w.seen[ref] { // a node that is reached a second time, as in a cycle: viewers skip it
		return nil
	}
	w.seen[ref] = true
	return w.kids(node["Kids"], attributes, depth)
}

func (w *pageTreeWalk) kids(o Object, attributes inheritable, depth int) error {
	kids, err := resolveTo[Array](w.file, o)
	if err != nil {
		return err
	}
	for _, kid := range kids {
		ref, ok := kid.(Ref)
		if !ok {
			return fmt.Errorf("%w: a page is not an indirect object", ErrDamaged)
		}
		if err := w.node(ref, attributes, depth+1); err != nil {
			return err
		}
	}
	return nil
}
