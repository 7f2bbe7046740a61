package diff

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/pades/internal/form"
)

// graph has every object that the trailer of a revision leads to, in each of its positions.
type graph struct {
	ctx       context.Context
	file      *pdf.File
	positions map[pdf.Ref][]*position
	// laterGenerations has the references with a generation other than 0, by object number.
	laterGenerations map[uint32][]pdf.Ref
	pointedAt        map[uint32]bool    // numbers of the objects that a reference only points at
	pages            map[pdf.Ref]int    // page numbers, from 1
	fieldNames       map[string]pdf.Ref // fields by their fully qualified names
	frame            map[pdf.Ref]bool   // objects that have a role of the frame, see role
	// queues are the positions to be expanded: of the form, of the rest of the frame, and others.
	queues        [3][]*position
	duplicateKeys bool // a dictionary that was read has two values for a key
	// unreadable has the numbers of the objects that cannot be read or do not end within the file.
	unreadable map[uint32]bool
	count      *int // the number of positions in the graphs of all revisions
}

// position is a place of an object in the document, with the role that the object has there.
type position struct {
	ref   pdf.Ref // the object, or the indirect object that contains it
	role  role
	from  *position // the position that leads to this one; nil: the trailer does
	step  string    // the key or index in the object of from, or in the trailer
	page  int       // number of the page that shows the object; 0: none or several
	field string    // fully qualified name of the field that has the object; "": none or several
}

// maxPositions bounds the positions in the graphs of all revisions together. maxCount bounds them
// by the size of the document too, since a position takes some bytes of it, unless one array of
// references is used in many places.
const maxPositions = 1 << 20

// readGraph reads the graph of a file.
func readGraph(ctx context.Context, file *pdf.File, count *int) (*graph, error) {
	g := &graph{
		ctx: ctx, file: file, positions: make(map[pdf.Ref][]*position), laterGenerations: make(map[uint32][]pdf.Ref),
		pointedAt: make(map[uint32]bool), fieldNames: make(map[string]pdf.Ref), frame: make(map[pdf.Ref]bool),
		unreadable: make(map[uint32]bool), count: count,
	}
	if err := g.numberPages(); err != nil {
		return nil, err
	}
	for _, entry := range trailerEntries {
		g.reach(&position{role: entry.role, step: string(entry.key)}, file.Trailer()[entry.key])
	}
	return g, g.expandAll()
}

func (g *graph) maxCount() int { return int(min(maxPositions, 1<<16+g.file.Size()/4)) }

// numberPages numbers the pages. If the page tree is damaged, the pages after the damage have no
// number.
func (g *graph) numberPages() error {
	g.pages = make(map[pdf.Ref]int)
	count := 0
	_, err := g.file.FindPage(func(ref pdf.Ref, _ pdf.Dict) bool {
		if count++; g.pages[ref] == 0 {
			g.pages[ref] = count
		}
		return false
	})
	if errors.Is(err, pdf.ErrNoPage) || errors.Is(err, pdf.ErrNoPages) {
		return nil
	}
	return pdf.IgnoreMalformed(err)
}

// reach adds what is at a position: the object that a reference leads to, or everything inside of a
// direct object.
func (g *graph) reach(p *position, o pdf.Object) {
	ref, ok := o.(pdf.Ref)
	if !ok {
		g.children(p, o)
		return
	}
	if !p.role.inFrame() && g.isPointer(ref, p.role) {
		g.pointedAt[ref.Num] = true
		return
	}
	p.ref = ref
	if p.role == annotation && g.isWidget(p) {
		return
	}
	if known := g.find(ref, p.role); known != nil {
		g.merge(known, p)
		return
	}
	g.add(p)
	if p.role.inFrame() {
		g.frame[ref] = true
	}
	g.queue(p)
}

// isPointer reports whether a reference only points at an object of the frame, as a destination
// points at a page. From an object that is drawn, only a reference to a page or a node of the page
// tree is a pointer. A stream is never part of the frame, whatever refers to it.
func (g *graph) isPointer(ref pdf.Ref, from role) bool {
	switch {
	case !g.frame[ref]:
		return false
	case from.isDrawn():
		return g.find(ref, page) != nil || g.find(ref, pageNode) != nil
	}
	o, err := g.file.Object(ref)
	_, isStream := o.(*pdf.Stream)
	return err == nil && !isStream
}

