// Command mutation seeds faults in the packages, one at a time, and shows which tests find them. A fault that
// no test finds is a rule of the code that no test holds: the command names it and fails.
//
//	go run ./tools/mutation                        all faults of signatures.txt and service.txt
//	go run ./tools/mutation -only pades            those whose headings contain a text
//	go run ./tools/mutation -from service.txt      those of one file
//
// A fault is compiled in by an overlay: the checkout stays as it is. The tests of the fault's own package run first, with
// -short, then those of the other packages that import it, until one fails.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	only := flag.String("only", "", "seed the faults whose headings contain this `text`")
	from := flag.String("from", "*.txt", "seed the faults of this `file`")
	flag.Parse()
	if err := run(ctx, *from, *only); err != nil {
		fmt.Fprintln(os.Stderr, "mutation:", err)
		os.Exit(1)
	}
}

// run seeds the faults and prints a line for each, and at last how many each suite found.
func run(ctx context.Context, from, only string) error {
	faults, err := read(filepath.Join("tools/mutation", from))
	if err != nil {
		return err
	}
	found, missed := make(map[string]int), 0
	for _, f := range faults {
		if !strings.Contains(f.heading(), only) {
			continue
		}
		start := time.Now()
		suite, test, err := f.seed(ctx, ".")
		if err != nil {
			return fmt.Errorf("%s: %w", f.heading(), err)
		}
		result := "MISSED"
		if suite != "" {
			found[suite]++
			result = suite + " " + test
		} else {
			missed++
		}
		fmt.Printf("%4.0f s  %s: %s\n", time.Since(start).Seconds(), f.heading(), result)
	}
	fmt.Println()
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, suite := range suites {
		if found[suite] > 0 {
			fmt.Fprintf(table, "%s\tfound %d\n", suite, found[suite])
		}
	}
	table.Flush()
	if missed > 0 {
		return fmt.Errorf("%d faults that no test finds", missed)
	}
	return nil
}
