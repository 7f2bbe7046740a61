package inspect

import (
	"context"
	"errors"
	"maps"
	"math/bits"
	"slices"

	"github.com/innsigli/innsigli/internal/pdf"
)

// A reason is one of the things that are reported. Reasons of one code differ in their sentence.
type reason uint8

const (
	script reason = iota
	script3D
	launch
	submit
	importData
	opensByItself
	xfa
	embeddedFile
	portfolio
	hiddenLayer
	printedLayer
	zoomLayer
	userLayer
	layerAction
	printedOnly
	shownOnly
	underPointer
	rollover
	hideAction
	media
	printedImage
	postScript
	printArea
	fixedPrint
	externalStream
	referenceObject
	opi
	unreadableObject
	unreadablePage
	tooLarge
	reasonCount
)

// sentences has the code and the sentence of each reason, without the object and the full stop.
var sentences = [reasonCount]struct {
	code Code
	text string
}{
	script:           {JavaScript, "An action runs JavaScript"},
	script3D:         {JavaScript, "A 3D view runs JavaScript"},
	launch:           {LaunchAction, "An action starts a program or opens a file with one"},
	submit:           {SubmitAction, "An action sends the data of the form"},
	importData:       {SubmitAction, "An action fills the form from another file"},
	opensByItself:    {ExternalReference, "An action opens another file or a web page without a click on a link"},
	xfa:              {XFA, "The form is an XFA form, which some viewers show in place of the pages"},
	embeddedFile:     {EmbeddedFiles, "The document contains another file"},
	portfolio:        {EmbeddedFiles, "The document is a portfolio: viewers show the files in it in place of the pages"},
	hiddenLayer:      {HiddenLayers, "A layer with content is hidden and can be shown"},
	printedLayer:     {HiddenLayers, "A layer is printed otherwise than it is shown"},
	zoomLayer:        {HiddenLayers, "A layer is shown at some magnifications only"},
	userLayer:        {HiddenLayers, "A layer is shown to some users or for some languages only"},
	layerAction:      {HiddenLayers, "An action shows or hides layers"},
	printedOnly:      {PrintDiffers, "An annotation is printed but not shown"},
	shownOnly:        {PrintDiffers, "An annotation is shown but not printed"},
	underPointer:     {PrintDiffers, "An annotation is shown only while the pointer is over it"},
	rollover:         {PrintDiffers, "An annotation looks different while the pointer is over it"},
	hideAction:       {PrintDiffers, "An action shows or hides annotations"},
	media:            {PrintDiffers, "An annotation plays something that is not printed"},
	printedImage:     {PrintDiffers, "Another image is printed than is shown"},
	postScript:       {PrintDiffers, "A PostScript program is printed but not shown"},
	printArea:        {PrintDiffers, "Another part of the pages is printed than is shown"},
	fixedPrint:       {PrintDiffers, "A watermark is printed at another place than it is shown"},
	externalStream:   {ExternalReference, "Content is in another file"},
	referenceObject:  {ExternalReference, "A page of another file is shown or printed in place of this content"},
	opi:              {ExternalReference, "An image of another file is printed in place of this one"},
	unreadableObject: {NotFullyInspected, "An object cannot be read"},
	unreadablePage:   {NotFullyInspected, "The page cannot be read"},
	tooLarge:         {NotFullyInspected, "The document is too large or too deeply nested to be inspected"},
}

// reasons is a set of reasons, one bit for each.
type reasons uint64

func set(r reason) reasons { return 1 << r }

// Bounds of a walk.
const (
	maxObjects = 500_000 // objects visited
	maxNested  = 1_000   // objects visited one inside the other
	maxPlaces  = 10_000  // places noted
)

// A walk visits the objects of a document, depth first. The same resource is often on many pages, so the walk remembers
// what is in and beneath each object, and reports that again for the next page without visiting it again. In a circle
// of objects, a page that enters it elsewhere may lack what an earlier page reports.
type walk struct {
	ctx     context.Context
	file    *pdf.File
	rebuilt bool
	layers  *layers
	pages   map[pdf.Ref]bool // of the page tree
	page    int              // that is visited; 0: the catalog
	seen    map[visit]reasons
	places  map[place]pdf.Ref
	queue   []visit // objects of the catalog that wait: lists such as that of bookmarks are too long to be nested
	objects int
	err     error // of ctx or the reader, or pdf.ErrMisplaced
}

// A visit is an object and how the walk came to it.
type visit struct {
	pdf.Ref
	auto   bool // the document comes to it by itself, without a click
	parent bool // it is the Parent of another object, such as the field of a widget; its Kids are not visited
}

// A place is a reason on a page.
type place struct {
	page   int
	reason reason
}

// found notes a reason with the first object of the page that is known to have it.
func (w *walk) found(page int, object pdf.Ref, r reason) reasons {
	if w.places == nil {
		w.places = map[place]pdf.Ref{}
	}
	p := place{page, r}
	if _, ok := w.places[p]; !ok && len(w.places) < maxPlaces {
		w.places[p] = object
	}
	return set(r)
}

