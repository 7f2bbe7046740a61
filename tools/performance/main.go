// Performance runs the benchmarks of the module and writes docs/performance.md: what each takes, as a multiple of
// the least that can be done, and beside other programs that do the like.
//
//	go run ./tools/performance              all but those that take long, whose rows stay as they are
//	go run ./tools/performance -long        all
//	go run ./tools/performance -only pades  those whose titles have that in them, such as "BenchmarkSign of pades"
//
// It runs at the root of the module, and wants the machine for itself.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	long := flag.Bool("long", false, "also run what takes more than a minute")
	only := flag.String("only", "", "run those whose `title` has this in it")
	page := flag.String("page", "docs/performance.md", "the `file` to write")
	flag.Parse()
	if err := write(ctx, *page, func(m benchmark) bool { return (*long || !m.long) && strings.Contains(m.title(), *only) }); err != nil {
		fmt.Fprintln(os.Stderr, "performance:", err)
		os.Exit(1)
	}
}

// write runs the benchmarks that are asked for, and writes the page after each of them, with what it had of the others.
func write(ctx context.Context, path string, asked func(benchmark) bool) error {
	old, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	about, err := machine(ctx)
	if err != nil {
		return err
	}
	tables := rowsOf(string(old))
	save := func() error { return os.WriteFile(path, []byte(pageOf(about, tables)), 0o644) }
	for _, s := range subjects {
		for _, m := range s.benchmarks {
			if !asked(m) {
				continue
			}
			fmt.Fprintln(os.Stderr, "performance:", m.command())
			if tables[m.title()], err = m.run(ctx); err != nil {
				return err
			}
			if err := save(); err != nil {
				return err
			}
		}
	}
	return save()
}
