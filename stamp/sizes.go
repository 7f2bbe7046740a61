package stamp

import (
	"io"

	"github.com/innsigli/innsigli/internal/pdf"
)

// Sizes returns how large the pages of the PDF are that r holds in its first size bytes, as they are
// displayed: the first ones, at most as many as asked for; and how many pages there are. A page of which
// this cannot be read has the zero value. [ErrUnreadable], or an error of r.
func Sizes(r io.ReaderAt, size int64, most int) (sizes []Size, pages int, err error) {
	err = pdf.Opened(r, size, func(file *pdf.File) error {
		sizes, pages = nil, 0 // the file may be rebuilt
		return file.EachPage(func(leaf *pdf.Page, err error) error {
			if err != nil && !unknown(err) {
				return err
			}
			if pages++; pages <= most {
				sizes = append(sizes, sizeOf(leaf, err))
			}
			return nil
		})
	})
	if err != nil {
		return nil, 0, readError(err)
	}
	return sizes, pages, nil
}

func sizeOf(leaf *pdf.Page, err error) Size {
	if err != nil {
		return Size{}
	}
	g, err := newGeometry(leaf)
	if err != nil {
		return Size{}
	}
	return g.size()
}
