package truetype

import (
	"encoding/binary"
	"fmt"
)

// Flags of a component of a composite glyph (ISO/IEC 14496-22 5.3.3.1.2).
const (
	argsAreWords     = 0x0001
	hasScale         = 0x0008
	moreComponents   = 0x0020
	hasXAndYScale    = 0x0040
	hasTwoByTwo      = 0x0080
	hasInstructions  = 0x0100
	outlineHeader    = 10 // number of contours, and the bounding box
	componentMinimum = 4  // flags and glyph
)

// withoutHints returns a copy of an outline that has no instructions.
func withoutHints(outline []byte) ([]byte, error) {
	if len(outline) == 0 {
		return nil, nil
	}
	if len(outline) < outlineHeader {
		return nil, fmt.Errorf("%w: an outline of %d bytes", ErrFont, len(outline))
	}
	if isComposite(outline) {
		end, err := componentsEnd(outline)
		if err != nil {
			return nil, err
		}
		return append([]byte(nil), outline[:end]...), nil
	}
	contours := int(binary.BigEndian.Uint16(outline))
	length := outlineHeader + 2*contours // where that of the instructions is
	if contours == 0 {
		return append([]byte(nil), outline[:outlineHeader]...), nil
	}
	if len(outline) < length+2 {
		return nil, fmt.Errorf("%w: an outline ends among its %d contours", ErrFont, contours)
	}
	points := length + 2 + int(binary.BigEndian.Uint16(outline[length:]))
	if len(outline) < points {
		return nil, fmt.Errorf("%w: an outline ends among its instructions", ErrFont)
	}
	short := append([]byte(nil), outline[:length]...)
	short = append(short, 0, 0)
	return append(short, outline[points:]...), nil
}

func isComposite(outline []byte) bool {
	return len(outline) >= outlineHeader && int16(binary.BigEndian.Uint16(outline)) < 0
}

// componentsEnd returns where the last component ends and its instructions may begin.
func componentsEnd(outline []byte) (int, error) {
	at := outlineHeader
	for {
		if len(outline) < at+componentMinimum {
			return 0, fmt.Errorf("%w: a composite outline is cut off", ErrFont)
		}
		flags := binary.BigEndian.Uint16(outline[at:])
		at += componentLength(flags)
		if len(outline) < at {
			return 0, fmt.Errorf("%w: a component is cut off", ErrFont)
		}
		if flags&moreComponents == 0 {
			return at, nil
		}
	}
}

func componentLength(flags uint16) int {
	length := componentMinimum + 2
	if flags&argsAreWords != 0 {
		length += 2
	}
	switch {
	case flags&hasScale != 0:
		length += 2
	case flags&hasXAndYScale != 0:
		length += 4
	case flags&hasTwoByTwo != 0:
		length += 8
	}
	return length
}

// renumber puts the components of a composite outline that [withoutHints] returned, whose
// ends are known to be right, into the order of the subset.
func renumber(outline []byte, number func(glyph uint16) uint16) {
	if !isComposite(outline) {
		return
	}
	for at := outlineHeader; at < len(outline); {
		flags := binary.BigEndian.Uint16(outline[at:])
		component := outline[at+2:]
		binary.BigEndian.PutUint16(outline[at:], flags&^hasInstructions)
		binary.BigEndian.PutUint16(component, number(binary.BigEndian.Uint16(component)))
		at += componentLength(flags)
	}
}
