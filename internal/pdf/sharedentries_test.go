package pdf

import (
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A table that shares chunks has what one has that every entry was added to, and what is written to it changes no
// other.
func TestTablesShareChunks(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var whole, shared entryTable
		layers := make([]entryTable, 4)
		for i := range layers {
			for range random.IntN(60) {
				num, e := random.Uint32N(5*chunkSize), xrefEntry{kind: entryKind(random.IntN(3)), offset: random.Int64N(1000)}
				layers[i].add(num, e)
			}
			for num, e := range layers[i].all() {
				whole.add(num, e)
			}
			layers[i].markShared()
		}
		before := make([]map[uint32]xrefEntry, len(layers))
		for i := range layers {
			before[i] = maps.Collect(layers[i].all())
			shared.addTable(&layers[i])
		}
		unexported := cmp.AllowUnexported(xrefEntry{})
		if diff := cmp.Diff(maps.Collect(whole.all()), maps.Collect(shared.all()), unexported); diff != "" || whole.count != shared.count {
			t.Fatalf("%d entries instead of %d\n%s", shared.count, whole.count, diff)
		}
		for num := range maps.Collect(shared.all()) {
			shared.set(num, xrefEntry{kind: uncompressedEntry, offset: 5000})
			if num%2 == 0 {
				shared.forget(num)
			}
		}
		for i := range layers {
			if diff := cmp.Diff(before[i], maps.Collect(layers[i].all()), unexported); diff != "" {
				t.Fatal(diff)
			}
		}
	}
}
