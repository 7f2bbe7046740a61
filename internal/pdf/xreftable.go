package pdf

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// widths has the sizes in bytes of the three fields of an entry (Table 17, W).
type widths [3]int

// numberRange is a range of consecutive object numbers.
type numberRange struct{ first, count int64 }

// parseTable reads a cross-reference table after its keyword, and the trailer (7.5.4, 7.5.5). It accepts
// any white space between the numbers.
func (x *xrefReader) parseTable(at int64, c *cursor) (xrefSection, error) {
	c.window = 32 << 10
	for {
		first, count, more, err := subsection(c)
		if err != nil {
			return xrefSection{}, err
		}
		if !more {
			return trailer(at, c)
		}
		if err := x.tableEntries(c, numberRange{first, count}); err != nil {
			return xrefSection{}, err
		}
	}
}

// subsection reads the first line of a subsection. more is false if it read the keyword trailer,
// which ends the table.
func subsection(c *cursor) (first, count int64, more bool, err error) {
	err = c.step(func(p *parser) (err error) {
		if more = !p.keyword("trailer"); !more {
			return nil
		}
		if first, err = p.digits(); err != nil {
			return err
		}
		count, err = p.digits()
		return err
	})
	return first, count, more, err
}

// digits reads an unsigned number.
func (p *parser) digits() (int64, error) {
	p.skipSpace()
	word := p.word()
	n, err := strconv.ParseUint(string(word), 10, 63)
	if err != nil {
		return 0, syntaxError("number expected instead of %.16q", word)
	}
	return int64(n), nil
}

// tableEntries reads the entries of a subsection.
func (x *xrefReader) tableEntries(c *cursor, r numberRange) error {
	for num := r.first; num < r.first+r.count; num++ {
		offset, gen, used, ok := c.fixedEntry()
		if !ok {
			if err := x.tableEntry(c, num); err != nil {
				return err
			}
			continue
		}
		if err := x.addEntry(num, offset, gen, used); err != nil {
			return err
		}
	}
	return nil
}

// fixedEntry reads an entry if it is in the window and has the exact format of 7.5.4: the two bytes
// after the previous entry or line, 10 digits, 5 digits, and a letter. Most entries of most files
// have this format, and a file may have many entries.
func (c *cursor) fixedEntry() (offset, gen int64, used, ok bool) {
	const size = len("\r\n" + "0000000000 65535 f" + " ")
	p := &c.p
	if len(p.buf)-p.pos < size {
		return 0, 0, false, false
	}
	b := p.buf[p.pos : p.pos+size]
	if !isSpace(b[0]) || !isSpace(b[1]) || b[12] != ' ' || b[18] != ' ' || isRegular(b[20]) {
		return 0, 0, false, false
	}
	offset, ok1 := fixedDigits(b[2:12])
	gen, ok2 := fixedDigits(b[13:18])
	if used = b[19] == 'n'; !ok1 || !ok2 || !used && b[19] != 'f' {
		return 0, 0, false, false
	}
	p.pos += size - 1
	c.file.spend(int64(size - 1))
	return offset, gen, used, true
}

