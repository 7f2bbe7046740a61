package pdfium_test

import (
	"fmt"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/stamp"
)

// pose is a document of one empty page, and how that is displayed.
type pose struct {
	name     string
	document []byte
	turn     int  // clockwise: 0, 90, 180 or 270 degrees
	scaled   bool // by UserUnit: calculating is not exact then
	stamp.Size
}

// The page as displayed when it is not turned. Its sides are different, and whole numbers in
// units of 2.5 points too.
const pageWidth, pageHeight = 320, 270

// sheet is the poses of a page that is turned by each of the four right angles.
func sheet(cropped bool, unit float64) (poses []pose) {
	for _, turn := range []int{0, 90, 180, 270} {
		w, h := pageWidth/unit, pageHeight/unit
		name := fmt.Sprintf("turned by %d", turn)
		boxes := fmt.Sprintf("/MediaBox [0 0 %g %g]", w, h)
		if cropped {
			name += ", cropped"
			boxes = fmt.Sprintf("/MediaBox [-20 -30 %g %g] /CropBox [17 23 %g %g]", w+60, h+50, w+17, h+23)
		}
		entries := fmt.Sprintf("%s /Rotate %d", boxes, turn)
		if unit != 1 {
			name += fmt.Sprintf(", in units of %g", unit)
			entries += fmt.Sprintf(" /UserUnit %g", unit)
		}
		p := newPose(name, pdftest.Build(pdftest.Options{Page: entries}), turn)
		p.scaled = unit != 1
		poses = append(poses, p)
	}
	return poses
}

func newPose(name string, document []byte, turn int) pose {
	return pose{name: name, document: revised(document, content, stream("", "")), turn: turn, Size: turned(turn)}
}

// turned is how large the page is as displayed.
func turned(turn int) stamp.Size {
	if turn%180 != 0 {
		return stamp.Size{Width: pageHeight, Height: pageWidth}
	}
	return stamp.Size{Width: pageWidth, Height: pageHeight}
}

// rarePoses are those of attributes that are written in rare ways (ISO 32000-2 7.7.3.4 and 7.9.5).
func rarePoses() (poses []pose) {
	for _, p := range []struct {
		name, entries string
		turn          int
	}{
		{"turned by -90", "/MediaBox [0 0 320 270] /Rotate -90", 270},
		{"turned by 450", "/MediaBox [0 0 320 270] /Rotate 450", 90},
		{"turned by -180", "/MediaBox [0 0 320 270] /Rotate -180", 180},
		{"inverted boxes", "/MediaBox [500 400 0 0] /CropBox [420 60 100 330]", 0},
		{"inverted boxes, turned by 90", "/MediaBox [500 0 0 400] /CropBox [100 330 420 60] /Rotate 90", 90},
		{"cropped to more than there is", "/MediaBox [-100 -70 220 200] /CropBox [-300 -300 900 900] /Rotate 270", 270},
	} {
		poses = append(poses, newPose(p.name, pdftest.Build(pdftest.Options{Page: p.entries}), p.turn))
	}
	inheriting := revised(pdftest.Build(pdftest.Options{}), pageTree,
		"<< /Type /Pages /Kids [10 0 R] /Count 1 /Resources << >> /MediaBox [0 0 500 400] /CropBox [100 60 420 330] /Rotate 90 >>")
	return append(poses, newPose("inherited", inheriting, 90))
}
