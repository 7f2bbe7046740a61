package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
)

// checkSheet is what checks came to, in their order.
type checkSheet []checkLine

// checkLine is what one check came to.
type checkLine struct {
	verdict, what, says string
	advice              string // what to do; empty when nothing has to be done
}

// The verdicts. A doubt is about what may well be right.
const (
	checkOK    = "ok"
	checkDoubt = "doubt"
	checkFault = "FAULT"
)

func (s *checkSheet) ok(what, says string) {
	*s = append(*s, checkLine{verdict: checkOK, what: what, says: says})
}

func (s *checkSheet) doubt(what, says, advice string) {
	*s = append(*s, checkLine{checkDoubt, what, says, advice})
}

func (s *checkSheet) fault(what, says, advice string) {
	*s = append(*s, checkLine{checkFault, what, says, advice})
}

// faulty says whether there is a fault.
func (s checkSheet) faulty() bool {
	return slices.ContainsFunc(s, func(l checkLine) bool { return l.verdict == checkFault })
}

// finding is a line in JSON.
type finding struct {
	Verdict string `json:"verdict"` // ok, doubt or fault
	Check   string `json:"check"`
	Says    string `json:"says"`
	Advice  string `json:"advice"`
}

func (l checkLine) finding() finding {
	return finding{strings.ToLower(l.verdict), l.what, l.says, l.advice}
}

// WriteTo writes the sheet as a table, with the advice below what it is about.
func (s checkSheet) WriteTo(w io.Writer) (int64, error) {
	var b bytes.Buffer
	for _, l := range s {
		fmt.Fprintf(&b, "%-6s %-14s %s\n", l.verdict, l.what, l.says)
		if l.advice != "" {
			fmt.Fprintf(&b, "%-6s %-14s %s\n", "", "", l.advice)
		}
	}
	return b.WriteTo(w)
}
