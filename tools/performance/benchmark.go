package main

import "fmt"

// subject is a heading of the page.
type subject struct {
	title      string
	benchmarks []benchmark
}

// benchmark is one of the module's, with what is to be said of it.
type benchmark struct {
	pkg, name string
	pick      string // of its parts; "": all
	times     string // -benchtime
	what      string // is measured
	floor     string // what 1 is; "": there is none
	unit      string // of the multiple of the floor; "": none is reported
	demanded  string // "": nothing is
	beside    []peer
	long      bool     // takes minutes
	settings  []string // of the environment
}

// peer is another program that does the like.
type peer struct {
	name string
	unit string // in which the benchmark reports its own time as a multiple of the peer's; "": it does not
	by   string // the benchmark that measures the peer, in the same package, with parts of the same names
}

func (m benchmark) title() string { return "Benchmark" + m.name + " of " + m.pkg }

func (m benchmark) pattern() string {
	pattern := "^Benchmark" + m.name + "$"
	if m.pick != "" {
		pattern += "/" + m.pick
	}
	return pattern
}

// arguments are those of go for a benchmark of the same package.
func (m benchmark) arguments() []string {
	return []string{"test", "-run", "^$", "-bench", m.pattern(), "-benchtime", m.times, "-timeout", "2h", "./" + m.pkg}
}

// command is how to see the figures again.
func (m benchmark) command() string {
	text := "go test -run '^$' -bench '" + m.pattern() + "' -benchtime " + m.times + " ./" + m.pkg
	for _, setting := range m.settings {
		text = setting + " " + text
	}
	return text
}

// part is one that measures a peer as a benchmark of its own.
func (p peer) part(m benchmark) benchmark {
	return benchmark{pkg: m.pkg, name: p.by, pick: m.pick, times: "1x", settings: m.settings}
}

func (p peer) String() string {
	if p.by == "" {
		return p.name
	}
	return fmt.Sprintf("%s (Benchmark%s)", p.name, p.by)
}
