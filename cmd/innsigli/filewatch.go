package main

import (
	"maps"
	"os"
)

// fileWatch notices that files were changed.
type fileWatch struct {
	seen, next map[string]fileVersion // the files as they were read, and as they are about to be
}

// changed says whether the files are others than those that were read, and have come to
// rest: half of a file could be read without a fault.
func (w *fileWatch) changed() bool {
	now := make(map[string]fileVersion)
	for path := range w.seen {
		now[path] = fileVersion{}
		if stat, err := os.Stat(path); err == nil {
			now[path] = versionOf(stat)
		}
	}
	atRest := maps.Equal(now, w.next)
	w.next = now
	return atRest && !maps.Equal(now, w.seen)
}
