package stamp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// Images that are refused, with why.
func TestImagesRefused(t *testing.T) {
	p, j := pngOf(14, 10, pngHeader{depth: 8}, samples{{0}, {1}, {2}, {3}}), jpegOf(t, quarters(48, 32, colours))
	wide := jpegOf(t, quarters(48, 32, colours))
	frame := bytes.Index(wide, []byte{0xff, 0xc0})
	copy(wide[frame+5:], []byte{0xff, 0xff, 0xff, 0xff})
	for name, test := range map[string]struct {
		encoded []byte
		of      ImageType
		why     string
	}{
		"nothing":              {nil, PNG, "no Png"},
		"PNG said to be JPEG":  {p, JPEG, "no Jpeg"},
		"JPEG said to be PNG":  {j, PNG, "no Png"},
		"no type":              {p, "", "neither"},
		"unknown type":         {[]byte("GIF89a"), "Gif", "neither"},
		"SVG":                  {[]byte("<svg/>"), PNG, "no Png"},
		"too many bytes":       {append(bytes.Clone(p), make([]byte, 2<<20)...), PNG, "bytes"},
		"PNG of 60000 squared": {enlarged(p, 60000, 60000), PNG, "60000 by 60000 pixels"},
		"PNG of 3001 by 3000":  {enlarged(p, 3001, 3000), PNG, "more than 9000000"},
		"PNG in a line":        {enlarged(p, 20000, 1), PNG, "in a line"},
		"JPEG of 65535":        {wide, JPEG, "65535 by 65535 pixels"},
		"PNG without end":      {p[:len(p)-20], PNG, "EOF"},
		"JPEG without end":     {j[:len(j)-20], JPEG, "EOF"},
		"PNG header alone":     {p[:33], PNG, "EOF"},
		"JPEG header alone":    {j[:2], JPEG, "EOF"},
		"PNG that is damaged":  {bytes.Replace(p, []byte("IDAT"), []byte("IDBT"), 1), PNG, "checksum"},
		"CMYK of nobody":       {withoutAdobe(t), JPEG, "color model"},
		"thousands of scans":   {bytes.Replace(j, []byte{0xff, 0xd9}, append(bytes.Repeat([]byte("\xff\xda\x00\x02"), 5000), 0xff, 0xd9), 1), JPEG, "scans"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ReadImage(test.encoded, test.of)
			if !errors.Is(err, ErrImage) || !strings.Contains(err.Error(), test.why) {
				t.Errorf("got %v, want %q", err, test.why)
			}
		})
	}
}

// Every image that ends early is refused, and none is fatal.
func TestImagesCutShort(t *testing.T) {
	for _, k := range kinds(t) {
		for n := range len(k.encoded) - 1 {
			if _, err := ReadImage(k.encoded[:n], k.of); !errors.Is(err, ErrImage) && n < len(k.encoded)-12 {
				t.Errorf("%s: %d of %d bytes: %v", k.name, n, len(k.encoded), err)
			}
		}
	}
}

// A header is all that is read of an image that is too large.
func TestBombsTakeNoMemory(t *testing.T) {
	bomb := enlarged(pngOf(14, 10, pngHeader{depth: 8}, samples{{0}, {1}, {2}, {3}}), 60000, 60000)
	var err error
	n := testenv.Allocated(func() { _, err = ReadImage(bomb, PNG) })
	if n > 64<<10 || !errors.Is(err, ErrImage) {
		t.Errorf("%d bytes of memory, %v", n, err)
	}
}

// enlarged is a PNG whose header says more than is there.
func enlarged(b []byte, width, height uint32) []byte {
	out := bytes.Clone(b)
	binary.BigEndian.PutUint32(out[16:], width)
	binary.BigEndian.PutUint32(out[20:], height)
	binary.BigEndian.PutUint32(out[29:], crc32.ChecksumIEEE(out[12:29]))
	return out
}

// withoutAdobe is a JPEG of four components that nobody says the meaning of.
func withoutAdobe(t *testing.T) []byte {
	for _, k := range kinds(t) {
		if k.name == "cmyk" {
			return bytes.Replace(k.encoded, []byte("Adobe"), []byte("adobe"), 1)
		}
	}
	t.Fatal("no CMYK among the kinds")
	return nil
}
