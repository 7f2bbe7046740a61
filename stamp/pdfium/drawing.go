package pdfium

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"io"
	"math"

	"github.com/tetratelabs/wazero/api"
)

// drawing is a page and the size of its picture in pixels.
type drawing struct {
	document      *io.SectionReader
	page          int // the first is 1
	width, height int
}

// Constants of PDFium, from fpdfview.h and fpdf_formfill.h.
const (
	withAnnotations  = 0x01 // FPDF_ANNOT
	reverseByteOrder = 0x10 // FPDF_REVERSE_BYTE_ORDER: red first
	opaqueBitmap     = 3    // FPDFBitmap_BGRx
	formInfoVersion  = 1    // of an FPDF_FORMFILLINFO without XFA
	formInfoSize     = 256  // at least the size of an FPDF_FORMFILLINFO
	bytesPerPixel    = 4    // bytes
)

// draw draws a page. After an error the instance can only be closed.
func (i *instance) draw(ctx context.Context, d drawing) (*image.RGBA, error) {
	i.used++
	access, _, err := i.files.CreateFileAccessReader(d.document.Size(), d.document)
	if err != nil {
		return nil, fmt.Errorf("pdfium: opening the document: %w", err)
	}
	c := newCalls(ctx, i)
	document := c.doNonZero("FPDF_LoadCustomDocument", *access, 0)
	info := c.formInfo()
	form := c.doNonZero("FPDFDOC_InitFormFillEnvironment", document, info)
	page := c.doNonZero("FPDF_LoadPage", document, uint64(d.page-1))
	c.do("FORM_OnAfterLoadPage", page, form)
	c.checkSides(page, d)

	paper := c.allocate(d.bytes())
	fillWhite(c.memory(paper, d.bytes()))
	width, height := uint64(d.width), uint64(d.height)
	bitmap := c.doNonZero("FPDFBitmap_CreateEx", width, height, opaqueBitmap, paper, width*bytesPerPixel)
	c.do("FPDF_RenderPageBitmap", bitmap, page, 0, 0, width, height, 0, withAnnotations|reverseByteOrder)
	c.do("FPDF_FFLDraw", form, bitmap, page, 0, 0, width, height, 0, withAnnotations|reverseByteOrder)
	picture := d.picture(c.memory(paper, d.bytes()))

	c.do("FPDFBitmap_Destroy", bitmap)
	c.do("free", paper)
	c.do("FORM_OnBeforeClosePage", page, form)
	c.do("FPDF_ClosePage", page)
	c.do("FPDFDOC_ExitFormFillEnvironment", form)
	c.do("free", info)
	c.do("FPDF_CloseDocument", document)
	if c.err != nil {
		return nil, c.err
	}
	return picture, i.files.Close()
}

// formInfo returns an FPDF_FORMFILLINFO without callbacks, so PDFium runs no script, no action and
// no timer.
func (c *calls) formInfo() uint64 {
	info := c.allocate(formInfoSize)
	if view := c.memory(info, formInfoSize); view != nil {
		clear(view)
		binary.LittleEndian.PutUint32(view, formInfoVersion)
	}
	return info
}

// checkSides checks that the aspect ratios of the page and the picture agree. Package stamp and
// PDFium both read the page. If they read different sizes, a place found on the picture would be
// elsewhere on the page.
func (c *calls) checkSides(page uint64, d drawing) {
	width := float64(api.DecodeF32(c.do("FPDF_GetPageWidthF", page)))
	height := float64(api.DecodeF32(c.do("FPDF_GetPageHeightF", page)))
	if c.err != nil {
		return
	}
	allowed := 0.01 + 1/float64(d.width) + 1/float64(d.height)
	off := width / height * float64(d.height) / float64(d.width)
	if !(math.Abs(math.Log(off)) <= allowed) { // also true for NaN
		c.err = fmt.Errorf("pdfium: a page of %g x %g points in a picture of %d x %d", width, height, d.width, d.height)
	}
}

func (d drawing) bytes() int { return d.width * d.height * bytesPerPixel }

// picture copies the bitmap and makes it opaque: the fourth byte of its pixels is not defined.
func (d drawing) picture(bitmap []byte) *image.RGBA {
	pixels := bytes.Clone(bitmap)
	for i := 0; i+bytesPerPixel <= len(pixels); i += bytesPerPixel {
		binary.LittleEndian.PutUint32(pixels[i:], binary.LittleEndian.Uint32(pixels[i:])|0xff<<24)
	}
	return &image.RGBA{Pix: pixels, Stride: d.width * bytesPerPixel, Rect: image.Rect(0, 0, d.width, d.height)}
}

func fillWhite(view []byte) {
	if len(view) == 0 {
		return
	}
	view[0] = 0xff
	for done := 1; done < len(view); done *= 2 {
		copy(view[done:], view[:done])
	}
}
