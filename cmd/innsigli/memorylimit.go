package main

import (
	"io/fs"
	"log/slog"
	"math"
	"os"
	pathpkg "path"
	"runtime/debug"
	"strconv"
	"strings"
)

// limitMemory sets the limit of Go's memory (GOMEMLIMIT) to a part of the limit of the cgroup, so that garbage is
// collected before the system ends the process. It does nothing if the environment has GOMEMLIMIT, or the cgroup has no
// limit. rendering is the memory of the page renderer, which is not Go's.
func limitMemory(rendering int64, log *slog.Logger) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	group := cgroupMemory(os.DirFS("/"))
	if group == math.MaxInt64 {
		return
	}
	limit := goMemory(group, rendering)
	debug.SetMemoryLimit(limit)
	log.Info("memory limit of Go set from that of the cgroup", "limit", limit, "cgroup", group, "renderer", rendering)
}

// goMemory returns what of a cgroup's memory is for Go: all but a tenth and the memory of the page renderer, but at least a
// quarter.
func goMemory(group, rendering int64) int64 { return max(group/4, group-group/10-rendering) }

// cgroupMemory returns the least memory.max, in bytes, of this process's cgroup and those that it is in (cgroup v2);
// math.MaxInt64: there is none.
func cgroupMemory(files fs.FS) int64 {
	least := int64(math.MaxInt64)
	groups, err := fs.ReadFile(files, "proc/self/cgroup")
	if err != nil {
		return least
	}
	for line := range strings.Lines(string(groups)) {
		group, ok := strings.CutPrefix(strings.TrimSpace(line), "0::/")
		for ok {
			text, err := fs.ReadFile(files, pathpkg.Join("sys/fs/cgroup", group, "memory.max"))
			if n, parseErr := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && parseErr == nil && n > 0 {
				least = min(least, n)
			}
			if ok = group != "" && group != "."; ok {
				group = pathpkg.Dir(group)
			}
		}
	}
	return least
}
