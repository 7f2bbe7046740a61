package pades

import (
	"fmt"
	"math"

	"github.com/innsigli/innsigli/internal/pdf"
)

// maxTreeLevels bounds the depth of a number tree.
const maxTreeLevels = 32

// parentTree is the number tree of a structure tree root that leads from content to the
// elements which it belongs to (ISO 32000-2 7.9.7, 14.7.5.4).
type parentTree struct {
	node pdf.Dict // its root; nil when there is none
	next int64    // a key above all of it
}

// readParentTree reads the tree as far as its last key. ParentTreeNextKey is to be above
// that, and is sometimes missing or is not.
func readParentTree(file *pdf.File, root pdf.Dict) (t parentTree, err error) {
	if t.node, err = file.Dict(root["ParentTree"]); err != nil {
		return t, err
	}
	last, err := lastKey(file, t.node)
	if err != nil {
		return t, err
	}
	stated, err := file.Int(root["ParentTreeNextKey"])
	if err != nil {
		return t, err
	}
	if max(stated, last) >= math.MaxInt32 {
		return t, fmt.Errorf("%w: key %d in the parent tree", pdf.ErrLimit, max(stated, last))
	}
	t.next = max(stated, last+1, 0)
	return t, nil
}

// lastKey returns the last key of a number tree, where keys ascend; -1 when it is empty.
func lastKey(file *pdf.File, node pdf.Dict) (int64, error) {
	for level := range maxTreeLevels {
		kids, err := file.Array(node["Kids"])
		if err != nil {
			return 0, err
		}
		if len(kids) == 0 {
			return lastNumber(file, node, level)
		}
		if node, err = file.Dict(kids[len(kids)-1]); err != nil {
			return 0, err
		}
	}
	return 0, fmt.Errorf("%w: number tree of more than %d levels", pdf.ErrLimit, maxTreeLevels)
}

// lastNumber returns the last key of a leaf. Only the root may be without any.
func lastNumber(file *pdf.File, leaf pdf.Dict, level int) (int64, error) {
	numbers, err := file.Array(leaf["Nums"])
	if err != nil {
		return 0, err
	}
	if len(numbers)%2 != 0 || len(numbers) == 0 && level > 0 {
		return 0, fmt.Errorf("%w: leaf of a number tree", pdf.ErrDamaged)
	}
	if len(numbers) == 0 {
		return -1, nil
	}
	return file.Int(numbers[len(numbers)-2])
}

// add adds an element under the next key. A tree with kids gets one more, a leaf of its
// own, at the root: so nothing else changes, and a root has no Limits to keep.
func (t parentTree) add(file *pdf.File, update *pdf.Update, ref pdf.Ref, root pdf.Dict, element pdf.Ref) error {
	pair := fmt.Sprintf("%d %s", t.next, element)
	if t.node == nil {
		made := update.Add([]byte("<< /Nums [" + pair + "] >>"))
		return setEntry(update, ref, "ParentTree", []byte(made.String()))
	}
	return patchObject(update, ref, func(source []byte) ([]byte, error) {
		return patchValue(file, update, source, root, "ParentTree", func(source []byte) ([]byte, error) {
			switch {
			case t.hasKids(file):
				leaf := update.Add(fmt.Appendf(nil, "<< /Limits [%d %d] /Nums [%s] >>", t.next, t.next, pair))
				return appendReference(file, update, source, t.node, "Kids", leaf)
			case t.node["Nums"] == nil:
				return pdf.SetKey(source, "Nums", []byte("["+pair+"]"))
			}
			return patchValue(file, update, source, t.node, "Nums", func(source []byte) ([]byte, error) {
				return t.appendPair(source, element)
			})
		})
	})
}

// hasKids reports whether the root has nodes below it. An empty array is as good as none.
func (t parentTree) hasKids(file *pdf.File) bool {
	kids, err := file.Array(t.node["Kids"])
	return err == nil && len(kids) > 0
}

func (t parentTree) appendPair(numbers []byte, element pdf.Ref) ([]byte, error) {
	numbers, err := pdf.AppendItem(numbers, fmt.Append(nil, t.next))
	if err != nil {
		return nil, err
	}
	return pdf.AppendItem(numbers, []byte(element.String()))
}
