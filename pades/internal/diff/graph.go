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

// graph is all that a revision leads to from its trailer on: every object in each of its positions.
type graph struct {
	ctx       context.Context
	file      *pdf.File
	positions map[pdf.Ref][]*position
	// laterGenerations are the references to generations but the first, by object number.
	laterGenerations map[uint32][]pdf.Ref
	pointedAt        map[uint32]bool    // numbers of objects that something points at
	pages            map[pdf.Ref]int    // their numbers, from 1
	fieldNames       map[string]pdf.Ref // fully qualified
	frame            map[pdf.Ref]bool   // objects that have a role of the frame
	queues           [3][]*position     // to be expanded: of the form, of the rest of the frame, and others
	duplicateKeys    bool               // a dictionary that was read has two values for a key
	unreadable       map[uint32]bool    // numbers of objects that cannot be read, or do not end within the file
	count            *int               // of positions, in the graphs of all revisions
}

// position is where an object is in a document, and as what.
type position struct {
	ref   pdf.Ref // the object, or the indirect object that it stands in
	role  role
	from  *position // that leads here
	step  string    // the key or index under which it does
	page  int       // on which the object is seen; 0: on none or several
	field string    // fully qualified name of the field that it belongs to; "": to none or several
}

// maxPositions bounds the positions in all revisions together. The size of the document bounds them too, since a
// position takes some bytes of it, unless one array of references is used in many places.
const maxPositions = 1 << 20

func (g *graph) maxCount() int { return int(min(maxPositions, 1<<16+g.file.Size()/4)) }

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

// numberPages numbers the pages. Where their tree is damaged, the pages behind have no number.
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

// child is the position of what is in the object of a position.
func (p *position) child(step string, r role) *position {
	return &position{ref: p.ref, role: r, from: p, step: step, page: p.page, field: p.field}
}

// parentNode is the node of the tree of fields or pages that a node is below; nil where there is none.
func (p *position) parentNode() pdf.Object {
	for at := p.from; at != nil; at = at.from {
		if at.role == pageNode || at.role == field {
			return at.ref
		}
	}
	return nil
}

// path is the way to a position, from the catalog, or else from the trailer. Of a long way it is the end: names of a
// hostile file may have megabytes.
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

// reach notes what is at a position: the object that a reference leads to, or what is in any other object.
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

// add adds a position that is new.
func (g *graph) add(p *position) {
	if p.ref.Gen != 0 && len(g.positions[p.ref]) == 0 {
		g.laterGenerations[p.ref.Num] = append(g.laterGenerations[p.ref.Num], p.ref)
	}
	g.positions[p.ref] = append(g.positions[p.ref], p)
	*g.count++
}

// remove removes a position whose reference has turned out to be a pointer.
func (g *graph) remove(p *position) {
	g.pointedAt[p.ref.Num] = true
	g.positions[p.ref] = slices.DeleteFunc(g.positions[p.ref], func(known *position) bool { return known == p })
	*g.count--
}

// find returns the position in which an object has a role; nil: it has none.
func (g *graph) find(ref pdf.Ref, r role) *position {
	for _, p := range g.positions[ref] {
		if p.role == r {
			return p
		}
	}
	return nil
}

// ofNumber returns the positions of all objects of a number. A reference names one generation, and is null where another
// one is in use (ISO 32000-2 7.3.10), but some readers ignore the generation.
func (g *graph) ofNumber(num uint32) []*position {
	all := slices.Clone(g.positions[pdf.Ref{Num: num}])
	for _, ref := range g.laterGenerations[num] {
		all = append(all, g.positions[ref]...)
	}
	return all
}

// refersTo reports whether anything in the graph refers to an object of a number.
func (g *graph) refersTo(num uint32) bool { return g.pointedAt[num] || len(g.ofNumber(num)) > 0 }

// isPointer reports whether a reference only points at an object of the frame, as a destination does. What is drawn
// points at pages alone. A stream is never of the frame, whatever refers to it.
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

// isWidget reports whether an annotation is a field of the form or a widget of one, and notes the page of it.
func (g *graph) isWidget(p *position) bool {
	known := g.find(p.ref, field)
	if known == nil {
		return false
	}
	g.merge(known, &position{page: p.page, field: known.field})
	return true
}

// merge notes that a position is reached in a second way. What is seen on two pages is on none in particular.
func (g *graph) merge(known, other *position) {
	onPage, ofField := known.page, known.field
	if known.page == 0 && known.role == field { // the form does not say on which page a field is
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

// queue has a position expanded. The form comes first: it decides which annotations are fields.
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

// expandAll expands positions until nothing new is reached.
func (g *graph) expandAll() error {
	for i := 0; i < len(g.queues); i++ {
		if round := g.queues[i]; len(round) > 0 {
			g.queues[i] = nil
			if err := g.expandRound(round); err != nil {
				return err
			}
			i = -1 // what was reached may belong into an earlier queue
		}
	}
	return nil
}

func (g *graph) expandRound(round []*position) error {
	// Objects of neighbouring numbers are mostly in one object stream.
	slices.SortStableFunc(round, func(a, b *position) int { return cmp.Compare(a.ref.Num, b.ref.Num) })
	for _, p := range round {
		if err := g.ctx.Err(); err != nil {
			return err
		}
		if *g.count > g.maxCount() {
			return fmt.Errorf("%w: objects that are compared", pdf.ErrLimit)
		}
		if !p.role.inFrame() && g.isPointer(p.ref, p.role) { // known since it was queued
			g.remove(p)
			continue
		}
		if err := g.expand(p); err != nil {
			return err
		}
	}
	return nil
}

// expand reads the object of a position and notes what that leads to.
func (g *graph) expand(p *position) error {
	o, ended, err := g.file.EndedObject(p.ref)
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

// children notes what is in an object.
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

// entry notes what is under a key of a dictionary.
func (g *graph) entry(p *position, o pdf.Object) {
	if p.role != notFollowed {
		g.reach(p, o)
	} else if ref, ok := o.(pdf.Ref); ok {
		g.pointedAt[ref.Num] = true
	}
}

// compoundKeys are the keys of a dictionary under which it may lead to other objects, in their order.
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

// isCompound reports whether an object can lead to others.
func isCompound(o pdf.Object) bool {
	switch o.(type) {
	case pdf.Ref, pdf.Array, pdf.Dict, *pdf.Stream:
		return true
	}
	return false
}

// itemRole is the role of an item of an array of a role.
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

// entryRole is the role of what is under a key of a dictionary. The value of a signature field is a signature.
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
