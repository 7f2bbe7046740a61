package pades

import (
	"errors"
	"fmt"

	"github.com/innsigli/innsigli/internal/pdf"
)

// Visible is a place on a page, with what is drawn in it. Behind a certification that permits
// signatures (ISO 32000-2 table 257) validators differ: EU DSS takes a new field that is shown
// for one, pyHanko by default for a change of what was certified; of a field that was there
// already, neither says so.
type Visible struct {
	Page int // the first is 1; else [ErrPage]
	// Rect is in the page's user space, as annotations have it (ISO 32000-2 8.3.2.3): where
	// the page is not turned by Rotate, shifted by a crop box or scaled by UserUnit. Its sides
	// are from 0.01 to 32767 units long, and no coordinate is farther than 32767 from the origin;
	// else [ErrRect].
	Rect Rect
	// Appearance is a PDF of one page, as [Options] has it for a Field. It is drawn upright on
	// the page as displayed, as large as fits and centred.
	Appearance []byte
}

// Rect is a rectangle by its lower left and its upper right corner.
type Rect struct{ LLX, LLY, URX, URY float64 }

// maxReal is the largest real number that PDF/A-1 allows in a file (ISO 19005-1 6.1.12).
const maxReal = 32767

// minSide is the least length of a rectangle's side: as a number in a file it has one.
const minSide = 0.01

// check refuses a rectangle that nobody sees, or that not every file can say. A value that is
// no number fails all comparisons.
func (r Rect) check() error {
	size := r.box()
	inRange := min(r.LLX, r.LLY) >= -maxReal && max(r.URX, r.URY) <= maxReal
	if !inRange || !(min(size.width, size.height) >= minSide && max(size.width, size.height) <= maxReal) {
		return fmt.Errorf("%w: from (%g, %g) to (%g, %g)", ErrRect, r.LLX, r.LLY, r.URX, r.URY)
	}
	return nil
}

func (r Rect) box() box { return box{r.URX - r.LLX, r.URY - r.LLY} }

// source is the array that the rectangle is in a file.
func (r Rect) source() []byte { return fmt.Appendf(nil, "[%s]", numbers(r.LLX, r.LLY, r.URX, r.URY)) }

// newField is a signature field to add.
type newField struct {
	name         string // partial name
	title        string // what a screen reader says
	signature    pdf.Ref
	appearance   bool // PDF/A-1 has every field have some, be it empty (ISO 19005-1 6.9)
	visible      *Visible
	sharedAnnots bool // are the page's annotations with another page, which is not to show it
}

// addField adds a signature field with the signature as its value: to the form,
// which is made when there is none, and as a widget to the page (ISO 32000-2 12.7.5.5). What is there already is patched and not rewritten: a
// signature made earlier covers its meaning.
func addField(file *pdf.File, update *pdf.Update, page *pdf.Page, f newField) (pdf.Ref, error) {
	catalogRef, catalog, err := file.Catalog()
	if err != nil {
		return pdf.Ref{}, err
	}
	field := update.Reserve()
	drawn, err := f.draw(update, page.Rotate)
	if err != nil {
		return pdf.Ref{}, err
	}
	update.Set(field, f.source(page.Ref, drawn))
	if err := f.addToPage(file, update, page, field); err != nil {
		return pdf.Ref{}, fmt.Errorf("adding the widget to the page: %w", err)
	}
	if err := addToForm(file, update, catalogRef, catalog, field); err != nil {
		return pdf.Ref{}, fmt.Errorf("adding the field to the form: %w", err)
	}
	return field, nil
}

// draw adds the appearance of a field on a page that is displayed turned by rotate degrees,
// and returns the entry of the widget's source that names it, if any.
func (f newField) draw(update *pdf.Update, rotate int) (entry string, err error) {
	if !f.appearance {
		return "", nil
	}
	var appearance pdf.Ref
	if f.visible == nil {
		appearance, err = addAppearance(update, 0, 0, 0, nil)
	} else {
		size := f.visible.Rect.box()
		appearance, err = addAppearance(update, rotate, size.width, size.height, f.visible.Appearance)
	}
	return fmt.Sprintf(" /AP << /N %s >>", appearance), err
}