// again notes what is in and beneath an object that was visited before.
func (w *walk) again(object pdf.Ref, all reasons) reasons {
	for left := all; left != 0; left &= left - 1 {
		w.found(w.page, object, reason(bits.TrailingZeros64(uint64(left))))
	}
	return all
}

// readPages reads which objects are pages. What the page tree has beyond a bound counts as an object like others.
func (w *walk) readPages() {
	w.pages = map[pdf.Ref]bool{}
	w.file.EachPage(func(page *pdf.Page, err error) error { // visiting the pages returns the same error
		if err == nil {
			w.pages[page.Ref] = true
		}
		if len(w.pages) == maxObjects {
			return pdf.ErrLimit
		}
		return nil
	})
}

// visitPage visits what a page shows. The document comes by itself to actions of the page, but not to those of its
// annotations. An annotation that is in the page tree too can have a field as its Parent; that of other pages is a node.
func (w *walk) visitPage(page *pdf.Page) error {
	own := maps.Clone(page.Dict)
	delete(own, "Annots")
	delete(own, "Resources")
	if !w.isAnnotation(own) {
		delete(own, "Parent")
	}
	w.dict(own, position{object: page.Ref, auto: true})
	w.value(page.Dict["Annots"], position{object: page.Ref})
	w.value(page.Resources, position{object: page.Ref})
	return w.err
}

// visitCatalog visits what is not part of a page (7.7.2). It does not report again what a page has.
func (w *walk) visitCatalog(catalog pdf.Dict) error {
	w.page = 0
	root := w.file.Trailer()["Root"].(pdf.Ref) // Catalog has returned it
	if form, err := w.file.Dict(catalog["AcroForm"]); w.readable(err, root) && form["XFA"] != nil {
		w.found(0, root, xfa)
	}
	if catalog["Collection"] != nil {
		w.found(0, root, portfolio)
	}
	if printsOtherArea(w.file, catalog) {
		w.found(0, root, printArea)
	}
	rest := maps.Clone(catalog)
	for _, key := range []pdf.Name{"Pages", "OCProperties"} {
		delete(rest, key)
	}
	w.dict(rest, position{object: root})
	for len(w.queue) > 0 && w.err == nil {
		next := w.queue[len(w.queue)-1]
		w.queue = w.queue[:len(w.queue)-1]
		w.object(next, 0)
	}
	return w.err
}

// printsOtherArea reports whether the viewer preferences have another box printed than shown (Table 147).
func printsOtherArea(file *pdf.File, catalog pdf.Dict) bool {
	preferences, err := file.Dict(catalog["ViewerPreferences"])
	if err != nil {
		return false
	}
	box := func(key pdf.Name) pdf.Name {
		name, err := file.Name(preferences[key])
		if err != nil || name == "" {
			return "CropBox"
		}
		return name
	}
	return box("ViewArea") != box("PrintArea") || box("ViewClip") != box("PrintClip")
}

// A position says how the walk came to a value.
type position struct {
	object pdf.Ref // that has the value
	auto   bool    // the document follows actions here by itself
	parent bool    // the value is that of the key Parent
	depth  int
}

// readable reports whether a value was read. Else it notes that, or keeps the error that ends the walk.
func (w *walk) readable(err error, object pdf.Ref) bool {
	switch {
	case err == nil:
		return true
	case errors.Is(err, pdf.ErrMisplaced) && !w.rebuilt, pdf.IgnoreMalformed(err) != nil:
		w.err = err
	case w.file.CheckBudget() != nil:
		w.found(0, pdf.Ref{}, tooLarge)
	default:
		w.found(w.page, object, unreadableObject)
	}
	return false
}

// value visits a value and what is beneath it.
func (w *walk) value(o pdf.Object, c position) reasons {
	if w.err != nil {
		return 0
	}
	if c.depth++; c.depth > maxNested {
		return w.found(0, pdf.Ref{}, tooLarge)
	}
	switch o := o.(type) {
	case pdf.Ref:
		return w.reference(o, c)
	case pdf.Dict:
		return w.dict(o, c)
	case pdf.Array:
		var all reasons
		for _, item := range o {
			switch item.(type) {
			case pdf.Ref, pdf.Dict, pdf.Array:
				all |= w.value(item, c)
			}
		}
		return all
	case *pdf.Stream:
		return w.stream(o, c)
	}
	return 0
}

// reference visits an object, unless it is a page or was visited before.
func (w *walk) reference(ref pdf.Ref, c position) reasons {
	if w.pages[ref] { // such as the target of a link
		return 0
	}
	all, isGroup := w.layers.group(ref)
	if isGroup {
		w.again(ref, all)
	}
	key := visit{ref, c.auto, c.parent}
	if beneath, ok := w.seen[key]; ok {
		if w.page == 0 {
			return all
		}
		return all | w.again(ref, beneath)
	}
	if w.err = w.ctx.Err(); w.err != nil { // the objects may be in memory
		return 0
	}
	if w.objects++; w.objects > maxObjects {
		return all | w.found(0, pdf.Ref{}, tooLarge)
	}
	w.seen[key] = 0 // until it is visited, in a circle
	if w.page == 0 {
		w.queue = append(w.queue, key)
		return all
	}
	return all | w.object(key, c.depth)
}

