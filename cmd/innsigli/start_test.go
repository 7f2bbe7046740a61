package main

import (
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
)

// The program starts at once. Its packages prepare what they need on first use and not when the program starts, and a
// command builds only its own flags. Both are counted in allocations, which do not depend on the machine.
const (
	initLimit  = 64 << 10 // bytes that one of our packages allocates
	buildLimit = 3000     // allocations of a command that does nothing else
)

func TestStart(t *testing.T) {
	command := exec.Command(build(t), "version")
	command.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	// init PACKAGE @… ms, … ms clock, N bytes, N allocs
	lines := regexp.MustCompile(`(?m)^init (main|github\.com/innsigli/\S+) .* (\d+) bytes, \d+ allocs$`).FindAllStringSubmatch(string(output), -1)
	if len(lines) < 10 {
		t.Fatalf("%d of our packages in the trace:\n%s", len(lines), output)
	}
	for _, line := range lines {
		if bytes, err := strconv.Atoi(line[2]); err != nil || bytes > initLimit {
			t.Errorf("%s allocates %s bytes when the program starts, more than %d", line[1], line[2], initLimit)
		}
	}
	allocations := testing.AllocsPerRun(5, func() {
		if status := run(t.Context(), []string{"version"}, io.Discard, io.Discard); status != done {
			t.Errorf("exit status %d", status)
		}
	})
	if allocations > buildLimit {
		t.Errorf("%.0f allocations, more than %d", allocations, buildLimit)
	}
}
