package pdf

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// setTrailer makes one trailer of all that were found. Of each entry that matters the one
// nearest to the file's end holds.
func (b *rebuilding) setTrailer() error {
	merged := section{trailer: Dict{}, source: []byte("<< >>")}
	for _, key := range []Name{"Root", "Info", "ID", "Encrypt"} {
		i := len(b.trailers) - 1
		for i >= 0 && b.trailers[i].trailer[key] == nil {
			i--
		}
		if i < 0 {
			continue
		}
		value, _, err := Key(b.trailers[i].source, key)
		if err != nil {
			return err
		}
		if merged.source, err = SetKey(merged.source, key, value); err != nil {
			return err
		}
		merged.trailer[key] = b.trailers[i].trailer[key]
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

// addCompressed adds the objects of the object streams. One that also stands on its own
// farther from the start is not theirs.
func (b *rebuilding) addCompressed() error {
	entries := &b.file.entries
	inOrder := func(x, y uint32) int { return cmp.Compare(entries.get(x).offset, entries.get(y).offset) }
	for _, num := range slices.SortedFunc(maps.Keys(b.streams), inOrder) {
		s, err := b.file.objectStream(num)
		if err == nil {
			b.file.spend(int64(len(s.objects)) * int64(len("1 0 ")))
			err = b.file.Spent()
		}
		if err != nil {
			return fmt.Errorf("object stream %d: %w", num, err)
		}
		container := entries.get(num).offset
		for i, o := range s.objects {
			if e := entries.get(o.num); e.kind == plainEntry && e.offset > container || o.num == num {
				continue
			}
			entries.set(o.num, xrefEntry{kind: compressedEntry, offset: int64(num), index: uint32(i)})
		}
		if entries.count > b.file.maxEntries() {
			return fmt.Errorf("%w: more than %d objects", ErrLimit, b.file.maxEntries())
		}
	}
	return nil
}
