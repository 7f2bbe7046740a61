package pdfium_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/stamp"
)

// What finding a place may take. Only the deadline and the memory are judged, by .ci/full.
const (
	wantMedian = 15 * time.Millisecond
	want99th   = 1200 * time.Millisecond
	deadline   = 2 * time.Second
	busy       = 2 * time.Second // how much later than the deadline a machine may be that does little else
	maxMemory  = 500 << 20
)

// foundPlaces is what a process found that did nothing else, page after page, and what it took.
type foundPlaces struct {
	Pages  []foundPage
	Memory int // the most that was resident at once, in bytes; 0: nobody says
}

type foundPage struct {
	Name, Path string
	Unread     string     // why, if it is
	Size       stamp.Size // of the page
	Places     [4]foundPlace
}

// foundPlace is a place, or why there is none.
type foundPlace struct {
	Found   stamp.Rect
	Refused string
	Took    time.Duration
}

// findingsFile tells the test's own program, run again, to be that process, and where it
// writes what it found.
const findingsFile = "INNSIGLI_PLACEMENT_FINDINGS"

// findings runs that process.
func findings(t *testing.T) (found foundPlaces) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "findings.json")
	process := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=1h")
	process.Env = append(os.Environ(), findingsFile+"="+path)
	if out, err := process.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	content, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(content, &found)
	}
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// findAll is what that process does.
func findAll(t *testing.T, to string) {
	renderer := shared(t)
	var found foundPlaces
	for _, f := range tried(t) {
		p := foundPage{Name: f.Name, Path: f.Path}
		p.find(t, renderer)
		found.Pages = append(found.Pages, p)
	}
	if found.Memory = peakMemory(t); found.Memory > maxMemory && testenv.Full() {
		t.Errorf("%d MB of memory", found.Memory>>20)
	}
	content, err := json.Marshal(found)
	if err == nil {
		err = os.WriteFile(to, content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (p *foundPage) find(t *testing.T, renderer stamp.Renderer) {
	file, err := os.Open(p.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	stat, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	page, err := stamp.ReadPage(file, stat.Size(), 1)
	if err != nil {
		if p.Unread = err.Error(); !errors.Is(err, stamp.ErrUnreadable) {
			t.Errorf("%s: %v", p.Name, err)
		}
		return
	}
	p.Size = page.Size
	for c := range p.Places {
		place := &p.Places[c]
		began := time.Now()
		place.Found, err = page.Find(t.Context(), renderer, stamp.Corner(c), stamp.StandardSize)
		place.Took = time.Since(began) // time: judged by .ci/full alone
		if testenv.Full() && place.Took > deadline+busy {
			t.Errorf("%s: it took %v", p.Name, place.Took)
		}
		if err != nil {
			place.Refused = err.Error()
		}
		if err != nil && !errors.Is(err, stamp.ErrNoRoom) && !errors.Is(err, stamp.ErrNotDrawn) {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
}

// times are those of all places, in order.
func (f foundPlaces) times() (all []time.Duration) {
	for _, p := range f.Pages {
		for _, place := range p.Places {
			if p.Unread == "" {
				all = append(all, place.Took)
			}
		}
	}
	slices.Sort(all)
	return all
}

// atMost is how long that part of the places took at most.
func atMost(times []time.Duration, part float64) time.Duration {
	return times[int(part*float64(len(times)-1))].Round(100 * time.Microsecond)
}

func (f foundPlaces) String() string {
	times := f.times()
	return fmt.Sprintf("%d places in a row, each in %v (median), %v (99 %%), %v (longest), within %d MB",
		len(times), atMost(times, .5), atMost(times, .99), atMost(times, 1), f.Memory>>20)
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
