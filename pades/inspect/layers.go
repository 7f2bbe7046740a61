package inspect

import (
	"github.com/innsigli/innsigli/internal/pdf"
)

// layers are the optional content groups of a document, with the state that its default configuration gives them
// (8.11.4).
type layers struct {
	file   *pdf.File
	groups map[pdf.Ref]layer
}

// A layer is an optional content group.
type layer struct {
	on      bool    // the state in the default configuration
	reasons reasons // to report it beside being off
}

// Bounds of layers.
const (
	maxLayers     = 10_000
	maxExpression = 32 // levels of a visibility expression
)

// readLayers reads the groups. What cannot be read is noted and counts as absent.
func (w *walk) readLayers(catalog pdf.Dict) *layers {
	l := &layers{file: w.file, groups: map[pdf.Ref]layer{}}
	root, _ := w.file.Trailer()["Root"].(pdf.Ref)
	properties, err := w.file.Dict(catalog["OCProperties"])
	if !w.readable(err, root) || properties == nil {
		return l
	}
	config, err := w.file.Dict(properties["D"])
	w.readable(err, root)
	groups := w.references(properties["OCGs"], root)
	if len(groups) > maxLayers {
		w.found(0, root, tooLarge)
		groups = groups[:maxLayers]
	}
	for _, ref := range groups {
		l.groups[ref] = layer{on: w.name(config["BaseState"]) != "OFF", reasons: w.usage(ref)}
	}
	for _, change := range []struct {
		key pdf.Name
		on  bool
	}{{"ON", true}, {"OFF", false}} {
		for _, ref := range w.references(config[change.key], root) {
			if g, ok := l.groups[ref]; ok {
				g.on = change.on
				l.groups[ref] = g
			}
		}
	}
	return l
}

// references returns the references in an array.
func (w *walk) references(o pdf.Object, object pdf.Ref) (list []pdf.Ref) {
	array, err := w.file.Array(o)
	w.readable(err, object)
	for _, item := range array {
		if ref, ok := item.(pdf.Ref); ok {
			list = append(list, ref)
		}
	}
	return list
}

// usage returns the reasons in the usage dictionary of a group (Table 100). Viewers differ in when they apply it, so it
// counts whether the configuration has it applied or not.
func (w *walk) usage(ref pdf.Ref) (all reasons) {
	group, err := w.file.Dict(ref)
	w.readable(err, ref)
	usage, err := w.file.Dict(group["Usage"])
	if !w.readable(err, ref) || usage == nil {
		return 0
	}
	state := func(event, key pdf.Name) pdf.Name {
		d, err := w.file.Dict(usage[event])
		w.readable(err, ref)
		return w.name(d[key])
	}
	shown, printed := state("View", "ViewState"), state("Print", "PrintState")
	if printed != "" && printed != shown && (shown != "" || printed == "OFF") {
		all |= set(printedLayer)
	}
	if usage["Zoom"] != nil {
		all |= set(zoomLayer)
	}
	if usage["User"] != nil || usage["Language"] != nil {
		all |= set(userLayer)
	}
	return all
}

// group returns the reasons to report content in a group. It reports false if the object is no group.
func (l *layers) group(ref pdf.Ref) (reasons, bool) {
	g, ok := l.groups[ref]
	if ok && !g.on {
		return g.reasons | set(hiddenLayer), true
	}
	return g.reasons, ok
}

// membership returns the reasons to report content that depends on several groups (8.11.2.2).
func (l *layers) membership(d pdf.Dict) reasons {
	var groups []pdf.Object
	switch list, err := l.file.Resolve(d["OCGs"]); {
	case err != nil:
	case list == nil:
	default:
		if array, ok := list.(pdf.Array); ok {
			groups = array
		} else {
			groups = []pdf.Object{d["OCGs"]}
		}
	}
	var all reasons
	on, off := 0, 0
	for _, o := range groups {
		ref, _ := o.(pdf.Ref)
		g, ok := l.groups[ref]
		switch {
		case !ok:
		case g.on:
			on++
		default:
			off++
		}
		all |= g.reasons
	}
	visible := true
	policy, _ := l.file.Name(d["P"])
	switch {
	case on+off == 0:
	case policy == "AllOn":
		visible = off == 0
	case policy == "AnyOff":
		visible = off > 0
	case policy == "AllOff":
		visible = on == 0
	default:
		visible = on > 0
	}
	if d["VE"] != nil { // it takes precedence
		visible = l.evaluate(d["VE"], &all, 0)
	}
	if !visible {
		all |= set(hiddenLayer)
	}
	return all
}

// evaluate returns the value of a visibility expression, and adds the reasons of its groups. An invalid expression is
// false, so that its content is reported.
func (l *layers) evaluate(o pdf.Object, all *reasons, depth int) bool {
	if ref, ok := o.(pdf.Ref); ok {
		if g, ok := l.groups[ref]; ok {
			*all |= g.reasons
			return g.on
		}
	}
	expression, err := l.file.Array(o)
	if err != nil || len(expression) < 2 || len(expression) > maxLayers || depth > maxExpression {
		return false
	}
	operator, _ := l.file.Name(expression[0])
	if operator == "Not" {
		return !l.evaluate(expression[1], all, depth+1)
	}
	and, or := true, false
	for _, operand := range expression[1:] {
		v := l.evaluate(operand, all, depth+1)
		and, or = and && v, or || v
	}
	return operator == "And" && and || operator == "Or" && or
}