// object visits an object.
func (w *walk) object(key visit, depth int) reasons {
	o, err := w.file.Object(key.Ref)
	if !w.readable(err, key.Ref) {
		return 0
	}
	if dict, ok := o.(pdf.Dict); ok {
		o = w.unvisited(dict, key)
	}
	all := w.value(o, position{object: key.Ref, auto: key.auto, depth: depth})
	w.seen[key] = all
	return all
}

// unvisited returns what to visit in the dictionary of an object. A parent is visited without its Kids, which are on
// other pages too. What its children have reported of it, the catalog does not report again.
func (w *walk) unvisited(d pdf.Dict, key visit) pdf.Dict {
	if key.parent {
		d = maps.Clone(d)
		delete(d, "Kids")
		return d
	}
	if _, ok := w.seen[visit{key.Ref, key.auto, true}]; ok && w.page == 0 {
		return pdf.Dict{"Kids": d["Kids"]}
	}
	return d
}

// ignored are the keys whose values lead back, to the structure tree or to places in the document, and have no actions.
// The key P of an annotation is its page.
var ignored = map[pdf.Name]bool{
	"P": true, "Pg": true, "StructTreeRoot": true, "ParentTree": true,
	"B": true, "Dest": true, "Dests": true, "Threads": true, "Metadata": true, "PieceInfo": true,
}

func (w *walk) dict(d pdf.Dict, c position) reasons {
	var all reasons
	isMembership := w.name(d["Type"]) == "OCMD"
	if isMembership {
		all |= w.again(c.object, w.layers.membership(d))
	}
	if w.isAnnotation(d) {
		c.auto = false
	}
	all |= w.action(d, c) | w.drawn(d, c) | w.annotation(d, c)
	if d["EF"] != nil {
		all |= w.found(w.page, c.object, embeddedFile)
	}
	for _, key := range slices.Sorted(maps.Keys(d)) {
		switch value := d[key].(type) {
		case pdf.Ref, pdf.Dict, pdf.Array:
			if ignored[key] || key == "State" && d["S"] == pdf.Name("SetOCGState") || isMembership && (key == "OCGs" || key == "VE") {
				continue
			}
			next := c
			next.auto = c.auto || key == "AA" || key == "OpenAction"
			next.parent = key == "Parent"
			all |= w.value(value, next)
		}
	}
	return all
}

// stream visits the dictionary of a stream. An embedded file has no F: its file specification has one.
func (w *walk) stream(s *pdf.Stream, c position) reasons {
	all := w.dict(s.Dict, c)
	if s.Dict["F"] != nil {
		all |= w.found(w.page, c.object, externalStream)
	}
	if s.Dict["OnInstantiate"] != nil { // of a 3D stream (Table 311)
		all |= w.found(w.page, c.object, script3D)
	}
	return all
}

// actions are the reasons to report a type of action (12.6.4).
var actions = map[pdf.Name]reason{
	"JavaScript": script, "Launch": launch, "SubmitForm": submit, "ImportData": importData,
	"SetOCGState": layerAction, "Hide": hideAction,
}

// action reports an action. A dictionary counts as one because of its S, wherever it is.
func (w *walk) action(d pdf.Dict, c position) reasons {
	kind := w.name(d["S"])
	switch r, ok := actions[kind]; {
	case ok:
		return w.found(w.page, c.object, r)
	case kind == "Rendition" && d["JS"] != nil:
		return w.found(w.page, c.object, script)
	case c.auto && (kind == "URI" || kind == "GoToR" || kind == "GoToE" || kind == "Thread" && d["F"] != nil):
		return w.found(w.page, c.object, opensByItself)
	}
	return 0
}

// drawn reports an XObject that shows or prints something else than its content.
func (w *walk) drawn(d pdf.Dict, c position) reasons {
	kind := w.name(d["Subtype"])
	if kind != "Form" && kind != "Image" && kind != "PS" {
		return 0
	}
	var all reasons
	if kind == "PS" || kind == "Form" && w.name(d["Subtype2"]) == "PS" {
		all |= w.found(w.page, c.object, postScript)
	}
	if kind == "Form" && d["Ref"] != nil {
		all |= w.found(w.page, c.object, referenceObject)
	}
	if d["OPI"] != nil {
		all |= w.found(w.page, c.object, opi)
	}
	if alternates, err := w.file.Array(d["Alternates"]); kind == "Image" && w.readable(err, c.object) {
		for _, o := range alternates {
			alternate, err := w.file.Dict(o)
			if printing, boolErr := w.file.Bool(alternate["DefaultForPrinting"]); w.readable(errors.Join(err, boolErr), c.object) && printing {
				all |= w.found(w.page, c.object, printedImage)
			}
		}
	}
	return all
}

// name returns the name that o is or refers to, or "" if it is something else.
func (w *walk) name(o pdf.Object) pdf.Name {
	if ref, ok := o.(pdf.Ref); ok {
		resolved, err := w.file.Resolve(ref)
		if err != nil {
			return ""
		}
		o = resolved
	}
	name, _ := o.(pdf.Name)
	return name
}
