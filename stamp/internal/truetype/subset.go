package truetype

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Subset is a font of some glyphs.
type Subset struct {
	File   []byte
	Glyphs int // in the file: those asked for, and after them the parts they are composed of
}

// Subset returns a font in which glyph i is what glyphs[i] is in f. The first is what
// programs draw for a missing character, usually glyph 0. The same glyph may be asked for more than once.
func (f *Font) Subset(glyphs []uint16) (*Subset, error) {
	b := subsetter{font: f, numbers: make(map[uint16]uint16)}
	for _, glyph := range glyphs {
		b.add(glyph)
	}
	if err := b.copyOutlines(); err != nil {
		return nil, err
	}
	return &Subset{File: b.file(), Glyphs: len(b.glyphs)}, nil
}

// subsetter puts a subset together.
type subsetter struct {
	font     *Font
	glyphs   []uint16          // of the font, in the order of the subset
	numbers  map[uint16]uint16 // where one of them is in the subset
	outlines [][]byte
}

func (b *subsetter) add(glyph uint16) {
	if _, ok := b.numbers[glyph]; !ok {
		b.numbers[glyph] = uint16(len(b.glyphs))
	}
	b.glyphs = append(b.glyphs, glyph)
}

// copyOutlines copies the outlines of the glyphs, which grow by the components that they name.
func (b *subsetter) copyOutlines() error {
	for i := 0; i < len(b.glyphs); i++ {
		if i > math.MaxUint16-1 {
			return fmt.Errorf("%w: more than %d glyphs", ErrFont, i)
		}
		hinted, err := b.font.outline(b.glyphs[i])
		if err != nil {
			return err
		}
		outline, err := withoutHints(hinted)
		if err != nil {
			return err
		}
		renumber(outline, func(component uint16) uint16 {
			if _, ok := b.numbers[component]; !ok {
				b.add(component)
			}
			return b.numbers[component]
		})
		b.outlines = append(b.outlines, outline)
	}
	return nil
}

func (b *subsetter) file() []byte {
	loca, glyf := b.outlineTables()
	return writeTables([]table{ // in the order of their tags
		{"glyf", glyf},
		{"head", b.head()},
		{"hhea", b.hhea()},
		{"hmtx", b.hmtx()},
		{"loca", loca},
		{"maxp", b.maxp()},
	})
}

func (b *subsetter) outlineTables() (loca, glyf []byte) {
	for _, outline := range b.outlines {
		loca = binary.BigEndian.AppendUint32(loca, uint32(len(glyf)))
		glyf = append(glyf, outline...)
		glyf = append(glyf, make([]byte, -len(glyf)&3)...)
	}
	return binary.BigEndian.AppendUint32(loca, uint32(len(glyf))), glyf
}

func (b *subsetter) head() []byte {
	head := append([]byte(nil), b.font.head[:54]...)
	binary.BigEndian.PutUint32(head[8:], 0)  // checkSumAdjustment, until all else is written
	binary.BigEndian.PutUint16(head[50:], 1) // long offsets in loca
	return head
}

func (b *subsetter) hhea() []byte {
	hhea := append([]byte(nil), b.font.hhea[:36]...)
	binary.BigEndian.PutUint16(hhea[34:], uint16(len(b.glyphs)))
	return hhea
}

func (b *subsetter) hmtx() []byte {
	var hmtx []byte
	for _, glyph := range b.glyphs {
		hmtx = append(hmtx, b.font.metrics(int(glyph))...)
	}
	return hmtx
}

// maxp is the font's but for the number of glyphs, and for what only instructions need.
func (b *subsetter) maxp() []byte {
	maxp := append([]byte(nil), b.font.maxp[:32]...)
	binary.BigEndian.PutUint16(maxp[4:], uint16(len(b.glyphs)))
	binary.BigEndian.PutUint16(maxp[14:], 1) // maxZones: no twilight zone
	clear(maxp[16:28])                       // maxTwilightPoints to maxSizeOfInstructions
	return maxp
}
