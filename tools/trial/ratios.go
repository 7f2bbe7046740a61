package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// atMost is how much longer a call may take on a full store.
const atMost = 1.2

// timed is what a call took on two stores.
type timed struct {
	call        string
	empty, full []time.Duration
}

func (t timed) ratio() float64 { return float64(median(t.full)) / float64(median(t.empty)) }

// printRatios prints what calls took on an empty store and on a full one, which is described.
// [errBroken] when one of them took too long.
func printRatios(out io.Writer, full string, list []timed) (err error) {
	columns := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(columns, "medians of %d\tempty store\t%s\tratio\n", len(list[0].full), full)
	for _, t := range list {
		fmt.Fprintf(columns, "%s\t%v\t%v\t%.2f\n", t.call, median(t.empty).Round(time.Microsecond), median(t.full).Round(time.Microsecond), t.ratio())
		if t.ratio() > atMost {
			err = errBroken
		}
	}
	if failed := columns.Flush(); failed != nil {
		return failed
	}
	return err
}
