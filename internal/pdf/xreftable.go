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
		for i := range count {
			if err := x.tableEntry(c, first+i); err != nil {
				return section{}, err
			}
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
