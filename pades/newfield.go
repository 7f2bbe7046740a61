package pades

import (
	"errors"
	"fmt"

	"github.com/innsigli/innsigli/internal/pdf"
)

// Visible places a new field on a page and gives its appearance. Validators differ about a visible
// field after a certification that permits signatures (ISO 32000-2 table 257): EU DSS accepts a new
// one as a permitted signature, while pyHanko by default reports a change of the certified content.
// Both accept a field that existed already. Package stamp draws appearances and finds free places;
// its Page.UserSpace returns the sides of a Rect.
type Visible struct {
	Page int // number of the page, the first being 1; else [ErrPage]
	// Rect is the rectangle of the field in the user space of the page, as for annotations
	// (ISO 32000-2 8.3.2.3): before the page is rotated by Rotate, shifted by its crop box and
	// scaled by UserUnit. Its sides are 0.01 to 32767 units long, and each coordinate is at most
	// 32767 units from the origin; else [ErrRect].
	Rect Rect
	// Appearance is a PDF of one page, with the limits of [Options].Appearance. It is drawn upright
	// on the page as displayed, as large as fits and centred.
	Appearance []byte
}

// Rect is a rectangle, given by its lower left and its upper right corner.
type Rect struct{ LLX, LLY, URX, URY float64 }

// maxReal is the largest real number that PDF/A-1 allows in a file (ISO 19005-1 6.1.12).
const maxReal = 32767

// minSide is the least length of a side. The coordinates of its ends still differ when they are
// written to a file.
const minSide = 0.01

// check returns [ErrRect] for a rectangle outside the bounds of [Visible].Rect. A NaN fails every
// comparison.
func (r Rect) check() error {
	size := r.box()
	inRange := min(r.LLX, r.LLY) >= -maxReal && max(r.URX, r.URY) <= maxReal
	if !inRange || !(min(size.width, size.height) >= minSide && max(size.width, size.height) <= maxReal) {
		return fmt.Errorf("%w: from (%g, %g) to (%g, %g)", ErrRect, r.LLX, r.LLY, r.URX, r.URY)
	}
	return nil
}

func (r Rect) box() box { return box{r.URX - r.LLX, r.URY - r.LLY} }

func (r Rect) source() []byte { return fmt.Appendf(nil, "[%s]", numbers(r.LLX, r.LLY, r.URX, r.URY)) }

// newField is a signature field to add.
type newField struct {
	name         string // partial name
	title        string // alternate name (TU), which a screen reader reads out
	signature    pdf.Ref
	appearance   bool     // PDF/A-1 requires one, even if it is empty (ISO 19005-1 6.9)
	visible      *Visible // nil: the field is invisible
	sharedAnnots bool     // the field is visible, and another page uses the annotations of its page
}

// addField adds a signature field whose value is the signature. It adds the field to the form, and
// makes a form when the document has none; it adds the widget of the field to the page (ISO 32000-2
// 12.7.5.5). It patches existing objects and does not write them anew, because earlier signatures
// cover their meaning.
func addField(file *pdf.File, update *pdf.Update, page *pdf.Page, f newField) (pdf.Ref, error) {
	catalogRef, catalog, err := file.Catalog()
	if err != nil {
		return pdf.Ref{}, err
	}
	field := update.Reserve()
	appearance, err := f.draw(update, page.Rotate)
	if err != nil {
		return pdf.Ref{}, err
	}
	update.Set(field, f.source(page.Ref, appearance))
	if err := f.addToPage(file, update, page, field); err != nil {
		return pdf.Ref{}, fmt.Errorf("adding the widget to the page: %w", err)
	}
	if err := addToForm(file, update, catalogRef, catalog, field); err != nil {
		return pdf.Ref{}, fmt.Errorf("adding the field to the form: %w", err)
	}
	return field, nil
}

// draw adds the appearance of the field, for a page that is displayed rotated by rotate degrees. It
// returns the source of the entry AP of the widget; "" when the field has no appearance.
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

// source returns the field and its widget as one dictionary. appearance is the source of its entry
// AP, from draw. Its flags are Print and Locked (ISO 32000-2 table 167).
func (f newField) source(page pdf.Ref, appearance string) []byte {
	var rect Rect
	if f.visible != nil {
		rect = f.visible.Rect
	}
	return fmt.Appendf(nil, "<< /Type /Annot /Subtype /Widget /FT /Sig /T %s /TU %s /V %s /P %s /Rect %s%s /F 132 >>",
		pdf.TextString(f.name), pdf.TextString(f.title), f.signature, page, rect.source(), appearance)
}

// addToPage appends the widget of the field to the annotations of its page. If another page uses
// the same array, that array stays, and this page gets a copy with the widget.
func (f newField) addToPage(file *pdf.File, update *pdf.Update, page *pdf.Page, widget pdf.Ref) error {
	return patchObject(update, page.Ref, func(source []byte) ([]byte, error) {
		if f.sharedAnnots {
			return copyAnnotations(file, update, source, page, widget)
		}
		return appendReference(file, update, source, page.Dict, "Annots", widget)
	})
}

// copyAnnotations returns the source of a page with an array of annotations of its own, to which
// the widget is appended.
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

// patchForm adds a field to a form and sets SigFlags. It returns the new source of the form; nil
// when the source does not change.
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

// page returns the page of a new field.
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

// title returns the alternate name of a new field, which a screen reader reads out (ISO 14289-1
// 7.18.4). For a visible field it contains the name of the signer.
func (o Options) title() string {
	if o.Visible == nil || o.Name == "" {
		return "Digital signature"
	}
	return "Digital signature of " + o.Name
}

// sharesAnnots reports whether a visible field would also appear on another page, because both
// pages use one array of annotations. Pages may share the array, although an annotation belongs to
// one page only (ISO 32000-2 12.5.2).
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
	return false, pdf.IgnoreMalformed(err) // readers do not show pages that cannot be read
}
