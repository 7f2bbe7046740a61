package main

import (
	"fmt"
	"io"
	"time"
)

// progress is a line that says how far a long work is. It is shown on a terminal alone.
type progress struct {
	w    io.Writer // nil: to nobody
	unit string
	last time.Time
}

func newProgress(w io.Writer, unit string) *progress {
	p := &progress{unit: unit, last: time.Now()}
	if isTerminal(w) {
		p.w = w
	}
	return p
}

// progressEvery keeps the line from slowing down the work, and that of a short one from
// being shown at all.
const progressEvery = 200 * time.Millisecond

func (p *progress) show(n int64) {
	if p.w == nil || time.Since(p.last) < progressEvery {
		return
	}
	p.last = time.Now()
	fmt.Fprintf(p.w, "\r\x1b[K%d %s", n, p.unit)
}

// end removes the line.
func (p *progress) end() {
	if p.w != nil {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
