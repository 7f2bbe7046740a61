package pdf

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// A Bomb is a file of some kilobytes. Its first page takes much memory or time to render, its second page is empty.
type Bomb struct {
	Name string
	File []byte
}

// Bombs makes the files, one for each way in which a page is known to be costly for a renderer.
func Bombs() []Bomb {
	const compressed, twice = "/Filter /FlateDecode", "/Filter [/FlateDecode /FlateDecode]"
	square := form("", "1 0 0 rg 10 10 300 300 re f 0 0 1 RG 20 20 m 500 700 l S")
	image := func(entries string, data []byte) string {
		return stream("/Type /XObject /Subtype /Image "+entries, string(data))
	}
	gray := func(side int) string {
		return fmt.Sprintf("/Width %d /Height %d /ColorSpace /DeviceGray /BitsPerComponent 8 ", side, side)
	}
	nested := func(n, times int, use string) []string { // forms
		return levels(n, square, func(n int) string { return form(one("XObject", n-1), uses(use, n-1, times)) })
	}
	groups := func(n, times int) []string {
		return levels(n, square, func(n int) string { return group(one("XObject", n-1), "/G gs "+uses("/X%d Do ", n-1, times)) })
	}
	tile := func(step, resources, content string) string {
		return stream("/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 600 800] /XStep "+step+" /YStep "+step+" "+inResources(resources), content)
	}
	const whole = "600 0 0 800 0 0 cm /X0 Do"
	return []Bomb{
		bomb("forms nested twofold", one("XObject", 27), "", "/X27 Do", nested(28, 2, "q 0.99 0 0 0.99 1 1 cm /X%d Do Q ")...),
		bomb("forms nested a hundredfold", one("XObject", 5), "", "/X5 Do", nested(6, 100, "/X%d Do ")...),
		bomb("forms nested deep", one("XObject", 99), "", "/X99 Do", nested(100, 1, "/X%d Do ")...),
		bomb("forms that contain themselves", one("XObject", 0), "", "/X0 Do", form(one("XObject", 0), uses("/X%d Do ", 0, 20))),
		bomb("transparency groups nested", halved+one("XObject", 23), "", "/X23 Do", groups(24, 2)...),
		bomb("transparency groups side by side", halved+one("XObject", 2), "", uses("/G gs /X%d Do ", 2, 300), groups(3, 20)...),
		bomb("soft masks nested", "/ExtGState << /G 11 0 R >> "+one("XObject", 0), "", "/G gs /X0 Do", append([]string{square}, softMasks(20)...)...),
		bomb("image of a declared size", one("XObject", 0), "", whole,
			image("/Width 60000 /Height 60000 /ColorSpace /DeviceRGB /BitsPerComponent 8 "+compressed, deflate(nil))),
		bomb("image of deflated zeros", one("XObject", 0), "", whole, image(gray(14_000)+twice, deflate(deflate(make([]byte, 14_000*14_000))))),
		bomb("images of deflated zeros", all("XObject", 40), "", strings.Join(each(40, func(i int) string { return fmt.Sprintf("q 600 0 0 800 0 0 cm /X%d Do Q ", i) }), ""),
			slices.Repeat([]string{image(gray(5000)+twice, deflate(deflate(make([]byte, 5000*5000))))}, 40)...),
		bomb("image with a soft mask, many times", one("XObject", 0), "", strings.Repeat("q 600 0 0 800 0 0 cm /X0 Do Q ", 30),
			image(gray(6000)+"/SMask 11 0 R "+twice, deflate(deflate(make([]byte, 6000*6000)))),
			image(gray(7000)+twice, deflate(deflate(make([]byte, 7000*7000))))),
		bomb("JBIG2 of a declared size", one("XObject", 0), "", whole,
			image("/Width 60000 /Height 60000 /ColorSpace /DeviceGray /BitsPerComponent 1 /Filter /JBIG2Decode", jbig2(60_000))),
		bomb("JPX of a declared size", one("XObject", 0), "", whole, image("/Width 30000 /Height 30000 /Filter /JPXDecode", jpx(30_000))),
		bomb("CCITT of a declared size", one("XObject", 0), "", whole,
			image("/Width 60000 /Height 60000 /ColorSpace /DeviceGray /BitsPerComponent 1 /Filter /CCITTFaxDecode /DecodeParms << /K -1 /Columns 60000 /Rows 60000 >>", make([]byte, 2000))),
		bomb("content of deflated paths", "", compressed, string(deflate([]byte(strings.Repeat("0 0 m 600 800 l 0 800 l b* ", 1_000_000))))),
		bomb("content of one deflated string", one("Font", 0), twice, string(deflate(deflate([]byte("BT /X0 9 Tf ("+strings.Repeat("a", 60<<20)+") Tj ET")))),
			"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"),
		bomb("graphics states nested deep", "", compressed, string(deflate([]byte(strings.Repeat("q 1 0 0 1 0 0 cm 0 0 600 800 re W n ", 500_000))))),
		bomb("arrays nested deep", "", compressed, string(deflate([]byte("/A "+strings.Repeat("[", 5_000_000)+" DP")))),
		bomb("tiling pattern of tiny steps", one("Pattern", 0), "", "/Pattern cs /X0 scn 0 0 600 800 re f", tile("0.01", "", "1 0 0 rg 0 0 500 500 re f")),
		bomb("tiling patterns nested", one("Pattern", 7), "", "/Pattern cs /X7 scn 0 0 600 800 re f",
			levels(8, tile("3", "", "1 0 0 rg 0 0 5 5 re f"), func(n int) string {
				return tile("3", one("Pattern", n-1), fmt.Sprintf("/Pattern cs /X%d scn 0 0 600 800 re f", n-1))
			})...),
		bomb("shading by a costly function", one("Shading", 0), "", "/X0 sh",
			"<< /ShadingType 1 /ColorSpace /DeviceRGB /Matrix [600 0 0 800 0 0] /Function 11 0 R >>",
			stream("/FunctionType 4 /Domain [0 1 0 1] /Range [0 1 0 1 0 1]", "{ "+strings.Repeat("exch 1.01 mul sin exch cos ", 150)+"2 copy add }")),
		bomb("shadings on one another", one("Shading", 0), "", uses("/X%d sh ", 0, 800),
			"<< /ShadingType 3 /ColorSpace /DeviceRGB /Coords [300 400 0 300 400 600] /Extend [true true] /Function << /FunctionType 2 /Domain [0 1] /C0 [1 0 0] /C1 [0 0 1] /N 1.7 >> >>"),
		bomb("mesh of deflated patches", one("Shading", 0), "", "/X0 sh",
			stream("/ShadingType 7 /ColorSpace /DeviceRGB /BitsPerCoordinate 8 /BitsPerComponent 8 /BitsPerFlag 8 /Decode [0 600 0 800 0 1 0 1 0 1] "+twice,
				string(deflate(deflate(bytes.Repeat([]byte("\x00abcdefghijklmnopqrstuvwxyz012345678"), 2<<20)))))),
		bomb("function of many samples", one("Shading", 0), "", "/X0 sh",
			"<< /ShadingType 1 /ColorSpace /DeviceRGB /Matrix [600 0 0 800 0 0] /Function 11 0 R >>",
			stream("/FunctionType 0 /Domain [0 1 0 1] /Range [0 1 0 1 0 1] /Size [8000 8000] /BitsPerSample 8 "+twice, string(deflate(deflate(make([]byte, 8000*8000*3)))))),
		bomb("Type 3 fonts nested", one("Font", 22), "", "/X22 9 Tf BT (aaaaaaaaaa) Tj ET", type3Fonts(12)...),
		bomb("page of five kilometres", "/UserUnit 1000 /MediaBox [0 0 14400 14400] "+inResources(one("XObject", 0)), "", uses("/X%d Do ", 0, 500), square),
		bomb("annotations by the thousand", "/Annots ["+strings.Repeat("10 0 R ", 2000)+"]", "", "",
			"<< /Type /Annot /Subtype /Square /F 4 /Rect [0 0 600 800] /AP << /N 11 0 R >> /BM /Multiply /CA 0.5 >>", group("", "1 0 0 rg 10 10 300 300 re f")),
		bomb("dashes by the million", "", "", "[0.001 0.001] 0 d 0.5 w "+strings.Repeat("0 0 m 600 800 l 10 900 600 20 0 500 c S ", 100)),
	}
}

