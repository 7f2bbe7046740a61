package pdfium_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/stamp"
)

// What finding a place may take, and the process that does nothing else, page after page.
// Only the deadline and the memory fail a test: other times are the machine's as well.
const (
	wantMedian = 15 * time.Millisecond
	want99th   = 1200 * time.Millisecond
	deadline   = 2 * time.Second
	busy       = 2 * time.Second // how much later than the deadline a busy machine may be
	maxMemory  = 500 << 20
)

// placementSpeed is what it took.
type placementSpeed struct {
	Times  []time.Duration // in order
	Memory int             // the most that was resident at once, in bytes; 0: nobody says
}

// median and the like.
func (s placementSpeed) of(part float64) time.Duration {
	return s.Times[int(part*float64(len(s.Times)-1))].Round(100 * time.Microsecond)
}

func (s placementSpeed) String() string {
	return fmt.Sprintf("%d places in a row, each in %v (median), %v (99 %%), %v (longest), within %d MB",
		len(s.Times), s.of(.5), s.of(.99), s.of(1), s.Memory>>20)
}

func (s placementSpeed) table() string {
	return fmt.Sprintf(`%d places looked for in a row by a process of its own, with a warm cache.

| | | asked for |
|---|---|---|
| median | %v | %v |
| 99th percentile | %v | %v |
| longest | %v | %v |
| resident memory, at most | %d MB | %d MB |`,
		len(s.Times), s.of(.5), wantMedian, s.of(.99), want99th, s.of(1), deadline, s.Memory>>20, maxMemory>>20)
}

// speedFile tells the test's own program, run again, to be the process that is measured,
// and where it writes what it took.
const speedFile = "INNSIGLI_PLACEMENT_SPEED"

// measured is what such a process measures.
func measured(t *testing.T) (speed placementSpeed) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "speed.json")
	process := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	process.Env = append(os.Environ(), speedFile+"="+path)
	if out, err := process.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	content, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(content, &speed)
	}
	if err != nil {
		t.Fatal(err)
	}
	return speed
}

// measure finds a place on every page from every corner, and writes what it took.
func measure(t *testing.T, to string) {
	renderer := shared(t)
	if _, err := renderer.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	var speed placementSpeed
	for _, f := range tried(t) {
		file, size := open(t, f.Path)
		page, err := stamp.ReadPage(file, size, 1)
		if err != nil {
			continue // TestPlacement says which
		}
		for _, c := range corners {
			began := time.Now()
			_, err := page.Find(t.Context(), renderer, c, stamp.StandardSize)
			took := time.Since(began)
			if speed.Times = append(speed.Times, took); took > deadline+busy {
				t.Errorf("%s: %v (%v)", f.Name, took, err)
			}
		}
		file.Close()
	}
	slices.Sort(speed.Times)
	if speed.Memory = peakMemory(t); speed.Memory > maxMemory {
		t.Errorf("%d MB of memory", speed.Memory>>20)
	}
	content, err := json.Marshal(speed)
	if err == nil {
		err = os.WriteFile(to, content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// peakMemory is VmHWM of proc_pid_status(5), in bytes.
func peakMemory(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Logf("memory is not measured: %v", err)
		return 0
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	var kilobytes int
	if _, err := fmt.Sscan(after, &kilobytes); err != nil {
		t.Fatalf("no VmHWM in %q", status)
	}
	return kilobytes << 10
}
