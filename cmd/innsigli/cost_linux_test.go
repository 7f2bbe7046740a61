package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

// cost is what a run takes.
type cost struct {
	wall, processor time.Duration
	memory          int // the peak of the resident set, in bytes; 0: not known
}

// costOf returns what a program takes, as its parent sees it.
func costOf(b *testing.B, name string, args ...string) cost {
	b.Helper()
	var output bytes.Buffer
	command := exec.Command(name, args...)
	command.Stdout, command.Stderr = &output, &output
	began := time.Now()
	if err := command.Start(); err != nil {
		b.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for peak := 0; ; {
		select {
		case <-ticker.C:
			peak = max(peak, peakMemory(command.Process.Pid))
		case err := <-ended:
			if err != nil {
				b.Fatalf("%s %v: %v\n%s", name, args, err, &output)
			}
			return cost{time.Since(began), command.ProcessState.UserTime() + command.ProcessState.SystemTime(), peak}
		}
	}
}

// peakMemory returns VmHWM of proc_pid_status(5), in bytes; 0 if the process has ended. The ru_maxrss of getrusage(2) is no
// less than what the parent had.
func peakMemory(pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, value, _ := strings.Cut(string(text), "\nVmHWM:")
	fields := strings.Fields(value)
	if len(fields) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(fields[0])
	return n << 10
}

// inTurns measures ours and the floor in turns, so that other work of the machine weighs on both. It reports the medians.
func inTurns(b *testing.B, ours, floor func() cost) {
	b.Helper()
	var our, least []cost
	for b.Loop() {
		our = append(our, ours())
		b.StopTimer()
		least = append(least, floor())
		b.StartTimer()
	}
	wall := func(c cost) time.Duration { return c.wall }
	processor := func(c cost) time.Duration { return c.processor }
	memory := slices.MaxFunc(our, func(x, y cost) int { return x.memory - y.memory }).memory
	b.ReportMetric(float64(medianOf(least, wall)), "floor-ns")
	b.ReportMetric(float64(medianOf(our, wall))/float64(medianOf(least, wall)), "x-floor")
	b.ReportMetric(float64(medianOf(our, processor))/float64(medianOf(least, processor)), "x-floor-processor")
	b.ReportMetric(float64(medianOf(our, processor))/1e6, "processor-ms")
	if memory > 0 {
		b.ReportMetric(float64(memory)/1e6, "peak-MB")
	}
}

func medianOf(all []cost, of func(cost) time.Duration) time.Duration {
	var values []time.Duration
	for _, c := range all {
		values = append(values, of(c))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// BenchmarkStart measures a command that does nothing but start.
func BenchmarkStart(b *testing.B) {
	folder := b.TempDir()
	empty := filepath.Join(folder, "empty")
	if err := os.WriteFile(empty+".go", []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	if output, err := exec.Command(testenv.Program(b, "go"), "build", "-o", empty, empty+".go").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, output)
	}
	program := build(b, "-trimpath", "-ldflags=-s -w")
	inTurns(b, func() cost { return costOf(b, program, "version") }, func() cost { return costOf(b, empty) })
}

// BenchmarkLargePDF measures signing a PDF of 1 GB by command. The command also flushes what it writes, and cp does not.
func BenchmarkLargePDF(b *testing.B) {
	program := build(b)
	folder := b.TempDir()
	catest.WriteSigner(b, folder, catest.New(b))
	path := func(name string) string { return filepath.Join(folder, name) }
	if err := os.WriteFile(path("in.pdf"), pdftest.Build(pdftest.Options{Payload: 1 << 30}), 0o600); err != nil {
		b.Fatal(err)
	}
	syscall.Sync()
	sign := func() cost {
		return costOf(b, program, "sign", path("in.pdf"), "--cert", path("chain.pem"), "--key", path("key.pem"), "-o", path("out.pdf"))
	}
	inTurns(b, sign, func() cost {
		before := testenv.ProcessorTime(b)
		began := time.Now()
		file, err := os.Open(path("in.pdf"))
		if err != nil {
			b.Fatal(err)
		}
		defer file.Close()
		if _, err := io.CopyBuffer(struct{ io.Writer }{sha256.New()}, struct{ io.Reader }{file}, make([]byte, 256<<10)); err != nil {
			b.Fatal(err)
		}
		hashed := cost{wall: time.Since(began), processor: testenv.ProcessorTime(b) - before}
		copied := costOf(b, "cp", path("in.pdf"), path("copy.pdf"))
		syscall.Sync() // else the next flush of the command would flush the copy too
		return cost{wall: hashed.wall + copied.wall, processor: hashed.processor + copied.processor}
	})
}
