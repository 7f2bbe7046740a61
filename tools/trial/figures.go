package main

import (
	"fmt"
	"io"
	"sync"
	"text/tabwriter"
	"time"
)

// figures are what a trial comes to.
type figures struct {
	mu        sync.Mutex
	started   int // requests
	delivered int // with their one document
	repeated  int // delivered again to the byte, after a server had died
	locked    int // starts that a busy signal kept out
	lost      int
	doubled   int
	longest   time.Duration // from the answer to a start to the document, without the time that the person took
	faults    []string      // what should not have happened
}

func (f *figures) add(n *int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	*n++
}

// waited notes how long a document was waited for.
func (f *figures) waited(long time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.longest = max(f.longest, long)
}

// fault notes what should not have happened.
func (f *figures) fault(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append(f.faults, fmt.Sprintf(format, args...))
}

// losses returns how many requests are lost.
func (f *figures) losses() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lost
}

// found returns how many faults and losses there are.
func (f *figures) found() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.faults) + f.lost
}

// maxShown is how many faults are printed.
const maxShown = 20

// print prints the figures, and a line for each fault.
func (f *figures) print(out io.Writer, took time.Duration, rows ...[2]any) error {
	all := append([][2]any{
		{"requests started", f.started},
		{"delivered", fmt.Sprintf("%d (%.0f a second)", f.delivered, float64(f.delivered)/took.Seconds())},
		{"delivered again to the byte", f.repeated},
		{"starts refused by a busy signal", f.locked},
		{"requests lost", f.lost},
		{"documents doubled", f.doubled},
		{"longest wait for a document", f.longest.Round(10 * time.Millisecond)},
	}, rows...)
	return f.table(out, all)
}

// table prints rows, and a line for each fault.
func (f *figures) table(out io.Writer, rows [][2]any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	columns := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, row := range append(rows, [2]any{"faults", len(f.faults)}) {
		fmt.Fprintf(columns, "%v\t%v\n", row[0], row[1])
	}
	err := columns.Flush()
	for _, fault := range f.faults[:min(len(f.faults), maxShown)] {
		fmt.Fprintln(out, fault)
	}
	return err
}
