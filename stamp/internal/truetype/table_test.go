package truetype

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A subset has the tables that ISO 32000-2 table 124 asks for, with right checksums.
func TestTables(t *testing.T) {
	subset := subsetOf(t, file(t), 0, 36, 37).File
	var tags []string
	var sum uint32
	for i := range int(binary.BigEndian.Uint16(subset[4:])) {
		record := subset[12+16*i:]
		offset, length := binary.BigEndian.Uint32(record[8:]), binary.BigEndian.Uint32(record[12:])
		if offset%4 != 0 {
			t.Errorf("table %s begins at %d", record[:4], offset)
		}
		table := append([]byte(nil), subset[offset:(offset+length+3)&^3]...)
		tag := string(record[:4])
		if tag == "head" {
			clear(table[8:12])
		}
		if got, want := checksum(table), binary.BigEndian.Uint32(record[4:]); got != want {
			t.Errorf("checksum of %s is %08x, said to be %08x", tag, got, want)
		}
		tags = append(tags, tag)
	}
	if diff := cmp.Diff([]string{"glyf", "head", "hhea", "hmtx", "loca", "maxp"}, tags); diff != "" {
		t.Error(diff)
	}
	if sum = checksum(subset); sum != 0xb1b0afba {
		t.Errorf("the file's checksum is %08x", sum)
	}
}

func TestSearchOfTheDirectory(t *testing.T) {
	got := writeTables([]table{{"glyf", nil}, {"head", make([]byte, 54)}, {"hhea", nil}, {"hmtx", nil}, {"loca", nil}, {"maxp", nil}})
	want := []byte{0, 6, 0, 64, 0, 2, 0, 32} // ISO/IEC 14496-22 4.5.1
	if diff := cmp.Diff(want, got[4:12]); diff != "" {
		t.Error(diff)
	}
}

func TestDamagedFonts(t *testing.T) {
	sound := subsetOf(t, file(t), 0, 36, 200).File
	for name, damage := range map[string]func(font []byte) []byte{
		"empty":              func(font []byte) []byte { return nil },
		"PostScript":         func(font []byte) []byte { return append([]byte("OTTO"), font[4:]...) },
		"directory cut off":  func(font []byte) []byte { return font[:40] },
		"table cut off":      func(font []byte) []byte { return font[:len(font)-40] },
		"no glyf":            func(font []byte) []byte { font[12] = 'x'; return font },
		"no glyphs":          func(font []byte) []byte { return patch(font, "maxp", 4, 0) },
		"too many glyphs":    func(font []byte) []byte { return patch(font, "maxp", 4, 9) },
		"no advances":        func(font []byte) []byte { return patch(font, "hhea", 34, 0) },
		"too many advances":  func(font []byte) []byte { return patch(font, "hhea", 34, 9999) },
		"outlines elsewhere": func(font []byte) []byte { return patch(font, "loca", 4, 0x7fff) },
		"too many contours":  func(font []byte) []byte { return patch(font, "glyf", 0, 0x7fff) },
		"long instructions":  func(font []byte) []byte { return patch(font, "glyf", 10+2*2, 0xffff) },
		"unending composite": func(font []byte) []byte { return patch(patch(font, "glyf", 0, 0xffff), "glyf", 10, 0xffff) },
	} {
		t.Run(name, func(t *testing.T) {
			f, err := Parse(damage(append([]byte(nil), sound...)))
			if err == nil {
				_, err = f.Subset([]uint16{0, 1, 2})
			}
			if !errors.Is(err, ErrFont) {
				t.Errorf("got %v, want ErrFont", err)
			}
		})
	}
	if _, err := parse(t, sound).Subset([]uint16{0, 1000}); !errors.Is(err, ErrFont) {
		t.Errorf("glyph 1000 of few: got %v, want ErrFont", err)
	}
}

// patch writes a number into a table.
func patch(font []byte, tag string, at int, value uint16) []byte {
	tables, err := readDirectory(font)
	if err != nil {
		panic(err)
	}
	binary.BigEndian.PutUint16(tables[tag][at:], value)
	return font
}

func FuzzSubset(f *testing.F) {
	f.Add(subsetOf(f, file(f), 0, 36, 200).File, uint16(1))
	f.Add(subsetOf(f, file(f), 0).File, uint16(0))
	f.Fuzz(func(t *testing.T, content []byte, glyph uint16) {
		font, err := Parse(content)
		if err != nil {
			return
		}
		subset, err := font.Subset([]uint16{0, glyph, glyph})
		if err != nil {
			return
		}
		again, err := Parse(subset.File)
		if err != nil {
			t.Fatal(err)
		}
		same, err := again.Subset([]uint16{0, 1, 2})
		if err != nil {
			t.Fatal(err)
		}
		if same.Glyphs > subset.Glyphs {
			t.Errorf("%d glyphs, and then %d", subset.Glyphs, same.Glyphs)
		}
	})
}
