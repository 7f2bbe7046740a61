package main

import (
	"context"
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
