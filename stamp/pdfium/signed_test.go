package pdfium_test

import (
	"bytes"
	"crypto"
	"crypto/elliptic"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/innsigli/innsigli/ades"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/stamp"
)

// TestUpright checks in each viewer that the stamp of a signature is where Place says and upright, however
// the page is rotated, cropped and scaled, and that PDFium draws it like the golden picture.
func TestUpright(t *testing.T) {
	views, s := viewers(t), newSigner(t)
	for _, a := range samples(t) {
		golden, alone := a.golden(t, s, views["PDFium"]), make(map[string]*image.RGBA)
		for name, view := range views {
			alone[name] = view(t, a.appearance, a.Size)
		}
		for _, p := range poses() {
			t.Run(a.name+", "+p.name, func(t *testing.T) {
				t.Parallel()
				signed, places := s.inCorners(t, p.document, a)
				for name, view := range views {
					page := view(t, signed, p.Size)
					if !hasSize(page, p.Size) {
						t.Errorf("%s: got a page of %v, want %v", name, page.Rect.Size(), inPixels(p.Size))
						continue
					}
					for i, place := range places {
						size, area := page.Rect.Size().Div(2), pixels(place)
						quarter := image.Rectangle{Max: size}.Add(image.Pt(i%2*size.X, i/2*size.Y))
						if ink := inkedIn(page, quarter); !ink.In(area.Inset(-perPoint)) {
							t.Errorf("%s, %s: ink at %v, want it in %v", name, cornerName(corners[i]), ink, area)
						}
						for _, fault := range differences(crop(page, area), alone[name]) {
							t.Errorf("%s, %s: %s", name, cornerName(corners[i]), fault)
						}
					}
					if name == "PDFium" && p.unit == 1 { // with other units, lengths are rounded
						want := crop(golden, onSheet(p.rotation))
						if unlike := boundsOf(page, func(x, y int) bool { return !alike(page.RGBAAt(x, y), want.RGBAAt(x, y)) }); !unlike.Empty() {
							t.Errorf("the page is unlike its golden picture in %v", unlike)
						}
					}
				}
			})
		}
	}
}

// TestDifferences checks that TestUpright accepts a correct stamp, and notices a mirrored, rotated or
// displaced one.
func TestDifferences(t *testing.T) {
	view, p, s := viewers(t)["PDFium"], poses()[0], newSigner(t)
	for _, a := range samples(t) {
		signed, places := s.inCorners(t, p.document, a)
		page, alone := view(t, signed, p.Size), view(t, a.appearance, a.Size)
		area := pixels(places[0])
		size := area.Size()
		moved := func(by image.Point) *image.RGBA { return crop(page, area.Add(by)) }
		mapped := func(from func(x, y int) (int, int)) *image.RGBA {
			out := image.NewRGBA(image.Rectangle{Max: size})
			boundsOf(out, func(x, y int) bool {
				fromX, fromY := from(x, y)
				out.SetRGBA(x, y, page.RGBAAt(area.Min.X+fromX, area.Min.Y+fromY))
				return false
			})
			return out
		}
		for name, test := range map[string]struct {
			place   *image.RGBA
			correct bool
		}{
			"correct":                {moved(image.Pt(0, 0)), true},
			"too far left":           {moved(image.Pt(perPoint+1, 0)), false},
			"too far up":             {moved(image.Pt(0, perPoint+1)), false},
			"mirrored":               {mapped(func(x, y int) (int, int) { return size.X - 1 - x, y }), false},
			"mirrored upside down":   {mapped(func(x, y int) (int, int) { return x, size.Y - 1 - y }), false},
			"rotated by 180 degrees": {mapped(func(x, y int) (int, int) { return size.X - 1 - x, size.Y - 1 - y }), false},
		} {
			if faults := differences(test.place, alone); (len(faults) == 0) != test.correct {
				t.Errorf("%s, %s: got faults %q, want none: %v", a.name, name, faults, test.correct)
			}
		}
	}
}

