// Package inspect finds what makes a PDF look different to different readers: scripts, actions that change or
// send something, forms that replace the pages, attached files, layers and annotations that print otherwise than
// they show, and content that is in other files. What is signed is the file; these are the reasons why what a
// signer sees may not be what another reader of the same file sees.
//
//	warnings, err := inspect.PDF(ctx, file, size)
//	for _, w := range warnings {
//		fmt.Println(w.Code, w.Page, w.Detail)
//	}
//
// [PDF] reads the present revision of the file: what an earlier revision had and a later one removed is not
// reported. It looks at every object that the catalog leads to, except for the structure tree, and each object
// once. It runs nothing and decodes no content. Links to web pages and to other files are ordinary and are
// not reported, unless the document follows them by itself.
//
// The work is bounded, and the file may be hostile. What is beyond a bound, and what cannot be read, is
// reported as [NotFullyInspected]. Clauses in comments are those of ISO 32000-2:2020.
package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/innsigli/innsigli/internal/pdf"
)

// A Code is a kind of warning. Codes are stored.
type Code string

// The codes of warnings.
const (
	// JavaScript: the document has a script (12.6.4.17).
	JavaScript Code = "JavaScript"
	// LaunchAction: an action starts a program (12.6.4.6).
	LaunchAction Code = "LaunchAction"
	// SubmitAction: an action sends form data or imports it (12.7.6.2, 12.7.6.4).
	SubmitAction Code = "SubmitAction"
	// XFA: the form is described in XML, which some viewers show in place of the pages (12.7.8).
	XFA Code = "XFA"
	// EmbeddedFiles: the document contains other files (7.11.4).
	EmbeddedFiles Code = "EmbeddedFiles"
	// HiddenLayers: content is in layers that are hidden, that print otherwise than they show, or that depend on
	// the zoom or the user (8.11).
	HiddenLayers Code = "HiddenLayers"
	// PrintDiffers: an annotation or an image prints otherwise than it shows (12.5.3).
	PrintDiffers Code = "PrintDiffers"
	// ExternalReference: a part of the document is in another file (7.11), or the document opens one by itself.
	ExternalReference Code = "ExternalReference"
	// PageNotShown: a page that the server could not draw, or beyond the number that it shows. [PDF] draws no pages and does
	// not report it.
	PageNotShown Code = "PageNotShown"
	// NotFullyInspected: a part of the document cannot be read, or is too large.
	NotFullyInspected Code = "NotFullyInspected"
)

// Codes returns all codes.
func Codes() []Code {
	return []Code{JavaScript, LaunchAction, SubmitAction, XFA, EmbeddedFiles, HiddenLayers, PrintDiffers, ExternalReference, PageNotShown, NotFullyInspected}
}

// A Warning is a reason why a document may look different to different readers.
type Warning struct {
	Code   Code   `json:"code"`
	Detail string `json:"detail"` // an English sentence that names the object; it contains no text of the document
	Page   int    `json:"page"`   // the first is 1; 0: the whole document
}

// maxWarnings bounds the warnings about a document.
const maxWarnings = 100

// PDF returns the warnings about the PDF that r holds in its first size bytes, ordered by page and code. A document
// without them has none. A file that cannot be read at all is [NotFullyInspected]; an error is one of ctx or of r.
func PDF(ctx context.Context, r io.ReaderAt, size int64) ([]Warning, error) {
	list, err := pdf.Reading(contextReader{ctx, r}, func(r io.ReaderAt) ([]Warning, error) { return inspectReader(ctx, r, size) })
	switch {
	case ctx.Err() != nil: // what is beneath may have reported it as damage
		return nil, fmt.Errorf("inspect: %w", ctx.Err())
	case err == nil:
		return list, nil
	case isUnreadable(err):
		return append(list, Warning{NotFullyInspected, "The document cannot be read.", 0}), nil
	}
	return nil, fmt.Errorf("inspect: %w", err)
}

// inspectReader inspects a file, if need be without its cross-reference: viewers search a file for its objects when that
// is wrong.
func inspectReader(ctx context.Context, r io.ReaderAt, size int64) (list []Warning, err error) {
	file, err := pdf.Open(r, size)
	if err == nil {
		list, err = inspectFile(ctx, file, false)
	}
	if errors.Is(err, pdf.ErrDamaged) || errors.Is(err, pdf.ErrNoPages) {
		if file, err = pdf.RebuildForReading(r, size); err == nil {
			list, err = inspectFile(ctx, file, true)
		}
	}
	return list, err
}

// contextReader reads until its context is done.
type contextReader struct {
	ctx context.Context
	r   io.ReaderAt
}

func (r contextReader) ReadAt(p []byte, offset int64) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.ReadAt(p, offset)
}

// isUnreadable reports whether an error comes from the content of the file and not from its reader.
func isUnreadable(err error) bool {
	return errors.Is(err, pdf.ErrNotPDF) || errors.Is(err, pdf.ErrEncrypted) || errors.Is(err, pdf.ErrNoPages) ||
		pdf.IgnoreMalformed(err) == nil
}

// inspectFile inspects an open file. Unless the file was rebuilt, it returns pdf.ErrMisplaced for an object that is not
// where the cross-reference says.
func inspectFile(ctx context.Context, file *pdf.File, rebuilt bool) ([]Warning, error) {
	_, catalog, err := file.Catalog()
	if err != nil {
		return nil, err
	}
	w := &walk{ctx: ctx, file: file, rebuilt: rebuilt, seen: map[visit]reasons{}}
	w.layers = w.readLayers(catalog)
	w.readPages()
	err = file.EachPage(func(page *pdf.Page, err error) error {
		w.page++
		if err != nil {
			w.found(w.page, pdf.Ref{}, unreadablePage)
			return w.err
		}
		return w.visitPage(page)
	})
	if errors.Is(err, pdf.ErrLimit) {
		w.found(0, pdf.Ref{}, tooLarge)
		err = nil
	}
	if err != nil {
		return nil, err
	}
	if err := w.visitCatalog(catalog); err != nil {
		return nil, err
	}
	return w.warnings(), nil
}

// warnings returns the warnings about what was found.
func (w *walk) warnings() []Warning {
	var list []Warning
	for place, object := range w.places {
		list = append(list, place.warning(object))
	}
	slices.SortFunc(list, func(a, b Warning) int {
		return cmp.Or(cmp.Compare(a.Page, b.Page), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Detail, b.Detail))
	})
	if len(list) > maxWarnings {
		list = append(list[:maxWarnings-1:maxWarnings-1], Warning{NotFullyInspected, fmt.Sprintf("There are %d warnings; the others are not listed.", len(list)), 0})
	}
	return list
}

func (p place) warning(object pdf.Ref) Warning {
	text := sentences[p.reason].text
	if object != (pdf.Ref{}) {
		text += fmt.Sprintf(" (object %d)", object.Num)
	}
	return Warning{sentences[p.reason].code, text + ".", p.page}
}
