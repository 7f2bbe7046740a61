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

// drawing is a page and how large its picture is, in pixels.
type drawing struct {
	document      *io.SectionReader
	page          int // the first is 1
	width, height int
}

// PDFium's constants, of fpdfview.h and fpdf_formfill.h.
const (
	withAnnotations  = 0x01 // FPDF_ANNOT
	reverseByteOrder = 0x10 // FPDF_REVERSE_BYTE_ORDER: red first
	opaqueBitmap     = 3    // FPDFBitmap_BGRx
	formInfoVersion  = 1    // of a FPDF_FORMFILLINFO without XFA
	formInfoSize     = 256  // no smaller than a FPDF_FORMFILLINFO
	pixel            = 4    // bytes
)

// draw draws a page. After an error the instance is good for nothing but to be closed.
func (i *instance) draw(ctx context.Context, d drawing) (*image.RGBA, error) {
	i.used++
	access, _, err := i.files.CreateFileAccessReader(d.document.Size(), d.document)
	if err != nil {
		return nil, fmt.Errorf("pdfium: opening the document: %w", err)
	}
	c := newCalls(ctx, i)
	document := c.need("FPDF_LoadCustomDocument", *access, 0)
	info := c.formInfo()
	form := c.need("FPDFDOC_InitFormFillEnvironment", document, info)
	page := c.need("FPDF_LoadPage", document, uint64(d.page-1))
	c.do("FORM_OnAfterLoadPage", page, form)
	c.checkSides(page, d)

	paper := c.allocate(d.bytes())
	white(c.memory(paper, d.bytes()))
	width, height := uint64(d.width), uint64(d.height)
	bitmap := c.need("FPDFBitmap_CreateEx", width, height, opaqueBitmap, paper, width*pixel)
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

// formInfo returns a FPDF_FORMFILLINFO with nothing that PDFium could call: no script, no
// action, no timer.
func (c *calls) formInfo() uint64 {
	info := c.allocate(formInfoSize)
	if view := c.memory(info, formInfoSize); view != nil {
		clear(view)
		binary.LittleEndian.PutUint32(view, formInfoVersion)
	}
	return info
}

// checkSides compares the sides of the page with those of the picture. What shall be one page
// has been read twice, and where it differs, the place that is found would be another.
func (c *calls) checkSides(page uint64, d drawing) {
	width := float64(api.DecodeF32(c.do("FPDF_GetPageWidthF", page)))
	height := float64(api.DecodeF32(c.do("FPDF_GetPageHeightF", page)))
	if c.err != nil {
		return
	}
	allowed := 0.01 + 1/float64(d.width) + 1/float64(d.height)
	off := width / height * float64(d.height) / float64(d.width)
	if !(math.Abs(math.Log(off)) <= allowed) { // NaN as well
		c.err = fmt.Errorf("pdfium: a page of %g x %g points in a picture of %d x %d", width, height, d.width, d.height)
	}
}

func (d drawing) bytes() int { return d.width * d.height * pixel }

// picture copies the bitmap, whose fourth byte of a pixel means nothing.
func (d drawing) picture(bitmap []byte) *image.RGBA {
	pixels := bytes.Clone(bitmap)
	for i := 0; i+pixel <= len(pixels); i += pixel {
		binary.LittleEndian.PutUint32(pixels[i:], binary.LittleEndian.Uint32(pixels[i:])|0xff<<24)
	}
	return &image.RGBA{Pix: pixels, Stride: d.width * pixel, Rect: image.Rect(0, 0, d.width, d.height)}
}

func white(view []byte) {
	if len(view) == 0 {
		return
	}
	view[0] = 0xff
	for done := 1; done < len(view); done *= 2 {
		copy(view[done:], view[:done])
	}
}
