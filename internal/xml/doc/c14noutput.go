package doc

import (
	"bytes"
	"fmt"
	"io"
)

const (
	outputSize = 16 << 10

	// maxGrowth is how many times longer than its document a canonical form may be. Escapes and end
	// tags make six of it at most, but Exclusive says a long name of a namespace again for each short
	// element that uses it.
	maxGrowth   = 16
	alwaysGrown = 1 << 20
)

// output gathers what is short. After an error it writes nothing any more.
type output struct {
	w      io.Writer
	buffer []byte
	left   int // bytes that may still be written
	err    error
}

func newOutput(w io.Writer, document int) output {
	return output{w: w, buffer: make([]byte, 0, outputSize+outputSize/4), left: maxGrowth*document + alwaysGrown}
}

func (o *output) flush() {
	o.write(o.buffer)
	o.buffer = o.buffer[:0]
}

func (o *output) write(p []byte) {
	if o.left -= len(p); o.left < 0 && o.err == nil {
		o.err = fmt.Errorf("%w: length of a canonical form", ErrLimit)
	}
	if len(p) > 0 && o.err == nil {
		_, o.err = o.w.Write(p)
	}
}

func (o *output) bytes(p []byte) {
	if len(o.buffer)+len(p) > outputSize {
		o.flush()
	}
	if len(p) <= outputSize {
		o.buffer = append(o.buffer, p...)
	} else {
		o.write(p)
	}
}

// string is for what is short, and comes with something that goes through bytes.
func (o *output) string(s string) { o.buffer = append(o.buffer, s...) }

// lines writes what has no references, with its line ends as "\n" (XML 1.0, 2.11).
func (o *output) lines(p []byte) {
	for {
		i := bytes.IndexByte(p, '\r')
		if i < 0 {
			break
		}
		o.bytes(p[:i])
		o.string("\n")
		p = bytes.TrimPrefix(p[i+1:], []byte("\n"))
	}
	o.bytes(p)
}

// escapes are the characters that have another form, each with it.
type escapes [256]string

// Of Canonical XML 1.0, 2.3: text nodes and attribute nodes.
var (
	escapedInText  = escapes{'&': "&amp;", '<': "&lt;", '>': "&gt;", '\r': "&#xD;"}
	escapedInValue = escapes{'&': "&amp;", '<': "&lt;", '"': "&quot;", '\t': "&#x9;", '\n': "&#xA;", '\r': "&#xD;"}
)

// plain is how many bytes have no other form.
func plain(p []byte, special *escapes) int {
	for i, b := range p {
		if special[b] != "" {
			return i
		}
	}
	return len(p)
}

func (o *output) escaped(p []byte, special *escapes) {
	for len(p) > 0 {
		n := plain(p, special)
		o.bytes(p[:n])
		if n == len(p) {
			return
		}
		o.string(special[p[n]])
		p = p[n+1:]
	}
}
