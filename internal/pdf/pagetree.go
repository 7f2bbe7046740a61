package pdf

import "fmt"

// treeWalk is a walk of the page tree, within bounds.
type treeWalk struct {
	file  *File
	seen  map[Ref]bool // nodes that have kids
	visit func(Ref, Dict, inherited) error
}

// walkPages calls visit for each leaf, in order, until it returns an error.
func (f *File) walkPages(visit func(Ref, Dict, inherited) error) error {
	_, catalog, err := f.catalog()
	if err != nil {
		return err
	}
	root, ok := catalog["Pages"].(Ref)
	if !ok {
		return fmt.Errorf("%w: no page tree", ErrNoPages)
	}
	w := &treeWalk{file: f, seen: map[Ref]bool{}, visit: visit}
	if err := w.node(root, inherited{}, 0); err != nil {
		return fmt.Errorf("page tree: %w", err)
	}
	return nil
}

func (w *treeWalk) node(ref Ref, above inherited, depth int) error {
	node, err := resolveTo[Dict](w.file, ref)
	if err != nil {
		return err
	}
	if depth > maxTreeDepth {
		return fmt.Errorf("%w: page tree of %d levels", ErrLimit, depth)
	}
	attributes := above.with(node)
	// Type is often missing or wrong; a page has no kids.
	if _, ok := node["Kids"]; !ok || node["Type"] == Name("Page") {
		if node == nil || depth == 0 {
			return nil
		}
		return w.visit(ref, node, attributes)
	}
	if w.seen[ref] { // a circle, or as good as one: viewers pass over it
		return nil
	}
	w.seen[ref] = true
	return w.kids(node["Kids"], attributes, depth)
}

func (w *treeWalk) kids(o Object, attributes inherited, depth int) error {
	kids, err := resolveTo[Array](w.file, o)
	if err != nil {
		return err
	}
	for _, kid := range kids {
		ref, ok := kid.(Ref)
		if !ok {
			return fmt.Errorf("%w: page that is no indirect object", ErrDamaged)
		}
		if err := w.node(ref, attributes, depth+1); err != nil {
			return err
		}
	}
	return nil
}
