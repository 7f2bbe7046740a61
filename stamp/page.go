package stamp

import (
	"errors"
	"fmt"
	"io"

	"github.com/innsigli/innsigli/internal/pdf"
)

// Page is a page as it is displayed, from [ReadPage]. It shows the document as it was then: who
// has signed since is not on it. It may be used by several goroutines.
type Page struct {
	Number int // the first is 1
	Size       // of the displayed page
	// Archival: the document says that it is PDF/A (ISO 19005), so what is drawn on it should
	// have no transparency.
	Archival bool

	document   io.ReaderAt
	length     int64
	geometry   geometry
	taken      []Rect // by annotations of any kind, as far as they lie on the page
	signatures []Rect // those of them that show a signature
}

// ReadPage reads a page, the first being number 1, of the PDF that r holds in its first size bytes; r has to stay
// readable for as long as the Page is used. [ErrUnreadable], [ErrNoPage], or an error of r.
func ReadPage(r io.ReaderAt, size int64, number int) (*Page, error) {
	var page *Page
	err := pdf.Opened(r, size, func(file *pdf.File) (err error) {
		page, err = readPage(file, number)
		return err
	})
	if err != nil {
		return nil, readError(err)
	}
	page.document, page.length = r, size
	return page, nil
}

func readPage(file *pdf.File, number int) (*Page, error) {
	leaf, err := file.Page(number)
	if err != nil {
		return nil, err
	}
	page := &Page{Number: number}
	if page.geometry, err = newGeometry(leaf); err != nil {
		return nil, err
	}
	page.Size = page.geometry.size()
	if err = page.readAnnotations(file, leaf); err != nil {
		return nil, fmt.Errorf("reading annotations: %w", err)
	}
	page.Archival, err = file.Archival()
	return page, err
}

// UserSpace returns a rectangle on the page in the page's user space, as /Rect of an
// annotation has it: the lower left corner and the upper right one.
func (p *Page) UserSpace(r Rect) (llx, lly, urx, ury float64) {
	u := p.geometry.userSpace(r)
	return u.LLX, u.LLY, u.URX, u.URY
}

// Displayed is the reverse of [Page.UserSpace]: where a rectangle in the page's user space is on the
// page as displayed.
func (p *Page) Displayed(llx, lly, urx, ury float64) Rect {
	return p.geometry.displayed(pdf.Rect{LLX: llx, LLY: lly, URX: urx, URY: ury})
}

// readError turns an error of reading a PDF into one that callers tell apart. Errors of the
// underlying reader stay what they are.
func readError(err error) error {
	switch {
	case errors.Is(err, pdf.ErrNoPage):
		return fmt.Errorf("%w: %w", ErrNoPage, err)
	case errors.Is(err, pdf.ErrNotPDF), errors.Is(err, pdf.ErrEncrypted), errors.Is(err, pdf.ErrNoPages), unknown(err):
		return fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return err
}

// unknown says whether an object could not be read because of what the file has there.
func unknown(err error) bool {
	return errors.Is(err, pdf.ErrDamaged) || errors.Is(err, pdf.ErrUnsupported) || errors.Is(err, pdf.ErrLimit)
}

// Line is a line of text as it is written on a page.
type Line struct {
	Rect
	Text string
}
