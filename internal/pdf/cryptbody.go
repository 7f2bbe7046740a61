package pdf

import (
	"fmt"
	"slices"
)

// body is what an update writes between obj and endobj.
type body struct {
	source  []byte // of the object; of a stream, its dictionary
	value   Object
	stream  bool
	payload []byte
}

// parseBody takes the text of an object apart. The Length of a stream has to be direct.
func parseBody(text []byte) (b body, err error) {
	p := &parser{buf: text, final: true}
	if b.value, err = p.object(); err != nil {
		return b, err
	}
	end := p.pos
	dict, ok := b.value.(Dict)
	if b.stream = ok && p.keyword("stream"); !b.stream {
		b.source = text
		return b, p.end()
	}
	p.skipLineEnd()
	b.source = text[:end]
	length, ok := dict["Length"].(Integer)
	if !ok || length < 0 || int64(length) > int64(len(text)-p.pos) {
		return b, fmt.Errorf("%w: Length of a new stream", ErrDamaged)
	}
	b.payload = text[p.pos : p.pos+int(length)]
	if p.pos += int(length); !p.keyword("endstream") {
		return b, fmt.Errorf("%w: no endstream behind a new stream", ErrDamaged)
	}
	return b, p.end()
}

// text puts it together again.
func (b body) text() []byte {
	if !b.stream {
		return b.source
	}
	return slices.Concat(b.source, []byte("\nstream\n"), b.payload, []byte("\nendstream"))
}
