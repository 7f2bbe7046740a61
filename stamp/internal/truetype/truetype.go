// Package truetype takes glyphs out of TrueType fonts, as PDF files embed them: with the
// tables that ISO 32000-2 9.9.1 (table 124) asks for and no others, and without hints,
// which viewers of PDF do not follow.
//
//	font, err := truetype.Parse(file)
//	subset, err := font.Subset([]uint16{0, 36, 37})
//
// The format is that of ISO/IEC 14496-22 (OpenType). Nothing in a font makes this package
// panic, loop or read outside of the font.
package truetype

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrFont: the font has no TrueType outlines or is damaged.
var ErrFont = errors.New("truetype: font cannot be used")

// Font is a font to take glyphs from.
type Font struct {
	head, hhea, maxp []byte
	hmtx, loca, glyf []byte
	glyphs           int
	advances         int  // that hmtx has; the further glyphs are as wide as the last
	longOffsets      bool // in loca
}

// Parse reads the tables of a font.
func Parse(file []byte) (*Font, error) {
	tables, err := readDirectory(file)
	if err != nil {
		return nil, err
	}
	f := &Font{}
	for _, table := range []struct {
		tag     string
		content *[]byte
		least   int
	}{
		{"head", &f.head, 54}, {"hhea", &f.hhea, 36}, {"maxp", &f.maxp, 32},
		{"hmtx", &f.hmtx, 4}, {"loca", &f.loca, 4}, {"glyf", &f.glyf, 0},
	} {
		*table.content = tables[table.tag]
		if len(*table.content) < table.least {
			return nil, fmt.Errorf("%w: its table %s has %d bytes", ErrFont, table.tag, len(*table.content))
		}
	}
	f.glyphs = int(binary.BigEndian.Uint16(f.maxp[4:]))
	f.advances = int(binary.BigEndian.Uint16(f.hhea[34:]))
	f.longOffsets = binary.BigEndian.Uint16(f.head[50:]) != 0
	return f, f.checkLengths()
}

func (f *Font) checkLengths() error {
	offset := 2
	if f.longOffsets {
		offset = 4
	}
	switch {
	case f.glyphs == 0, f.advances == 0, f.advances > f.glyphs:
		return fmt.Errorf("%w: %d advances of %d glyphs", ErrFont, f.advances, f.glyphs)
	case len(f.hmtx) < 4*f.advances+2*(f.glyphs-f.advances), len(f.loca) < offset*(f.glyphs+1):
		return fmt.Errorf("%w: some of its %d glyphs have no metrics or no outline", ErrFont, f.glyphs)
	}
	return nil
}

// readDirectory returns the tables by their tags.
func readDirectory(file []byte) (map[string][]byte, error) {
	if len(file) < 12 || binary.BigEndian.Uint32(file) != trueTypeOutlines {
		return nil, fmt.Errorf("%w: not a TrueType font", ErrFont)
	}
	tables := make(map[string][]byte)
	records := file[12:]
	for range binary.BigEndian.Uint16(file[4:]) {
		if len(records) < 16 {
			return nil, fmt.Errorf("%w: its table directory is cut off", ErrFont)
		}
		tag := string(records[:4])
		offset := uint64(binary.BigEndian.Uint32(records[8:]))
		end := offset + uint64(binary.BigEndian.Uint32(records[12:]))
		if end > uint64(len(file)) {
			return nil, fmt.Errorf("%w: its table %q is cut off", ErrFont, tag)
		}
		tables[tag] = file[offset:end]
		records = records[16:]
	}
	return tables, nil
}

// trueTypeOutlines is the sfnt version of a font with a table glyf.
const trueTypeOutlines = 0x00010000

// outline returns the description of a glyph in the table glyf; empty when it has no ink.
func (f *Font) outline(glyph uint16) ([]byte, error) {
	if int(glyph) >= f.glyphs {
		return nil, fmt.Errorf("%w: no glyph %d among %d", ErrFont, glyph, f.glyphs)
	}
	start, end := f.offset(int(glyph)), f.offset(int(glyph)+1)
	if start > end || end > len(f.glyf) {
		return nil, fmt.Errorf("%w: the outline of glyph %d is cut off", ErrFont, glyph)
	}
	return f.glyf[start:end], nil
}

func (f *Font) offset(glyph int) int {
	if f.longOffsets {
		return int(binary.BigEndian.Uint32(f.loca[4*glyph:]))
	}
	return 2 * int(binary.BigEndian.Uint16(f.loca[2*glyph:]))
}

// metrics returns a glyph's advance width and left side bearing, as hmtx has them.
func (f *Font) metrics(glyph int) []byte {
	if glyph < f.advances {
		return f.hmtx[4*glyph : 4*glyph+4]
	}
	advance := f.hmtx[4*f.advances-4 : 4*f.advances-2]
	bearing := f.hmtx[4*f.advances+2*(glyph-f.advances):]
	return []byte{advance[0], advance[1], bearing[0], bearing[1]}
}
