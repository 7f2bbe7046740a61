package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const preface = `# Performance

What things take, as a multiple of the least that can be done, which is measured in the same run and in turns, so that
another machine, or other work on it, weighs on both. Written by one command, at the root of the checkout:

    go run ./tools/performance

It takes some three minutes and wants the machine for itself; what takes longer is measured with -long only, and keeps its
figures otherwise. Above each table stands how to see its figures alone. **Floor** is what 1 is, **ours** the multiple that
was measured, a name of another program its own multiple of the same floor, and **demanded** what the figure must
not exceed.
`

// pageOf is the page with the tables of all benchmarks.
func pageOf(about string, tables map[string]string) string {
	var page strings.Builder
	fmt.Fprintf(&page, "%s\nThe figures are of %s.\n", preface, about)
	for _, s := range subjects {
		fmt.Fprintf(&page, "\n## %s\n", s.title)
		for _, m := range s.benchmarks {
			table := tables[m.title()]
			if table == "" {
				table = "Not measured yet.\n"
			}
			fmt.Fprintf(&page, "\n### %s\n\n%s\n%s", m.title(), m.describe(), table)
		}
	}
	return page.String()
}

// describe says what is measured, and how to do so again.
func (m benchmark) describe() string {
	text := "Measured: " + m.what + "."
	if m.floor != "" {
		text += "\nFloor: " + m.floor + "."
	}
	if m.demanded != "" {
		text += "\nDemanded: " + m.demanded + "."
	}
	return text + "\n\n    " + m.command() + "\n"
}

// rowsOf are the tables that a page has, by the titles above them.
func rowsOf(page string) map[string]string {
	tables := make(map[string]string)
	title := ""
	for line := range strings.Lines(page) {
		if heading, ok := strings.CutPrefix(line, "### "); ok {
			title = strings.TrimSpace(heading)
		} else if strings.HasPrefix(line, "#") {
			title = ""
		}
		if title != "" && strings.HasPrefix(line, "|") {
			tables[title] += line
		}
	}
	return tables
}

// table is that of one benchmark.
func (m benchmark) table(ours []figures, theirs map[string]map[string]float64) string {
	heads := []string{"", "time", "floor", "ours"}
	for _, p := range m.beside {
		heads = append(heads, p.String())
	}
	heads = append(heads, "beside that")
	rows := [][]string{heads, slices.Repeat([]string{"---"}, len(heads))}
	for _, f := range ours {
		rows = append(rows, m.row(f, theirs))
	}
	var table strings.Builder
	for _, row := range rows {
		fmt.Fprintf(&table, "| %s |\n", strings.Join(row, " | "))
	}
	return table.String()
}

func (m benchmark) row(f figures, theirs map[string]map[string]float64) []string {
	ours, floor := f.values[m.unit], f.values["floor-ns"]/1e9
	if floor == 0 && ours > 0 {
		floor = f.seconds() / ours
	}
	row := []string{f.part, duration(f.seconds()), duration(floor), figure(ours)}
	for _, p := range m.beside {
		switch {
		case p.by == "" && f.values[p.unit] > 0:
			row = append(row, figure(ours/f.values[p.unit]))
		case theirs[p.name][f.part] > 0 && floor > 0:
			row = append(row, figure(theirs[p.name][f.part]/floor))
		case theirs[p.name][f.part] > 0:
			row = append(row, duration(theirs[p.name][f.part]))
		default:
			row = append(row, "")
		}
	}
	return append(row, m.rest(f))
}

// rest is what else a benchmark says that does not depend on the machine alone.
func (m benchmark) rest(f figures) string {
	var all []string
	for _, unit := range f.units {
		switch unit {
		case m.unit, "ns/op", "MB/s", "floor-ns", "s-each", "allocs/op":
			continue
		}
		if slices.ContainsFunc(m.beside, func(p peer) bool { return p.unit == unit }) {
			continue
		}
		all = append(all, figure(f.values[unit])+" "+unit)
	}
	return strings.Join(append(all, f.said...), ", ")
}

// figure has three digits that count.
func figure(x float64) string {
	switch {
	case x == 0:
		return ""
	case x >= 1000:
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

func duration(seconds float64) string {
	switch {
	case seconds == 0:
		return ""
	case seconds < 1e-3:
		return figure(seconds*1e6) + " µs"
	case seconds < 1:
		return figure(seconds*1e3) + " ms"
	}
	return figure(seconds) + " s"
}
