package main

import (
	"math"
	"testing"
	"testing/fstest"
)

func TestCgroupMemory(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"no cgroup":                {nil, math.MaxInt64},
		"no limit":                 {map[string]string{"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "max\n"}, math.MaxInt64},
		"limit of a container":     {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "536870912\n"}, 512 << 20},
		"limit of the unit":        {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "1000\n", "sys/fs/cgroup/a/memory.max": "max\n"}, 1000},
		"limit of the slice":       {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "1000\n", "sys/fs/cgroup/a/memory.max": "900\n"}, 900},
		"group is not mounted":     {map[string]string{"proc/self/cgroup": "0::/../x/y\n", "sys/fs/cgroup/memory.max": "1000\n"}, 1000},
		"cgroup v1 beside v2":      {map[string]string{"proc/self/cgroup": "4:memory:/b\n0::/a\n", "sys/fs/cgroup/a/memory.max": "1000\n"}, 1000},
		"cgroup v1 alone":          {map[string]string{"proc/self/cgroup": "4:memory:/b\n", "sys/fs/cgroup/b/memory.max": "1000\n"}, math.MaxInt64},
		"not a number is no limit": {map[string]string{"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "0x10\n"}, math.MaxInt64},
	} {
		files := fstest.MapFS{}
		for path, text := range test.files {
			files[path] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := cgroupMemory(files); got != test.want {
			t.Errorf("%s: got %d, want %d", name, got, test.want)
		}
	}
}

func TestGoMemory(t *testing.T) {
	for _, test := range []struct{ group, rendering, want int64 }{{1000, 300, 600}, {1000, 800, 250}} {
		if got := goMemory(test.group, test.rendering); got != test.want {
			t.Errorf("%+v: got %d", test, got)
		}
	}
}