// TestSixSigners checks that each of six signers of a page of text gets the place that PlanPlaces planned
// before the first one signed, that the place was blank, and that nothing else changes on the page.
func TestSixSigners(t *testing.T) {
	const signers = 6
	renderer, s, view := shared(t), newSigner(t), viewers(t)["mutool"]
	lines := slices.Repeat([]string{"The parties agree on what is written here, and sign it below"}, 34)
	text := append(make([]string, 3), lines...) // there are free places above, below and to the right of the text
	for _, c := range corners {
		document := pdftest.Book([]pdftest.Leaf{{Text: text}})
		page := readPage(t, document)
		plan, err := page.PlanPlaces(t.Context(), renderer, c, stamp.StandardSize, signers)
		if err != nil || len(plan) != signers {
			t.Fatalf("%s: got %d places, error %v, want %d", cornerName(c), len(plan), err, signers)
		}
		before := view(t, document, page.Size)
		for i, planned := range plan {
			page := readPage(t, document)
			place, err := page.Find(t.Context(), renderer, c, stamp.StandardSize)
			if diff := cmp.Diff(planned, place, cmpopts.EquateApprox(0, 0.01)); diff != "" || err != nil {
				t.Fatalf("%s, signer %d: error %v (-planned +found):\n%s", cornerName(c), i+1, err, diff)
			}
			document = s.sign(t, document, page, place, standardStamp(t))
			after := view(t, document, page.Size)
			if ink := inkedIn(before, pixels(place).Inset(-margin*perPoint)); !ink.Empty() {
				t.Errorf("%s, signer %d: the place %v had ink at %v", cornerName(c), i+1, pixels(place), ink)
			}
			changed := boundsOf(before, func(x, y int) bool { return before.RGBAAt(x, y) != after.RGBAAt(x, y) })
			if changed.Empty() || !changed.In(pixels(place)) {
				t.Errorf("%s, signer %d: pixels change at %v, want that in %v", cornerName(c), i+1, changed, pixels(place))
			}
			before = after
		}
	}
}

// pose is a document of one empty page that is displayed in a certain way.
type pose struct {
	name     string
	document []byte
	rotation int     // clockwise, in degrees
	unit     float64 // UserUnit
	stamp.Size
}

// The size of an unrotated page as it is displayed.
const pageWidth, pageHeight = 320, 270

func rotatedSize(rotation int) stamp.Size {
	if rotation%180 != 0 {
		return stamp.Size{Width: pageHeight, Height: pageWidth}
	}
	return stamp.Size{Width: pageWidth, Height: pageHeight}
}

// poses returns pages of each rotation, and attributes in unusual forms (ISO 32000-2 7.7.3.3 and 7.9.5).
// None of them shows the lower left corner of user space, where pdftest draws a line.
func poses() (all []pose) {
	add := func(entries string, rotation int, unit float64) {
		all = append(all, pose{entries, pdftest.Build(pdftest.Options{Page: entries}), rotation, unit, rotatedSize(rotation)})
	}
	for _, unit := range []float64{1, 2.5} {
		for _, rotation := range []int{0, 90, 180, 270} {
			w, h := pageWidth/unit, pageHeight/unit
			add(fmt.Sprintf("/MediaBox [20 20 %g %g] /Rotate %d /UserUnit %g", 20+w, 20+h, rotation, unit), rotation, unit)
			add(fmt.Sprintf("/MediaBox [-20 -30 %g %g] /CropBox [17 23 %g %g] /Rotate %d /UserUnit %g", w+60, h+50, w+17, h+23, rotation, unit), rotation, unit)
		}
	}
	add("/MediaBox [20 20 340 290] /Rotate -90", 270, 1)
	add("/MediaBox [20 20 340 290] /Rotate 450", 90, 1)
	add("/MediaBox [20 20 340 290] /Rotate -180", 180, 1)
	add("/MediaBox [500 400 0 0] /CropBox [420 60 100 330]", 0, 1)
	add("/MediaBox [500 0 0 400] /CropBox [100 330 420 60] /Rotate 90", 90, 1)
	add("/MediaBox [100 70 420 340] /CropBox [-300 -300 900 900] /Rotate 270", 270, 1)
	return all
}

