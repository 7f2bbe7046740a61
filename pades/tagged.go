package pades

import (
	"fmt"
	"math"

	"github.com/innsigli/innsigli/internal/pdf"
)

// structureTree is the structure tree of a tagged document (ISO 32000-2 14.7), with what is needed
// to add an element to it.
type structureTree struct {
	file       *pdf.File
	ref        pdf.Ref  // of the structure tree root
	root       pdf.Dict // the structure tree root
	parentRef  pdf.Ref  // of the parent of the new element: the Document element, or the root
	parentDict pdf.Dict
	parents    parentTree
	ua2        bool // the file is PDF 2.0, on which PDF/UA-2 is based
}

// parentTree is the number tree of a structure tree root that maps content to the elements that it
// belongs to (ISO 32000-2 7.9.7, 14.7.5.4).
type parentTree struct {
	node pdf.Dict // its root; nil when there is no tree
	next int64    // above all existing keys
}

// readStructureTree reads the structure tree of a document; nil when the document is not tagged, or
// signed already, or when the tree is malformed. A malformed tree is left alone, so that readers of
// it read it as before. The tree of a signed document stays too: pyHanko reports any change to it,
// or to Tabs of a page, as a change of the document. It is right to do so: for a signer who has the
// document read out, a signature means nothing if the structure may change later.
func readStructureTree(file *pdf.File, signed bool) (*structureTree, error) {
	if signed {
		return nil, nil
	}
	_, catalog, err := file.Catalog()
	if err != nil {
		return nil, err
	}
	// All elements refer to their parents, so the root has to be an object of its own.
	ref, ok := file.LastReference(catalog["StructTreeRoot"])
	if !ok {
		return nil, nil
	}
	s := &structureTree{file: file, ref: ref}
	major, _ := file.Version()
	s.ua2 = major >= 2
	if err := s.read(); err != nil {
		return nil, pdf.IgnoreMalformed(err)
	}
	return s, nil
}

func (s *structureTree) read() (err error) {
	if s.root, err = s.file.Dict(s.ref); err != nil {
		return err
	}
	if s.root == nil {
		return fmt.Errorf("%w: no structure tree root", pdf.ErrDamaged)
	}
	if s.parents, err = readParentTree(s.file, s.root); err != nil {
		return err
	}
	return s.readParent()
}

// readParent finds the parent for new elements. This is the element of the whole document, if it is
// the only one below the root and is a Document (ISO 32000-2 14.8.4.3). Trees of older versions may
// have none: the parent is then the root.
func (s *structureTree) readParent() error {
	s.parentRef, s.parentDict = s.ref, s.root
	only := s.root["K"]
	kids, err := s.file.Resolve(only)
	if err != nil {
		return err
	}
	if array, ok := kids.(pdf.Array); ok && len(array) == 1 {
		only = array[0]
	}
	ref, ok := s.file.LastReference(only)
	if !ok {
		return nil
	}
	element, err := s.file.Resolve(ref)
	if dict, ok := element.(pdf.Dict); ok && s.role(dict) == "Document" {
		s.parentRef, s.parentDict = ref, dict
	}
	return err
}

// role returns the structure type of an element after role mapping (ISO 32000-2 14.7.3).
func (s *structureTree) role(element pdf.Dict) pdf.Name {
	const maxMappings = 16
	name, _ := s.file.Name(element["S"])
	roles, _ := s.file.Dict(s.root["RoleMap"])
	for range maxMappings {
		mapped, err := s.file.Name(roles[name])
		if err != nil || mapped == "" {
			return name
		}
		name = mapped
	}
	return name
}

// addWidget adds the widget of a new field to the structure. The page needs a tab order (ISO
// 14289-1 7.18.3): addWidget sets it to the structure order, unless the author chose another one.
// PDF/UA-1 makes no exception for a widget without area. PDF/UA-2 treats such a widget as an
// artifact, and requires Contents in all others (ISO 14289-2 8.9.2.4.13, 8.10.2.3).
func (s *structureTree) addWidget(update *pdf.Update, page *pdf.Page, widget pdf.Ref, f newField) error {
	if s == nil {
		return nil
	}
	return pdf.IgnoreMalformed(update.Attempt(func(draft *pdf.Update) error {
		if f.visible != nil || !s.ua2 {
			if err := s.addForm(draft, page.Ref, widget); err != nil {
				return err
			}
		}
		if f.visible != nil && s.ua2 {
			if err := setEntry(draft, widget, "Contents", pdf.TextString(f.title)); err != nil {
				return err
			}
		}
		if page.Dict["Tabs"] != nil {
			return nil
		}
		return setEntry(draft, page.Ref, "Tabs", []byte("/S"))
	}))
}

// addForm adds a Form element for the widget, which contains only a reference to it (ISO 14289-1
// 7.18.4).
func (s *structureTree) addForm(update *pdf.Update, page, widget pdf.Ref) error {
	form := update.Add(fmt.Appendf(nil, "<< /Type /StructElem /S /Form /P %s /K << /Type /OBJR /Pg %s /Obj %s >> >>", s.parentRef, page, widget))
	if err := s.addKid(update, form); err != nil {
		return err
	}
	return s.addParent(update, form, widget)
}

// addKid appends an element to the kids of the parent. K is one kid or an array of kids (ISO
// 32000-2 tables 354 and 355).
func (s *structureTree) addKid(update *pdf.Update, kid pdf.Ref) error {
	kids, err := s.file.Resolve(s.parentDict["K"])
	if err != nil {
		return err
	}
	return patchObject(update, s.parentRef, func(source []byte) ([]byte, error) {
		switch kids.(type) {
		case nil, pdf.Array:
			return appendReference(s.file, update, source, s.parentDict, "K", kid)
		case pdf.Dict, pdf.Integer:
			return appendToSingle(source, "K", kid)
		}
		return nil, fmt.Errorf("%w: kids of a structure element", pdf.ErrDamaged)
	})
}

// addParent adds the mapping from the widget to its element to the parent tree. The key is
// StructParent of the widget (ISO 32000-2 14.7.5.4).
func (s *structureTree) addParent(update *pdf.Update, element, widget pdf.Ref) error {
	key := s.parents.next
	if err := setEntry(update, widget, "StructParent", fmt.Append(nil, key)); err != nil {
		return err
	}
	if err := s.parents.add(s.file, update, s.ref, s.root, element); err != nil {
		return err
	}
	return setEntry(update, s.ref, "ParentTreeNextKey", fmt.Append(nil, key+1))
}

// maxTreeLevels bounds the depth of a number tree.
const maxTreeLevels = 32

// readParentTree reads the tree as far as needed for its last key. ParentTreeNextKey should be
// above that key, but some files omit it or have a lower value.
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

// lastKey returns the last key of a number tree, in which keys ascend; -1 when the tree is empty.
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

// lastNumber returns the last key of a leaf. Only the root may have no keys.
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

// add adds an element under the next key. A root with kids gets one more kid, a leaf for this key
// alone: no other node changes, and the root has no Limits to update.
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

// hasKids reports whether the root has nodes below it. An empty array counts as none.
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
