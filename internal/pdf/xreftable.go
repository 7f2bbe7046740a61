package pdf

import (
	"fmt"
	"strconv"
)

// table reads a cross-reference table behind its keyword, and the trailer (7.5.4, 7.5.5).
// The white space between the numbers is not held against a file.
func (x *xrefReader) table(at int64, c *cursor) (section, error) {
	c.window = 32 << 10
	for {
		first, count, more, err := subsection(c)
		if err != nil {
			return section{}, err
		}
		if !more {
			return trailer(at, c)
		}
		if err := x.tableEntries(c, run{first, count}); err != nil {
			return section{}, err
		}
	}
}

// subsection reads the head of a subsection, or the keyword trailer that ends the table.
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
func (x *xrefReader) tableEntries(c *cursor, r run) error {
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

// fixedEntry reads an entry that stands in the window and is written as 7.5.4 wants it:
// what lies between two entries, 10 digits, 5 digits, and a letter. Most entries of most
// files are, and there may be many.
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

// tableEntry reads the entry of object num.
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
		return x.add(num, xrefEntry{})
	}
	return x.addPlain(num, uint64(offset), uint64(gen))
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

// trailer reads the trailer dictionary behind its keyword.
func trailer(at int64, c *cursor) (section, error) {
	s := section{offset: at}
	err := c.step(func(p *parser) (err error) {
		p.skipSpace()
		start := p.pos
		o, err := p.object()
		if err != nil {
			return err
		}
		var ok bool
		if s.trailer, ok = o.(Dict); !ok {
			return syntaxError("the trailer is no dictionary")
		}
		s.source = append([]byte(nil), p.buf[start:p.pos]...)
		return nil
	})
	s.end = c.offset()
	if err != nil {
		return section{}, fmt.Errorf("trailer: %w", err)
	}
	return s, nil
}