// sample is a stamp.
type sample struct {
	name string
	stamp.Size
	appearance []byte
}

// samples returns the standard stamp and an image of each format.
func samples(t *testing.T) []sample {
	t.Helper()
	return []sample{
		{"standard", stamp.StandardSize, standardStamp(t)},
		imageSample(t, stamp.PNG, stamp.ZoomAndCenter, color.NRGBA{0, 0, 250, 128}),
		imageSample(t, stamp.JPEG, stamp.Stretch, color.NRGBA{127, 127, 252, 255}),
	}
}

func standardStamp(t *testing.T) []byte {
	t.Helper()
	appearance, err := stamp.Standard(stamp.Text{
		Name: "Þórður Ægir Öðinsson", Kennitala: "1203894569", Reason: "Samþykkt",
		Time: time.Date(2026, time.March, 14, 15, 9, 26, 0, time.UTC),
	})
	if err != nil {
		t.Fatal(err)
	}
	return appearance
}

// differences compares a stamp on a page with the stamp alone, as the same viewer draws them. The pixels may
// differ by a quarter of the ink, because viewers smooth a rotated page in another way.
func differences(onPage, alone *image.RGBA) (faults []string) {
	got, want := inked(onPage), inked(alone)
	for _, d := range []int{got.Min.X - want.Min.X, got.Min.Y - want.Min.Y, got.Max.X - want.Max.X, got.Max.Y - want.Max.Y} {
		if max(d, -d) > perPoint {
			faults = append(faults, fmt.Sprintf("ink at %v, want %v", got, want))
		}
	}
	difference, ink := 0, 1
	for i, want := range alone.Pix {
		got := onPage.Pix[min(i, len(onPage.Pix)-1)]
		difference += int(max(got, want) - min(got, want))
		ink += int(255 - want)
	}
	if onPage.Rect != alone.Rect || 4*difference > ink {
		faults = append(faults, fmt.Sprintf("%v differs from the stamp alone, %v, by %d of %d", onPage.Rect, alone.Rect, difference, ink))
	}
	return faults
}

// imageSample is an image of four quarters in a place of 96 by 60 points.
func imageSample(t *testing.T, format stamp.ImageType, scaling stamp.Scaling, blue color.NRGBA) sample {
	t.Helper()
	picture := image.NewNRGBA(image.Rect(0, 0, 64, 32))
	for i, c := range []color.NRGBA{{200, 0, 0, 255}, {0, 150, 0, 255}, blue, {40, 40, 40, 255}} {
		draw.Draw(picture, image.Rect(0, 0, 32, 16).Add(image.Pt(i%2*32, i/2*16)), image.NewUniform(c), image.Point{}, draw.Src)
	}
	var encoded bytes.Buffer
	err := png.Encode(&encoded, picture)
	if format == stamp.JPEG {
		encoded.Reset()
		err = jpeg.Encode(&encoded, picture, &jpeg.Options{Quality: 95})
	}
	if err != nil {
		t.Fatal(err)
	}
	read, err := stamp.ReadImage(encoded.Bytes(), format)
	if err != nil {
		t.Fatal(err)
	}
	size := stamp.Size{Width: 96, Height: 60}
	appearance, err := read.Draw(size, stamp.Drawing{Scaling: scaling})
	if err != nil {
		t.Fatal(err)
	}
	return sample{strings.ToLower(fmt.Sprintf("%s-%s", format, scaling)), size, appearance}
}

// onSheet is where the page with a rotation is on a golden picture, which has one for each.
func onSheet(rotation int) image.Rectangle {
	const gap = 20
	left := 0
	for before := 0; before < rotation; before += 90 {
		left += inPixels(rotatedSize(before)).X + gap
	}
	return image.Rectangle{Max: inPixels(rotatedSize(rotation))}.Add(image.Pt(left, 0))
}

