package stamp

import (
	"bytes"
	"image"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// Why images are not made by pdfcpu: none of its objects may be in a PDF/A of any output intent
// (ISO 19005-1 6.2.3.3, 6.2.4) and 16 bits not in PDF 1.4, and what is wrong with some in any
// document. When a release of it mends one, this fails.
func TestWhyNotPdfcpu(t *testing.T) {
	for program := range viewers { // without which nobody sees the colours
		testenv.Program(t, program)
	}
	exif := kind{"Exif", withExif(jpegOf(t, quarters(48, 32, colours)), tiffOrientation("II", 3)), JPEG, colours}
	exif.want[0], exif.want[3], exif.want[1], exif.want[2] = colours[3], colours[0], colours[2], colours[1]
	for _, k := range append(kinds(t), exif) {
		t.Run(k.name, func(t *testing.T) {
			want := []string{"device's colours", "interpolated"}
			switch {
			case strings.Contains(k.name, " 16"):
				want = append(want, "16 bits")
			case k.name == "cmyk", k.name == "ycck": // as Poppler has them, not as mutool has
				want = append(want, "other colours")
			case k.name == "Exif":
				want = append(want, "metadata", "other colours")
			case k.name == "rgb":
				want = []string{"unexpected color model for JPEG"}
			}
			if diff := cmp.Diff(want, faultsOfPdfcpu(t, k)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// faultsOfPdfcpu says what a stamp must not have of what pdfcpu makes of an image.
func faultsOfPdfcpu(t *testing.T, k kind) (faults []string) {
	t.Helper()
	model.ConfigPath = "disable" // keeps pdfcpu from writing into the user's folder
	configuration := model.NewDefaultConfiguration()
	configuration.WriteObjectStream, configuration.WriteXRefStream = false, false
	var file bytes.Buffer
	err := api.ImportImages(nil, &file, []io.Reader{bytes.NewReader(k.encoded)}, pdfcpu.DefaultImportConfig(), configuration)
	if err != nil {
		text := err.Error()
		return []string{text[strings.LastIndex(text, ": ")+2:]}
	}
	for _, sign := range []struct{ source, fault string }{
		{"/ColorSpace/Device", "device's colours"}, {"/Indexed/Device", "device's colours"}, {"/Interpolate true", "interpolated"},
		{"/BitsPerComponent 16", "16 bits"}, {"Exif\x00\x00", "metadata"},
	} {
		if bytes.Contains(file.Bytes(), []byte(sign.source)) && !slices.Contains(faults, sign.fault) {
			faults = append(faults, sign.fault)
		}
	}
	wrong := false
	inViewers(t, file.Bytes(), 10*72, func(t *testing.T, page image.Image) {
		wrong = wrong || len(wrongQuarters(page, page.Bounds(), k.want)) > 0
	})
	if wrong {
		faults = append(faults, "other colours")
	}
	return faults
}
