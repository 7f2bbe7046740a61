package pdf

import "fmt"

// setTrailer makes one trailer of all that were found. Of each entry that matters the one
// nearest to the file's end holds.
func (b *rebuilding) setTrailer() error {
	merged := section{trailer: Dict{}, source: []byte("<< >>")}
	for _, key := range []Name{"Root", "Info", "ID", "Encrypt"} {
		for _, s := range b.trailers { // later ones replace earlier ones
			value, ok, err := Key(s.source, key)
			if err != nil || !ok || s.trailer[key] == nil {
				continue
			}
			if merged.source, err = SetKey(merged.source, key, value); err != nil {
				return err
			}
			merged.trailer[key] = s.trailer[key]
		}
	}
	b.file.sections = []section{merged}
	return nil
}

// setRoot looks for a catalog when the trailer names none: among the trailers, then among
// all objects.
func (b *rebuilding) setRoot() error {
	f := b.file
	if ref, ok := f.Trailer()["Root"].(Ref); ok && f.isCatalog(ref) {
		return nil
	}
	var root Ref
	for _, s := range b.trailers {
		if ref, ok := s.trailer["Root"].(Ref); ok && f.isCatalog(ref) {
			root = ref
		}
	}
	if root == (Ref{}) {
		for num, e := range f.entries.all() {
			if ref := (Ref{Num: num, Gen: e.gen}); f.isCatalog(ref) {
				root = ref
			}
		}
	}
	if err := f.Spent(); err != nil {
		return err
	}
	if root == (Ref{}) {
		return fmt.Errorf("%w: no catalog", ErrDamaged)
	}
	s := &f.sections[0]
	s.trailer["Root"] = root
	var err error
	s.source, err = SetKey(s.source, "Root", []byte(root.String()))
	return err
}

// isCatalog reports whether an object is a catalog with pages. Its Type may be missing.
func (f *File) isCatalog(ref Ref) bool {
	o, err := f.object(ref)
	dict, ok := o.(Dict)
	if err != nil || !ok {
		return false
	}
	switch dict["Type"] {
	case nil, Name("Catalog"):
		pages, err := resolveTo[Dict](f, dict["Pages"])
		return err == nil && pages["Kids"] != nil
	}
	return false
}