// golden returns the golden picture of a stamp: pages of each rotation as PDFium drew them when they
// were checked. INNSIGLI_GOLDEN=1 makes one that is absent.
func (a sample) golden(t *testing.T, s signer, view viewer) *image.RGBA {
	t.Helper()
	content := testenv.Golden(t, filepath.Join("testdata", a.name+".png"), func() []byte {
		sheet := image.NewRGBA(image.Rectangle{Max: onSheet(270).Max})
		draw.Draw(sheet, sheet.Rect, image.NewUniform(color.Gray{160}), image.Point{}, draw.Src)
		for _, p := range poses()[:8] {
			signed, _ := s.inCorners(t, p.document, a)
			draw.Draw(sheet, onSheet(p.rotation), view(t, signed, p.Size), image.Point{}, draw.Src)
		}
		var b bytes.Buffer
		if err := png.Encode(&b, sheet); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	})
	decoded, err := png.Decode(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	return crop(decoded, decoded.Bounds())
}

// signer is a signer with a key and a self-signed certificate.
type signer struct {
	ades.SignerIdentity
	key crypto.Signer
}

func newSigner(t testing.TB) signer {
	t.Helper()
	key := certtest.NewKey(t, elliptic.P256())
	cert := certtest.Issue(t, x509.Certificate{Subject: pkix.Name{CommonName: "Example Signer"}}, key, nil, nil)
	return signer{ades.SignerIdentity{Certificate: cert}, key}
}

// sign signs a document with an appearance in a place on the page.
func (s signer) sign(t testing.TB, document []byte, page *stamp.Page, place stamp.Rect, appearance []byte) []byte {
	t.Helper()
	visible := &pades.Visible{Page: page.Number, Appearance: appearance}
	r := &visible.Rect
	r.LLX, r.LLY, r.URX, r.URY = page.UserSpace(place)
	source := pades.Document{ReaderAt: bytes.NewReader(document), Size: int64(len(document))}
	revision, err := pades.Sign(t.Context(), source, s.key, s.SignerIdentity, pades.Options{Visible: visible}, ades.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	return append(bytes.Clone(document), revision.Bytes...)
}

// inCorners signs a document once in each corner of its page, and returns the places.
func (s signer) inCorners(t testing.TB, document []byte, a sample) (signed []byte, places []stamp.Rect) {
	t.Helper()
	for _, c := range corners {
		page := readPage(t, document)
		place, err := page.Place(c, 12, 9, a.Size)
		if err != nil {
			t.Fatal(err)
		}
		places = append(places, place)
		document = s.sign(t, document, page, place, a.appearance)
	}
	return document, places
}

// viewer draws the first page of a document with perPoint pixels per point. Some viewers ignore UserUnit, so
// they get the size of the picture.
type viewer func(t *testing.T, document []byte, page stamp.Size) *image.RGBA

func viewers(t *testing.T) map[string]viewer {
	t.Helper()
	renderer := shared(t)
	return map[string]viewer{
		"mutool": program(testenv.Program(t, "mutool"), func(path, longSide string) []string {
			return []string{"draw", "-q", "-w", longSide, "-h", longSide, "-c", "rgb", "-F", "png", "-o", "-", path, "1"}
		}),
		"pdftoppm": program(testenv.Program(t, "pdftoppm"), func(path, longSide string) []string {
			return []string{"-png", "-cropbox", "-scale-to", longSide, "-f", "1", "-l", "1", path}
		}),
		"PDFium": func(t *testing.T, document []byte, page stamp.Size) *image.RGBA {
			t.Helper()
			return drawn(t, renderer, document, inPixels(page).X, inPixels(page).Y)
		},
	}
}

func program(name string, arguments func(path, longSide string) []string) viewer {
	return func(t *testing.T, document []byte, page stamp.Size) *image.RGBA {
		t.Helper()
		path, size := filepath.Join(t.TempDir(), "page.pdf"), inPixels(page)
		if err := os.WriteFile(path, document, 0o600); err != nil {
			t.Fatal(err)
		}
		picture, err := programPicture(t.Context(), name, arguments(path, strconv.Itoa(max(size.X, size.Y)))...)
		if err != nil {
			t.Fatal(err)
		}
		return picture
	}
}

func inPixels(page stamp.Size) image.Point {
	return image.Pt(int(page.Width*perPoint), int(page.Height*perPoint))
}
