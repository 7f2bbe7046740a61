package truetype

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// table is a table of a font.
type table struct {
	tag     string
	content []byte
}

// writeTables writes a font of tables, which are in the order of their tags
// (ISO/IEC 14496-22 4.5), with all checksums.
func writeTables(tables []table) []byte {
	n := uint16(len(tables))
	power := uint16(1) << (bits.Len16(n) - 1) // the greatest power of two that is not above n
	file := binary.BigEndian.AppendUint32(nil, trueTypeOutlines)
	for _, v := range []uint16{n, 16 * power, uint16(bits.Len16(power) - 1), 16 * (n - power)} {
		file = binary.BigEndian.AppendUint16(file, v)
	}
	offset := len(file) + 16*len(tables)
	head := 0
	var body []byte
	for _, t := range tables {
		if t.tag == "head" {
			head = offset + len(body)
		}
		padded := slices.Concat(t.content, make([]byte, -len(t.content)&3))
		file = append(file, t.tag...)
		file = binary.BigEndian.AppendUint32(file, checksum(padded))
		file = binary.BigEndian.AppendUint32(file, uint32(offset+len(body)))
		file = binary.BigEndian.AppendUint32(file, uint32(len(t.content)))
		body = append(body, padded...)
	}
	file = append(file, body...)
	binary.BigEndian.PutUint32(file[head+8:], 0xb1b0afba-checksum(file)) // checkSumAdjustment
	return file
}

// checksum is the sum of the words of what is padded to words.
func checksum(padded []byte) uint32 {
	var sum uint32
	for ; len(padded) >= 4; padded = padded[4:] {
		sum += binary.BigEndian.Uint32(padded)
	}
	return sum
}
