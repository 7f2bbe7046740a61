package doc

import (
	"bytes"
	"sort"
)

// Span is where the node stands in the source that was parsed, in bytes: tags included.
func (n Node) Span() (start, end int64) {
	if n.doc == nil {
		return 0, 0
	}
	e := n.entry()
	return n.doc.position(e.start), n.doc.position(e.end)
}

// Inside is where the content of an element stands in the source: between its tags. An element
// that is an empty-element tag has none, and start is where its "/>" is.
func (n Node) Inside() (start, end int64, ok bool) {
	if n.Kind() != Element {
		return 0, 0, false
	}
	e := n.entry()
	closing := e.start + uint32(bytes.LastIndexByte(n.doc.text[e.start:e.end], '<'))
	if closing == e.start {
		at := n.doc.position(e.end - uint32(len("/>")))
		return at, at, false
	}
	opened := closing
	if n.index+1 < e.next {
		opened = n.doc.tree.nodes.at(n.index + 1).start
	}
	return n.doc.position(opened), n.doc.position(closing), true
}

// Declaration is where the XML declaration ends in the source, or the byte order mark where there is
// none; 0 where there is neither.
func (d *Document) Declaration() int64 { return d.position(d.declaration) }

// position is where the source has what the text has at offset, the beginning or end of a character.
func (d *Document) position(offset uint32) int64 {
	if d.coding.decoder == nil {
		return int64(d.coding.mark) + int64(offset)
	}
	marks, text := d.coding.marks, int(offset)
	i := sort.Search(len(marks), func(i int) bool { return marks[i].text > text }) - 1
	if i < 0 {
		return int64(d.coding.mark)
	}
	piece := make([]byte, text-marks[i].text)
	_, read, _ := d.coding.decoder().Transform(piece, d.source[marks[i].source:], true)
	return int64(marks[i].source + read)
}
