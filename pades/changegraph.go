package pades

import (
	"context"
	"errors"

	"github.com/innsigli/innsigli/internal/pdf"
)

// graph is what a revision of a document leads to, from its trailer on: every object with the
// roles that it has there.
type graph struct {
	ctx     context.Context
	file    *pdf.File
	known   map[pdf.Ref][]*position
	stale   map[uint32][]pdf.Ref // references to generations but the first, by number
	points  map[uint32]bool      // objects that something only points at
	pages   map[pdf.Ref]int      // their numbers, from 1
	names   map[string]pdf.Ref   // of fields
	frame   map[pdf.Ref]bool     // catalog, pages, fields, annotations: what others only point at
	next    [3][]*position       // not looked into yet: of the form, of the rest of the frame, and others
	doubled bool                 // a dictionary that was read has two values for a key
	unfit   map[uint32]struct{}  // objects that cannot be read, or that say they go on behind the end
	count   *int                 // of positions, of all graphs of the document
}

// position is where an object stands in a document, and as what.
type position struct {
	ref   pdf.Ref // itself, or the indirect object that it stands in
	role  role
	from  *position // that leads here
	step  string    // the key or index under which it does
	page  int       // that the object is seen on; 0: on none or many
	field string    // that it belongs to; "": to none or many
}

// maxPositions bounds the positions in all revisions that are compared, and so does the size of the
// document: each takes some of it, unless one array of references is put in many places.
const maxPositions = 1 << 20

// most is how many there may be.
func (g *graph) most() int { return int(min(maxPositions, 1<<16+g.file.Size()/4)) }

// readGraph reads the graph of a file.
func readGraph(ctx context.Context, file *pdf.File, count *int) (*graph, error) {
	g := &graph{
		ctx: ctx, file: file, known: make(map[pdf.Ref][]*position), names: make(map[string]pdf.Ref),
		stale: make(map[uint32][]pdf.Ref), points: make(map[uint32]bool), frame: make(map[pdf.Ref]bool), unfit: make(map[uint32]struct{}), count: count,
	}
	if err := g.numberPages(); err != nil {
		return nil, err
	}
	for _, entry := range trailerEntries {
		g.lead(&position{role: entry.role, step: string(entry.key)}, file.Trailer()[entry.key])
	}
	return g, g.follow()
}

// trailerEntries are those that lead to objects. Others are about the cross-reference.
var trailerEntries = []struct {
	key  pdf.Name
	role role
}{{"Root", theCatalog}, {"Info", theDocumentInformation}, {"Encrypt", theEncryption}}

// numberPages numbers the pages. Where their tree is damaged, those behind have none.
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
	return notMalformed(err)
}

// lead notes what an object in a position leads to: itself, if it is a reference, or what is in it.
func (g *graph) lead(p *position, o pdf.Object) {
	ref, ok := o.(pdf.Ref)
	if !ok {
		g.children(p, o)
		return
	}
	if p.role.generic() && g.pointsAt(ref, p.role) {
		g.points[ref.Num] = true
		return
	}
	p.ref = ref
	if p.role == anAnnotation && g.isWidget(p) {
		return
	}
	if known := g.find(ref, p.role); known != nil {
		g.merge(known, p)
		return
	}
	g.note(p)
	if !p.role.generic() {
		g.frame[ref] = true
	}
	g.queue(p)
}

// queue has a position looked into. The form comes first: it says which annotations are fields.
func (g *graph) queue(p *position) {
	turn := 2
	switch {
	case p.role <= aField:
		turn = 0
	case !p.role.generic():
		turn = 1
	}
	g.next[turn] = append(g.next[turn], p)
}

// pointsAt says whether a reference is only a pointer at something in the frame, such as a
// destination. In what is drawn there are none, but at pages; and a stream is not of the frame,
// whatever else refers to it.
func (g *graph) pointsAt(ref pdf.Ref, from role) bool {
	switch {
	case !g.frame[ref]:
		return false
	case from.drawn():
		return g.find(ref, aPage) != nil || g.find(ref, thePages) != nil
	}
	o, err := g.file.Object(ref)
	_, isStream := o.(*pdf.Stream)
	return err == nil && !isStream
}

// isWidget says whether an annotation is a field of the form, or the widget of one, and notes its page.
func (g *graph) isWidget(p *position) bool {
	field := g.find(p.ref, aField)
	if field == nil {
		return false
	}
	g.merge(field, &position{page: p.page, field: field.field})
	return true
}

// merge notes that a position that is known is reached in another way, too. What is seen on two
// pages is on none in particular.
func (g *graph) merge(known, other *position) {
	page, field := known.page, known.field
	if known.page == 0 && known.role == aField { // the form does not say
		page = other.page
	} else if page != other.page {
		page = 0
	}
	if field != other.field {
		field = ""
	}
	if page != known.page || field != known.field {
		known.page, known.field = page, field
		g.queue(known)
	}
}
