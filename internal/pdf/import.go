package pdf

import (
	"fmt"
	"io"
	"slices"
)

// importer copies objects from one file into an update of another file.
type importer struct {
	update   *Update
	from     *File
	excluded map[Ref]bool // references that are replaced by null
	copies   map[Ref]Ref
	queue    []Ref // keys of copies, in the order of copying
	bytes    int
}

// Import copies into the update the objects of another file that a source text refers to, directly
// and through other objects. It returns the source text with references to the copies. Import
// copies text unchanged and streams in their encoded form, and renumbers only the references. It
// also removes StructParent and StructParents from the copies. References to the catalog and to the
// pages of the other file become null, because they would bring the whole file with them. Errors:
// [ErrEncrypted], [ErrDamaged], [ErrUnsupported], and [ErrLimit] for more than 10,000 objects or 8
// MiB.
func (u *Update) Import(from *File, source []byte) ([]byte, error) {
	imported, err := u.importSource(from, source)
	if err != nil {
		return nil, fmt.Errorf("pdf: importing: %w", err)
	}
	return imported, nil
}

func (u *Update) importSource(from *File, source []byte) ([]byte, error) {
	if _, ok := from.Trailer()["Encrypt"]; ok { // payloads are copied without decryption
		return nil, ErrEncrypted
	}
	barred, err := from.pageTree()
	if err != nil {
		return nil, err
	}
	i := &importer{update: u, from: from, excluded: barred, copies: map[Ref]Ref{}}
	if source, err = i.renumber(source); err != nil {
		return nil, err
	}
	for n := 0; n < len(i.queue); n++ {
		ref := i.queue[n]
		if err := i.copy(ref); err != nil {
			return nil, fmt.Errorf("object %s: %w", ref.identity(), err)
		}
	}
	return source, nil
}

// copy copies an object for which the update has reserved a number.
func (i *importer) copy(ref Ref) error {
	o, err := i.from.find(ref)
	if err != nil {
		return err
	}
	body, err := i.body(o)
	if err != nil {
		return err
	}
	i.update.Set(i.copies[ref], body)
	return i.checkLimits(len(body))
}

func (i *importer) body(o indirect) ([]byte, error) {
	source, err := withoutStructParents(o)
	if err != nil {
		return nil, err
	}
	if o.stream {
		return i.stream(o, source)
	}
	return i.renumber(source)
}

// withoutStructParents returns the source text of an object in which StructParent and StructParents
// are null. These keys of the structural parent tree (14.7.5.4) would name unrelated elements in
// the tree of the target file.
func withoutStructParents(o indirect) (source []byte, err error) {
	dict, _ := o.value.(Dict)
	source = o.source
	for _, key := range []Name{"StructParent", "StructParents"} {
		if _, ok := dict[key]; !ok {
			continue
		}
		if source, err = SetKey(source, key, []byte("null")); err != nil {
			return nil, err
		}
	}
	return source, nil
}

// stream returns the body of a copied stream. Its Length becomes a direct object.
func (i *importer) stream(o indirect, source []byte) ([]byte, error) {
	s, err := i.from.newStream(o)
	if err != nil {
		return nil, err
	}
	payload, err := i.from.payload(s)
	if err != nil {
		return nil, err
	}
	if s.Length > maxImportedBytes {
		return nil, fmt.Errorf("%w: stream of %d bytes", ErrLimit, s.Length)
	}
	encoded := make([]byte, s.Length)
	if _, err := io.ReadFull(payload, encoded); err != nil {
		return nil, fmt.Errorf("reading the stream: %w", err)
	}
	if source, err = SetKey(source, "Length", fmt.Append(nil, s.Length)); err != nil {
		return nil, err
	}
	if source, err = i.renumber(source); err != nil {
		return nil, err
	}
	return slices.Concat(source, []byte("\nstream\n"), encoded, []byte("\nendstream")), nil
}

// renumber returns the source text of an object with references to the copies.
func (i *importer) renumber(source []byte) (out []byte, err error) {
	done := 0
	p := &parser{buf: source, final: true}
	p.reference = func(start int, ref Ref) {
		out = append(out, source[done:start]...)
		out = append(out, i.reference(ref)...)
		done = p.pos
	}
	if _, err := p.object(); err != nil {
		return nil, err
	}
	out = append(out, source[done:]...)
	return out, i.checkLimits(0)
}

// reference returns the source text of a reference to the copy of an object, or null.
func (i *importer) reference(ref Ref) string {
	if e := i.from.entries.get(ref.Num); i.excluded[ref] || e.kind == freeEntry || e.gen != ref.Gen {
		return "null"
	}
	if _, ok := i.copies[ref]; !ok {
		i.copies[ref] = i.update.Reserve()
		i.queue = append(i.queue, ref)
	}
	return i.copies[ref].String()
}

func (i *importer) checkLimits(bytes int) error {
	if i.bytes += bytes; i.bytes > maxImportedBytes || len(i.queue) > maxImported {
		return fmt.Errorf("%w: %d objects and %d bytes to import", ErrLimit, len(i.queue), i.bytes)
	}
	return i.from.CheckBudget()
}

// pageTree returns the references of the catalog and of the nodes of the page tree.
func (f *File) pageTree() (map[Ref]bool, error) {
	catalog, dict, err := f.catalog()
	if err != nil {
		return nil, err
	}
	nodes := map[Ref]bool{catalog: true}
	w := &pageTreeWalk{file: f, seen: nodes, visit: func(leaf Ref, _ Dict, _ inheritable) error {
		nodes[leaf] = true
		return nil
	}}
	root, ok := dict["Pages"].(Ref)
	if !ok {
		return nil, fmt.Errorf("%w: no page tree", ErrNoPages)
	}
	return nodes, w.node(root, inheritable{}, 0)
}