// isWidget reports whether an annotation is a field of the form, or a widget of one. It adds the
// page of the annotation to the field.
func (g *graph) isWidget(p *position) bool {
	known := g.find(p.ref, field)
	if known == nil {
		return false
	}
	g.merge(known, &position{page: p.page, field: known.field})
	return true
}

// merge notes that a position is reached in a second way. A position that is on two pages has no
// page, and one that belongs to two fields has no field.
func (g *graph) merge(known, other *position) {
	onPage, ofField := known.page, known.field
	if known.page == 0 && known.role == field { // the form does not state the page of a field
		onPage = other.page
	} else if onPage != other.page {
		onPage = 0
	}
	if ofField != other.field {
		ofField = ""
	}
	if onPage != known.page || ofField != known.field {
		known.page, known.field = onPage, ofField
		g.queue(known)
	}
}

// add adds a new position.
func (g *graph) add(p *position) {
	if p.ref.Gen != 0 && len(g.positions[p.ref]) == 0 {
		g.laterGenerations[p.ref.Num] = append(g.laterGenerations[p.ref.Num], p.ref)
	}
	g.positions[p.ref] = append(g.positions[p.ref], p)
	*g.count++
}

// remove removes a position, since its reference is a pointer (see isPointer).
func (g *graph) remove(p *position) {
	g.pointedAt[p.ref.Num] = true
	g.positions[p.ref] = slices.DeleteFunc(g.positions[p.ref], func(known *position) bool { return known == p })
	*g.count--
}

// find returns the position in which an object has a role; nil if the object does not have the
// role.
func (g *graph) find(ref pdf.Ref, r role) *position {
	for _, p := range g.positions[ref] {
		if p.role == r {
			return p
		}
	}
	return nil
}

// ofNumber returns the positions of all objects of a number. A reference names one generation, and
// is null if another generation is in use (ISO 32000-2 7.3.10), but some readers ignore the
// generation.
func (g *graph) ofNumber(num uint32) []*position {
	all := slices.Clone(g.positions[pdf.Ref{Num: num}])
	for _, ref := range g.laterGenerations[num] {
		all = append(all, g.positions[ref]...)
	}
	return all
}

// refersTo reports whether anything in the graph refers to an object of a number.
func (g *graph) refersTo(num uint32) bool { return g.pointedAt[num] || len(g.ofNumber(num)) > 0 }

// queue queues a position for expandAll. The form comes first, because it decides which annotations
// are fields.
func (g *graph) queue(p *position) {
	i := 2
	switch {
	case p.role <= field:
		i = 0
	case p.role.inFrame():
		i = 1
	}
	g.queues[i] = append(g.queues[i], p)
}

// expandAll expands positions until it reaches nothing new.
func (g *graph) expandAll() error {
	for i := 0; i < len(g.queues); i++ {
		if round := g.queues[i]; len(round) > 0 {
			g.queues[i] = nil
			if err := g.expandRound(round); err != nil {
				return err
			}
			i = -1 // start again: the new positions may be in an earlier queue
		}
	}
	return nil
}

func (g *graph) expandRound(round []*position) error {
	// Objects with neighbouring numbers are mostly in the same object stream.
	slices.SortStableFunc(round, func(a, b *position) int { return cmp.Compare(a.ref.Num, b.ref.Num) })
	for _, p := range round {
		if err := g.ctx.Err(); err != nil {
			return err
		}
		if *g.count > g.maxCount() {
			return fmt.Errorf("%w: objects that are compared", pdf.ErrLimit)
		}
		// The object may have become part of the frame after p was queued.
		if !p.role.inFrame() && g.isPointer(p.ref, p.role) {
			g.remove(p)
			continue
		}
		if err := g.expand(p); err != nil {
			return err
		}
	}
	return nil
}

