package pades_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
)

// structure is what pdfcpu sees: how many pages, which bookmarks, which fields. It panics
// over some files, which is the same as an error here: they are not compared.
func structure(_ *testing.T, path string) (seen []string, err error) {
	defer func() {
		if v := recover(); v != nil {
			seen, err = nil, fmt.Errorf("panic: %v", v)
		}
	}()
	content, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer content.Close()
	ctx, err := api.ReadContext(content, model.NewDefaultConfiguration())
	if err != nil {
		return nil, err
	}
	if err := ctx.EnsurePageCount(); err != nil {
		return nil, err
	}
	seen = append(seen, fmt.Sprintf("pages %d", ctx.PageCount))
	seen = append(seen, bookmarks(ctx)...)
	fields, err := formFields(ctx)
	return append(seen, fields...), err
}

// bookmarks are those of the outline, which pdfcpu looks for only when it validates.
func bookmarks(ctx *model.Context) (seen []string) {
	root, err := ctx.Catalog()
	if err == nil {
		ctx.Outlines, err = ctx.DereferenceDict(root["Outlines"])
	}
	var list []pdfcpu.Bookmark
	if err == nil {
		list, err = pdfcpu.Bookmarks(ctx)
	}
	if err != nil {
		return []string{"bookmarks: " + err.Error()}
	}
	var walk func(list []pdfcpu.Bookmark, depth int)
	walk = func(list []pdfcpu.Bookmark, depth int) {
		for _, b := range list {
			seen = append(seen, fmt.Sprintf("bookmark %d %q to page %d", depth, b.Title, b.PageFrom))
			walk(b.Kids, depth+1)
		}
	}
	walk(list, 0)
	return seen
}

// formFields are the fields with their names, types and values.
func formFields(ctx *model.Context) (seen []string, err error) {
	root, err := ctx.Catalog()
	if err != nil {
		return nil, err
	}
	form, err := ctx.DereferenceDict(root["AcroForm"])
	if err != nil || form == nil {
		return nil, err
	}
	w := fieldView{ctx: ctx, visited: make(map[int]bool)}
	err = w.walk(form["Fields"], "", "")
	slices.Sort(w.seen)
	return w.seen, err
}

type fieldView struct {
	ctx     *model.Context
	visited map[int]bool
	seen    []string
}

func (w *fieldView) walk(o types.Object, parent, kind string) error {
	fields, err := w.ctx.DereferenceArray(o)
	if err != nil {
		return err
	}
	for _, item := range fields {
		if ref, ok := item.(types.IndirectRef); ok {
			if w.visited[ref.ObjectNumber.Value()] {
				continue
			}
			w.visited[ref.ObjectNumber.Value()] = true
		}
		field, err := w.ctx.DereferenceDict(item)
		if err != nil {
			return err
		}
		if err := w.field(field, parent, kind); err != nil {
			return err
		}
	}
	return nil
}

func (w *fieldView) field(field types.Dict, parent, kind string) error {
	name := parent
	if t, err := w.ctx.Dereference(field["T"]); err == nil && t != nil {
		name += "." + t.String()
	}
	if t, err := w.ctx.Dereference(field["FT"]); err == nil && t != nil {
		kind = t.String()
	}
	value := "none"
	if v, err := w.ctx.Dereference(field["V"]); err == nil && v != nil {
		value = fmt.Sprintf("%T %.200s", v, v)
	}
	w.seen = append(w.seen, fmt.Sprintf("field %s %s %s", name, kind, value))
	return w.walk(field["Kids"], name, kind)
}

// structureFault: all is as it was, and there is one signature field more.
func structureFault(before, after []string) string {
	added := slices.Clone(after)
	for _, was := range before {
		i := slices.Index(added, was)
		if i < 0 {
			return fmt.Sprintf("gone: %.100s", was)
		}
		added = slices.Delete(added, i, i+1)
	}
	isSignature := func(s string) bool { return strings.HasPrefix(s, "field ") && strings.Contains(s, " Sig ") }
	if len(added) != 1 || !isSignature(added[0]) {
		return fmt.Sprintf("%d things more than there were: %.200q", len(added), added)
	}
	return ""
}
