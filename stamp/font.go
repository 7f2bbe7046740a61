package stamp

import (
	"embed"
	"fmt"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"

	"github.com/innsigli/innsigli/stamp/internal/truetype"
)

// The font is Noto Sans, version 2.004, as its makers released it; fonts/OFL.txt is its licence.
//
//go:embed fonts
var fontFiles embed.FS

// weight is one of the standard stamp's faces.
type weight int

const (
	regular weight = iota
	semiBold
)

// faceFiles are the PostScript names of the faces, by weight.
var faceFiles = [...]string{regular: "NotoSans-SemiCondensed", semiBold: "NotoSans-SemiCondensedSemiBold"}

// em is the font's size in the unit of all lengths of a face.
const em = 1000

// face is a font in one weight. Several goroutines may use it.
type face struct {
	name     string
	metrics  *sfnt.Font
	outlines *truetype.Font

	xHeight, capHeight, ascent, descent int // the last is negative
}

// faces are the standard stamp's, by weight.
type faces [len(faceFiles)]*face

// readFaces reads the faces once, when the first stamp is drawn.
var readFaces = sync.OnceValues(func() (*faces, error) {
	var faces faces
	for i, name := range faceFiles {
		var err error
		if faces[i], err = readFace(name); err != nil {
			return nil, fmt.Errorf("font %s: %w", name, err)
		}
	}
	return &faces, nil
})

func readFace(name string) (*face, error) {
	file, err := fontFiles.ReadFile("fonts/" + name + ".ttf")
	if err != nil {
		return nil, err
	}
	f := &face{name: name}
	if f.metrics, err = sfnt.Parse(file); err != nil {
		return nil, err
	}
	if f.outlines, err = truetype.Parse(file); err != nil {
		return nil, err
	}
	m, err := f.metrics.Metrics(nil, fixed.I(em), font.HintingNone)
	f.xHeight, f.capHeight = m.XHeight.Round(), m.CapHeight.Round()
	f.ascent, f.descent = m.Ascent.Round(), -m.Descent.Round()
	return f, err
}