// expand reads the object of a position and adds everything that it leads to.
func (g *graph) expand(p *position) error {
	o, ended, err := g.file.ObjectWithEnd(p.ref)
	if err != nil {
		g.unreadable[p.ref.Num] = true
		if spent := g.file.CheckBudget(); spent != nil {
			return spent
		}
		return pdf.IgnoreMalformed(err)
	}
	if !ended {
		g.unreadable[p.ref.Num] = true
	}
	g.children(p, o)
	return nil
}

// children adds everything that an object leads to.
func (g *graph) children(p *position, o pdf.Object) {
	switch o := o.(type) {
	case pdf.Ref: // the object is itself a reference
		g.reach(p.child("", p.role), o)
	case pdf.Array:
		for i, item := range o {
			if isCompound(item) {
				g.reach(p.child(strconv.Itoa(i), g.itemRole(p.role, item)), item)
			}
		}
	case *pdf.Stream:
		g.children(p, o.Dict)
	case pdf.Dict:
		g.identify(p, o)
		for _, key := range compoundKeys(o) {
			g.entry(p.child(string(key), g.entryRole(p, key, o)), o[key])
		}
	}
}

// entry adds what is under a key of a dictionary. An entry that is not followed only points at its
// object.
func (g *graph) entry(p *position, o pdf.Object) {
	if p.role != notFollowed {
		g.reach(p, o)
	} else if ref, ok := o.(pdf.Ref); ok {
		g.pointedAt[ref.Num] = true
	}
}

// compoundKeys returns the keys under which a dictionary may lead to other objects, in order.
func compoundKeys(d pdf.Dict) []pdf.Name {
	keys := make([]pdf.Name, 0, len(d))
	for key, o := range d {
		if isCompound(o) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// isCompound reports whether an object can lead to other objects.
func isCompound(o pdf.Object) bool {
	switch o.(type) {
	case pdf.Ref, pdf.Array, pdf.Dict, *pdf.Stream:
		return true
	}
	return false
}

// itemRole returns the role of an item of an array that has role r.
func (g *graph) itemRole(r role, item pdf.Object) role {
	switch r {
	case formFields:
		return field
	case pageAnnotations:
		return annotation
	case pageKids:
		if node, err := g.file.Dict(item); err == nil && node["Kids"] != nil && node["Type"] != pdf.Name("Page") {
			return pageNode
		}
		return page
	}
	return r
}

// entryRole returns the role of what is under a key of a dictionary. The value of a signature field
// is a signature. A Parent that does not lead to the page or field in its tree is an ancestor.
func (g *graph) entryRole(p *position, key pdf.Name, d pdf.Dict) role {
	switch {
	case p.role == field && key == "V" && fieldType(g.file, d) == "Sig":
		return signatureValue
	case key == "Parent" && p.role.inherits() && d[key] != p.parentNode():
		return ancestor
	}
	return p.role.under(key)
}

// identify notes which page a dictionary is, or which field.
func (g *graph) identify(p *position, d pdf.Dict) {
	switch p.role {
	case page:
		p.page = g.pages[p.ref]
	case field:
		name, own := form.QualifiedName(g.file, d, p.from.field)
		if p.field = name; own {
			g.fieldNames[name] = p.ref
		}
	}
}

// child returns the position of a part of the object of p.
func (p *position) child(step string, r role) *position {
	return &position{ref: p.ref, role: r, from: p, step: step, page: p.page, field: p.field}
}

// parentNode returns the node above p in the tree of pages or fields; nil if there is none.
func (p *position) parentNode() pdf.Object {
	for at := p.from; at != nil; at = at.from {
		if at.role == pageNode || at.role == field {
			return at.ref
		}
	}
	return nil
}

// path returns the keys and indexes that lead to a position from the catalog, or else from the
// trailer. It returns only the end of a long path: the names in a hostile file may have megabytes.
func (p *position) path() string {
	const longest = 512 // bytes
	path := ""
	for p != nil && !(p.from == nil && p.role == catalog) {
		if len(path)+len(p.step) >= longest {
			return "…" + path
		}
		path, p = "/"+p.step+path, p.from
	}
	return path
}