// source is the field and its widget in one dictionary. The flags are Print and Locked
// (ISO 32000-2 table 167); drawn is the entry of its appearance, if any.
func (f newField) source(page pdf.Ref, drawn string) []byte {
	var rect Rect
	if f.visible != nil {
		rect = f.visible.Rect
	}
	return fmt.Appendf(nil, "<< /Type /Annot /Subtype /Widget /FT /Sig /T %s /TU %s /V %s /P %s /Rect %s%s /F 132 >>",
		pdf.TextString(f.name), pdf.TextString(f.title), f.signature, page, rect.source(), drawn)
}

// addToPage appends the widget of a new field to the annotations of its page. An array that
// is another page's too stays as it is, and this page gets a longer copy of it.
func (f newField) addToPage(file *pdf.File, update *pdf.Update, page *pdf.Page, widget pdf.Ref) error {
	return patchObject(update, page.Ref, func(source []byte) ([]byte, error) {
		if f.sharedAnnots {
			return copyAnnotations(file, update, source, page, widget)
		}
		return appendReference(file, update, source, page.Dict, "Annots", widget)
	})
}

// ownAnnotations gives a page, whose source it returns, an array of its own.
func copyAnnotations(file *pdf.File, update *pdf.Update, source []byte, page *pdf.Page, widget pdf.Ref) ([]byte, error) {
	ref, _ := file.LastReference(page.Dict["Annots"])
	shared, err := update.Source(ref)
	if err != nil {
		return nil, err
	}
	own, err := pdf.AppendItem(shared, []byte(widget.String()))
	if err != nil {
		return nil, err
	}
	return pdf.SetKey(source, "Annots", []byte(update.Add(own).String()))
}

func addToForm(file *pdf.File, update *pdf.Update, catalogRef pdf.Ref, catalog pdf.Dict, field pdf.Ref) error {
	form, err := file.Dict(catalog["AcroForm"])
	if err != nil {
		return err
	}
	if form == nil {
		return patchObject(update, catalogRef, func(source []byte) ([]byte, error) {
			made := update.Add(fmt.Appendf(nil, "<< /Fields [%s] /SigFlags 3 >>", field))
			return pdf.SetKey(source, "AcroForm", []byte(made.String()))
		})
	}
	return patchCatalog(file, update, "AcroForm", func(source []byte) ([]byte, error) {
		return patchForm(file, update, source, form, field)
	})
}

// patchForm adds the field and says that there are signatures. It returns nil when the
// form's own source stays as it is.
func patchForm(file *pdf.File, update *pdf.Update, source []byte, form pdf.Dict, field pdf.Ref) ([]byte, error) {
	patched, err := appendReference(file, update, source, form, "Fields", field)
	if err != nil {
		return nil, err
	}
	if patched == nil {
		return setSigFlags(file, source, form)
	}
	flagged, err := setSigFlags(file, patched, form)
	if flagged == nil {
		return patched, err
	}
	return flagged, err
}

// page is the page that a new field is on.
func (o Options) page(file *pdf.File) (*pdf.Page, error) {
	if o.Visible == nil {
		return file.Page(1)
	}
	page, err := file.Page(o.Visible.Page)
	if errors.Is(err, pdf.ErrNoPage) {
		return nil, fmt.Errorf("%w: %v", ErrPage, err)
	}
	return page, err
}

// title is what a screen reader says of a new field (ISO 14289-1 7.18.4): whose signature
// it is, where that is to be seen as well.
func (o Options) title() string {
	if o.Visible == nil || o.Name == "" {
		return "Digital signature"
	}
	return "Digital signature of " + o.Name
}

// shares reports whether a field that is to be seen would be seen on other pages as well: one
// array can be the annotations of several, though an annotation is only ever on one
// (ISO 32000-2 12.5.2).
func (o Options) sharesAnnots(file *pdf.File, page *pdf.Page) (bool, error) {
	if o.Visible == nil {
		return false, nil
	}
	array, err := file.Array(page.Dict["Annots"])
	if err != nil || array == nil {
		return false, err
	}
	ref, ok := file.LastReference(page.Dict["Annots"])
	if !ok {
		return false, nil
	}
	shared := false
	_, err = file.FindPage(func(other pdf.Ref, dict pdf.Dict) bool {
		its, ok := file.LastReference(dict["Annots"])
		shared = ok && its == ref && other != page.Ref
		return shared
	})
	if shared || errors.Is(err, pdf.ErrNoPage) {
		return shared, nil
	}
	return false, pdf.IgnoreMalformed(err) // of pages that cannot be reached nobody sees anything
}