// bomb makes the file of a page. The page has the resources, unless they begin with an entry of its own; its content
// has the entries of its stream; and the objects are numbered from 10.
func bomb(name, resources, entries, content string, objects ...string) Bomb {
	page := "/MediaBox [0 0 600 800] " + inResources(resources)
	if strings.HasPrefix(resources, "/Annots") || strings.HasPrefix(resources, "/UserUnit") {
		page = "/MediaBox [0 0 600 800] " + resources
	}
	b := builder{offsets: make(map[int]int)}
	b.out.WriteString("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
	numbered := map[int]string{
		1: "<< /Type /Catalog /Pages 2 0 R >>",
		2: "<< /Type /Pages /Kids [3 0 R 5 0 R] /Count 2 >>",
		3: "<< /Type /Page /Parent 2 0 R /Contents 4 0 R " + page + " >>",
		4: stream(entries, content),
		5: "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Resources << >> >>",
	}
	for i, object := range objects {
		numbered[10+i] = object
	}
	return Bomb{name, b.finishTable(numbered)}
}

func stream(entries, content string) string {
	return fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", entries, len(content), content)
}

func form(resources, content string) string {
	return stream("/Type /XObject /Subtype /Form /BBox [0 0 600 800] "+inResources(resources), content)
}

// halved is a graphics state G.
const halved = "/ExtGState << /G << /ca 0.5 /BM /Multiply >> >> "

func group(resources, content string) string {
	return stream("/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Group << /S /Transparency /I true /K true >> "+inResources(halved+resources), content)
}

func inResources(entries string) string { return "/Resources << " + entries + " >>" }

// one names object 10+n as Xn.
func one(kind string, n int) string { return fmt.Sprintf("/%s << /X%d %d 0 R >> ", kind, n, 10+n) }

// all names the objects from 10 on.
func all(kind string, n int) string {
	return "/" + kind + " << " + strings.Join(each(n, func(i int) string { return fmt.Sprintf("/X%d %d 0 R", i, 10+i) }), " ") + " >> "
}

// levels returns n objects: the first, and others that each use the one before.
func levels(n int, first string, next func(n int) string) []string {
	return append([]string{first}, each(n-1, func(i int) string { return next(i + 1) })...)
}

func uses(format string, n, times int) string { return strings.Repeat(fmt.Sprintf(format, n), times) }

func each(n int, one func(i int) string) (list []string) {
	for i := range n {
		list = append(list, one(i))
	}
	return list
}

// softMasks returns graphics states and groups, of which each masks the next; the first state is object 11.
func softMasks(n int) (all []string) {
	for i := range n {
		state := 11 + 2*i
		next := ""
		if i+1 < n {
			next = fmt.Sprintf("/ExtGState << /G %d 0 R >>", state+2)
		}
		content := "1 g 0 0 600 800 re f"
		if next != "" {
			content = "/G gs " + content
		}
		all = append(all,
			fmt.Sprintf("<< /SMask << /S /Luminosity /G %d 0 R >> >>", state+1),
			stream("/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Group << /S /Transparency /CS /DeviceGray >> /Resources << "+next+" >>", content))
	}
	return all
}

// type3Fonts returns fonts and their only glyphs by turns; the glyph of each shows text in the font before.
func type3Fonts(n int) (list []string) {
	for i := range n {
		resources, glyph := "", "1000 0 d0 0 0 700 700 re f"
		if i > 0 {
			resources, glyph = one("Font", 2*i-2), fmt.Sprintf("1000 0 d0 BT /X%d 900 Tf (aaaaaaaaaa) Tj ET", 2*i-2)
		}
		list = append(list, fmt.Sprintf("<< /Type /Font /Subtype /Type3 /FontBBox [0 0 1000 1000] /FontMatrix [0.001 0 0 0.001 0 0] /FirstChar 97 /LastChar 97 "+
			"/Widths [100] /Encoding << /Differences [97 /a] >> /CharProcs << /a %d 0 R >> %s >>", 11+2*i, inResources(resources)), stream("", glyph))
	}
	return list
}

func deflate(content []byte) []byte {
	var out bytes.Buffer
	w, _ := zlib.NewWriterLevel(&out, zlib.BestCompression)
	w.Write(content)
	w.Close()
	return out.Bytes()
}

// jbig2 returns a page segment of a size, with a generic region of that size (ITU-T T.88 7.4.6, 7.4.8).
func jbig2(side uint32) []byte {
	size := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, side), side)
	page := slices.Concat([]byte{0, 0, 0, 0, 0x30, 0, 1, 0, 0, 0, 19}, size, make([]byte, 8), []byte{0, 0, 0})
	region := slices.Concat(size, make([]byte, 9), []byte{0, 3, 0xff, 0xfd, 0xff, 2, 0xfe, 0xfe, 0xfe}, make([]byte, 100))
	header := binary.BigEndian.AppendUint32([]byte{0, 0, 0, 1, 0x26, 0, 1}, uint32(len(region)))
	return slices.Concat(page, header, region)
}

// jpx returns a codestream of a size with one tile and no data (ISO/IEC 15444-1 A.5).
func jpx(side uint32) []byte {
	u32 := binary.BigEndian.AppendUint32
	siz := []byte{0xff, 0x4f, 0xff, 0x51, 0, 47, 0, 0}
	for _, n := range []uint32{side, side, 0, 0, side, side, 0, 0} {
		siz = u32(siz, n)
	}
	siz = append(siz, 0, 3, 7, 1, 1, 7, 1, 1, 7, 1, 1)
	cod := []byte{0xff, 0x52, 0, 12, 0, 0, 0, 1, 0, 5, 4, 4, 0, 1}
	qcd := []byte{0xff, 0x5c, 0, 19, 0x40}
	for range 16 {
		qcd = append(qcd, 0x40)
	}
	sot := []byte{0xff, 0x90, 0, 10, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0x93, 0, 0, 0, 0, 0xff, 0xd9}
	return slices.Concat(siz, cod, qcd, sot)
}
