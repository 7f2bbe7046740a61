package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// anonymousMemory is RssAnon of proc_pid_status(5), in bytes. Pages of files that a process has mapped, as
// bbolt has its own, are the kernel's to take back and do not count.
func anonymousMemory(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "RssAnon:" && fields[2] == "kB" {
			n, err := strconv.ParseInt(fields[1], 10, 64)
			return n << 10, err
		}
	}
	return 0, fmt.Errorf("no RssAnon in %q", text)
}

// peakOf looks at a server's memory until the context ends, and returns the most that it had.
func peakOf(ctx context.Context, s *server) (peak int64, err error) {
	const every = 5 * time.Millisecond
	for {
		n, err := anonymousMemory(s.command.Process.Pid)
		if err != nil {
			return 0, err
		}
		peak = max(peak, n)
		if pause(ctx, every); ctx.Err() != nil {
			return peak, nil
		}
	}
}

// cpuTime is the CPU time that a process has taken, of proc_pid_stat(5).
func cpuTime(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	const ticks = 100                              // a second, on all architectures that Go supports
	_, after, _ := strings.Cut(string(text), ") ") // the name before it may have spaces
	fields := strings.Fields(after)
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat is %q", pid, text)
	}
	user, err := strconv.ParseInt(fields[11], 10, 64)
	system, systemErr := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * time.Second / ticks, errors.Join(err, systemErr)
}

// bytesWritten is what a process has caused to be sent to disks, of proc_pid_io(5).
func bytesWritten(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if n, ok := strings.CutPrefix(line, "write_bytes: "); ok {
			return strconv.ParseInt(strings.TrimSpace(n), 10, 64)
		}
	}
	return 0, fmt.Errorf("no write_bytes in %q", text)
}

// isPostgres reports whether a process of this machine is one of a Postgres server.
func isPostgres(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return err == nil && strings.HasPrefix(string(text), "postgres")
}