func fixedDigits(b []byte) (n int64, ok bool) {
	for _, c := range b {
		if !isDigit(c) {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	return n, true
}

// tableEntry reads the entry of object num in any format that the parser accepts.
func (x *xrefReader) tableEntry(c *cursor, num int64) error {
	var offset, gen int64
	var used bool
	err := c.step(func(p *parser) (err error) {
		offset, gen, used, err = p.tableEntry()
		return err
	})
	if err != nil {
		return fmt.Errorf("entry of object %d: %w", num, err)
	}
	return x.addEntry(num, offset, gen, used)
}

func (x *xrefReader) addEntry(num, offset, gen int64, used bool) error {
	if !used {
		return x.add(num, xrefEntry{kind: freeEntry})
	}
	return x.addUncompressed(num, uint64(offset), uint64(gen))
}

func (p *parser) tableEntry() (offset, gen int64, used bool, err error) {
	if offset, err = p.digits(); err != nil {
		return 0, 0, false, err
	}
	if gen, err = p.digits(); err != nil {
		return 0, 0, false, err
	}
	if used = p.keyword("n"); !used && !p.keyword("f") {
		return 0, 0, false, syntaxError("n or f expected")
	}
	return offset, gen, used, nil
}

// trailer reads the trailer dictionary after its keyword. at is the offset of the section.
func trailer(at int64, c *cursor) (xrefSection, error) {
	s := xrefSection{offset: at}
	err := c.step(func(p *parser) (err error) {
		p.skipSpace()
		start := p.pos
		o, err := p.object()
		if err != nil {
			return err
		}
		var ok bool
		if s.trailer, ok = o.(Dict); !ok {
			return syntaxError("the trailer is not a dictionary")
		}
		s.source = append([]byte(nil), p.buf[start:p.pos]...)
		return nil
	})
	s.end = c.offset()
	if err != nil {
		return xrefSection{}, fmt.Errorf("trailer: %w", err)
	}
	return s, nil
}

// parseStream reads a cross-reference stream (7.5.8).
func (x *xrefReader) parseStream(at int64) (xrefSection, error) {
	o, err := x.file.indirectAt(at)
	if err != nil {
		return xrefSection{}, err
	}
	dict, ok := o.value.(Dict)
	if !ok || !o.stream || dict["Type"] != Name("XRef") {
		return xrefSection{}, fmt.Errorf("%w: neither a table nor a cross-reference stream", ErrDamaged)
	}
	length, ok := dict["Length"].(Integer)
	if !ok {
		return xrefSection{}, fmt.Errorf("%w: cross-reference stream without a direct Length", ErrDamaged)
	}
	s := &Stream{Dict: dict, Ref: o.ref, Offset: o.payload, Length: int64(length)}
	if err := x.streamEntries(s); err != nil {
		return xrefSection{}, err
	}
	end := s.Offset + s.Length
	return xrefSection{offset: at, end: end, isStream: true, trailer: dict, source: slices.Clone(o.source)}, nil
}

// streamEntries reads the entries of a cross-reference stream. They are the same in all revisions,
// because all values that it uses are direct (7.5.8.2).
func (x *xrefReader) streamEntries(s *Stream) error {
	for _, key := range []Name{"Filter", "DecodeParms"} {
		if hasReference(s.Dict[key]) {
			return fmt.Errorf("%w: %s of a cross-reference stream is or has a reference", ErrDamaged, key)
		}
	}
	widths, err := fieldWidths(s.Dict)
	if err != nil {
		return err
	}
	runs, total, err := x.indexRanges(s.Dict)
	if err != nil {
		return err
	}
	// The payload may be longer than its entries. decodePrefix returns only the bytes of the
	// entries.
	payload, err := x.file.decodePrefix(s, total*int64(widths.entry()))
	if err != nil {
		return err
	}
	for _, run := range runs {
		for i := range run.count {
			if len(payload) < widths.entry() {
				return fmt.Errorf("%w: cross-reference stream ends before its entries do", ErrDamaged)
			}
			if err := x.streamEntry(run.first+i, widths, payload); err != nil {
				return err
			}
			payload = payload[widths.entry():]
		}
	}
	return nil
}

func hasReference(o Object) bool {
	switch o := o.(type) {
	case Ref:
		return true
	case Array:
		return slices.ContainsFunc(o, hasReference)
	case Dict:
		return slices.ContainsFunc(slices.Collect(maps.Values(o)), hasReference)
	}
	return false
}

func (w widths) entry() int { return w[0] + w[1] + w[2] }

func fieldWidths(dict Dict) (w widths, err error) {
	array, ok := dict["W"].(Array)
	if !ok || len(array) < len(w) {
		return w, fmt.Errorf("%w: cross-reference stream without field widths", ErrDamaged)
	}
	for i := range w {
		n, ok := array[i].(Integer)
		if !ok || n < 0 || n > 8 {
			return w, fmt.Errorf("%w: W of a cross-reference stream has a width that is not 0 to 8", ErrDamaged)
		}
		w[i] = int(n)
	}
	if len(array) > len(w) || w.entry() == 0 {
		return w, fmt.Errorf("%w: cross-reference stream with %d fields of %d bytes", ErrUnsupported, len(array), w.entry())
	}
	return w, nil
}

// indexRanges returns the ranges in Index and the total number of entries. Without Index, the range
// is all numbers below Size.
func (x *xrefReader) indexRanges(dict Dict) (runs []numberRange, total int64, err error) {
	index := Array{Integer(0), dict["Size"]}
	if value := dict["Index"]; value != nil {
		var ok bool
		if index, ok = value.(Array); !ok {
			return nil, 0, fmt.Errorf("%w: Index of a cross-reference stream is not an array", ErrDamaged)
		}
	}
	for ; len(index) >= 2; index = index[2:] {
		first, ok1 := index[0].(Integer)
		count, ok2 := index[1].(Integer)
		if !ok1 || !ok2 || first < 0 || count < 0 {
			return nil, 0, fmt.Errorf("%w: Index of a cross-reference stream has a value that is not a number of at least 0", ErrDamaged)
		}
		if first > maxObjectNumber || count > maxEntries {
			return nil, 0, fmt.Errorf("%w: Index of a cross-reference stream has too high numbers", ErrLimit)
		}
		runs = append(runs, numberRange{int64(first), int64(count)})
		total += int64(count)
		if err := x.checkStreamCount(total); err != nil {
			return nil, 0, err
		}
	}
	return runs, total, nil
}

// checkStreamCount limits the number of entries of a cross-reference stream, with repeated ones of
// one object.
func (x *xrefReader) checkStreamCount(count int64) error {
	if limit := x.file.entryLimit(); count > int64(limit) {
		return fmt.Errorf("%w: cross-reference stream of more than %d entries", ErrLimit, limit)
	}
	return nil
}

// streamEntry reads the entry of object num at the start of payload (Table 18).
func (x *xrefReader) streamEntry(num int64, w widths, payload []byte) error {
	kind := uint64(uncompressedEntry) // the default if the field has width 0
	if w[0] > 0 {
		kind = bigEndian(payload[:w[0]])
	}
	second := bigEndian(payload[w[0] : w[0]+w[1]])
	third := bigEndian(payload[w[0]+w[1] : w.entry()])
	switch kind {
	case uint64(freeEntry):
		return x.add(num, xrefEntry{kind: freeEntry})
	case uint64(uncompressedEntry):
		return x.addUncompressed(num, second, third)
	case uint64(compressedEntry):
		if second > maxObjectNumber || third > maxEntries {
			return fmt.Errorf("%w: object %d in object stream %d at index %d", ErrLimit, num, second, third)
		}
		return x.add(num, xrefEntry{kind: compressedEntry, offset: int64(second), index: uint32(third)})
	}
	return x.add(num, xrefEntry{kind: freeEntry}) // an entry of another type is a reference to null (7.5.8.3)
}

func bigEndian(field []byte) (n uint64) {
	for _, b := range field {
		n = n<<8 | uint64(b)
	}
	return n
}
