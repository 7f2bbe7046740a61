package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

// figures are what one part of a benchmark reports, by units.
type figures struct {
	part   string // below the benchmark; "": it has none
	values map[string]float64
	units  []string // in their order
	said   []string // what it logs as "figure: ..."
}

// run measures a benchmark and its peers, and returns the rows of its table.
func (m benchmark) run(ctx context.Context) (string, error) {
	ours, err := m.measure(ctx)
	if err != nil {
		return "", err
	}
	theirs := make(map[string]map[string]float64) // seconds, by peers and parts
	for _, p := range m.beside {
		if p.by == "" {
			continue
		}
		found, err := p.part(m).measure(ctx)
		if err != nil {
			return "", err
		}
		theirs[p.name] = make(map[string]float64)
		for _, f := range found {
			theirs[p.name][f.part] = f.seconds()
		}
	}
	return m.table(ours, theirs), nil
}

// measure runs a benchmark.
func (m benchmark) measure(ctx context.Context) ([]figures, error) {
	c := exec.CommandContext(ctx, "go", m.arguments()...)
	c.Env = append(os.Environ(), m.settings...)
	var faults bytes.Buffer
	c.Stderr = &faults
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s%s", m.command(), err, out, faults.Bytes())
	}
	found := parse(string(out), m.name)
	if len(found) == 0 {
		return nil, fmt.Errorf("%s: no figures\n%s", m.command(), out)
	}
	return found, nil
}

// parse reads the lines that go test prints of a benchmark: one of figures for each part, and behind it what the part
// has logged.
func parse(out, name string) (all []figures) {
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		if _, said, ok := strings.Cut(line, ": figure: "); ok && len(all) > 0 {
			last := &all[len(all)-1]
			last.said = append(last.said, strings.Join(strings.Fields(said), " "))
			continue
		}
		if len(fields) < 2 {
			continue
		}
		full, ok := strings.CutPrefix(fields[0], "Benchmark"+name)
		full = strings.TrimSuffix(full, fmt.Sprintf("-%d", runtime.GOMAXPROCS(0)))
		if !ok || full != "" && full[0] != '/' {
			continue
		}
		f := figures{part: strings.TrimPrefix(full, "/"), values: make(map[string]float64)}
		for pair := fields[2:]; len(pair) >= 2; pair = pair[2:] {
			value, err := strconv.ParseFloat(pair[0], 64)
			if err != nil {
				continue
			}
			f.values[pair[1]] = value
			f.units = append(f.units, pair[1])
		}
		all = append(all, f)
	}
	return all
}

// seconds is what one time takes: as the benchmark says itself, else as go test found.
func (f figures) seconds() float64 {
	if each, ok := f.values["s-each"]; ok {
		return each
	}
	return f.values["ns/op"] / 1e9
}

// machine describes where and of what the figures are.
func machine(ctx context.Context) (string, error) {
	commit, err := exec.CommandContext(ctx, "git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "", fmt.Errorf("which commit: %w", err)
	}
	others, err := versions()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s/%s with %d processors, %s, commit %s, what was made of it or, in tables that were kept, one before, and %s", runtime.GOOS, runtime.GOARCH,
		runtime.NumCPU(), runtime.Version(), bytes.TrimSpace(commit), strings.Join(others, ", ")), nil
}

// versions are those of the other programs, as the checks install them.
func versions() (all []string, err error) {
	for _, p := range []struct{ name, file, before, behind string }{
		{"pyHanko", ".ci/pyhanko/requirements.txt", "pyHanko==", "\n"},
		{"signxml", ".ci/signxml/requirements.txt", "signxml==", "\n"},
		{"EU DSS", ".ci/dss/pom.xml", "<dss.version>", "<"},
	} {
		text, err := os.ReadFile(p.file)
		if err != nil {
			return nil, err
		}
		_, version, _ := strings.Cut(string(text), p.before)
		version, _, found := strings.Cut(version, p.behind)
		if !found {
			return nil, fmt.Errorf("%s has no version of %s", p.file, p.name)
		}
		all = append(all, p.name+" "+version)
	}
	return all, nil
}
