package pdf

import (
	"errors"
	"fmt"
)

// FindPage returns the first page whose reference and dictionary match accepts. Errors:
// [ErrNoPage] when it accepts none, [ErrDamaged], [ErrLimit].
func (f *File) FindPage(match func(Ref, Dict) bool) (*Page, error) {
	var page *Page
	err := f.walkPages(func(ref Ref, dict Dict, attributes inherited) (err error) {
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
	return exported[*Page](nil, err)
}

// Rect returns the rectangle that o is or refers to, its corners in order; the zero value
// for null and for one without area (7.9.5).
func (f *File) Rect(o Object) (Rect, error) { return exported(f.rect(o, Rect{})) }
