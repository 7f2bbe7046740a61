package pdf

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

const manyObjects = 50_000

// manyTable is a file of many objects with a table, of about 20 MB.
func manyTable() []byte {
	b := newBuilder()
	content := bytes.Repeat([]byte("x"), 350)
	b.object(1, "<< /Type /Catalog /Pages 2 0 R >>")
	b.object(2, "<< /Type /Pages /Kids [3 0 R] >>")
	b.object(3, "<< /Type /Page >>")
	for num := 4; num < manyObjects; num++ {
		b.object(num, fmt.Sprintf("(%s)", content))
	}
	return b.table(manyObjects, "/Root 1 0 R")
}

// manyCompressed is a file of many objects in object streams of 100.
func manyCompressed() []byte {
	b := newBuilder()
	entries := map[int][3]int{}
	const streams = manyObjects / 100
	for s := range streams {
		objects := map[int]string{}
		for num := max(s*100, 1); num < (s+1)*100; num++ {
			objects[num] = fmt.Sprintf("<< /Type /Annot /Contents (object %d) /Parent 3 0 R >>", num)
		}
		if s == 0 {
			objects[1], objects[2], objects[3] = "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] >>", "<< /Type /Page >>"
		}
		for num, e := range b.objectStream(manyObjects+s, objects) {
			entries[num] = e
		}
	}
	return b.xrefStream(manyObjects+streams, manyObjects+streams+1, entries, "/Root 1 0 R")
}

// BenchmarkOpen opens files of 50,000 objects, reads a page and writes an update. What
// the open file keeps is "kept-B".
func BenchmarkOpen(b *testing.B) {
	for name, content := range map[string][]byte{"table": manyTable(), "objectstreams": manyCompressed()} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				openPatchUpdate(b, content)
			}
			kept := keptBytes(b, content)
			if b.ReportMetric(float64(kept), "kept-B"); kept > 12<<20 {
				b.Errorf("%d bytes kept, more than 12 MiB", kept)
			}
		})
	}
}

func openPatchUpdate(t testing.TB, content []byte) {
	f := mustOpen(t, content)
	page, err := f.Page(1)
	if err != nil {
		t.Fatal(err)
	}
	u := f.NewUpdate()
	source, err := u.Source(page.Ref)
	if err != nil {
		t.Fatal(err)
	}
	u.Set(page.Ref, source)
	if _, _, err := u.Bytes(); err != nil {
		t.Fatal(err)
	}
}

// keptBytes measures the heap that an open file holds.
func keptBytes(t testing.TB, content []byte) uint64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f := mustOpen(t, content)
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(f)
	return after.HeapAlloc - min(before.HeapAlloc, after.HeapAlloc)
}

// mostToOpen is more than the tables of 50,000 objects take, and less than the objects do.
const mostToOpen = 4 << 20

// A file of 50,000 objects is opened without reading them.
func TestOpenIsLazy(t *testing.T) {
	for name, content := range map[string][]byte{"table": manyTable(), "object streams": manyCompressed()} {
		opened := testenv.Allocated(func() { mustOpen(t, content) })
		updated := testenv.Allocated(func() { openPatchUpdate(t, content) })
		t.Logf("%s: file of %d bytes, %d allocated to open it, %d with an update", name, len(content), opened, updated)
		if opened > mostToOpen || updated > mostToOpen {
			t.Errorf("%s: %d bytes allocated to open it, %d with an update, more than %d", name, opened, updated, mostToOpen)
		}
	}
}
