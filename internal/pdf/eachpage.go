package pdf

import "fmt"

// EachPage calls visit for each page in order, or with the error of reading its attributes, until visit
// returns an error, which is returned as it is. Errors of its own: [ErrNoPages], [ErrDamaged], [ErrLimit].
func (f *File) EachPage(visit func(*Page, error) error) error {
	count := 0
	var stopped error
	err := f.walkPages(func(ref Ref, dict Dict, attributes inherited) error {
		count++
		page, err := f.page(ref, dict, attributes)
		if err != nil {
			page, err = nil, fmt.Errorf("pdf: page %d: %w", count, err)
		}
		if spent := f.Spent(); spent != nil {
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
