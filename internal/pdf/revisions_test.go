package pdf

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRevisions(t *testing.T) {
	linear := func() []byte { // Annex F: the section at the front is read first
		b := newBuilder()
		b.object(1, "<< >>")
		front := b.here()
		tail := fmt.Sprintf("xref\n1 1\n%010d 00000 n \ntrailer\n<< /Size 3 /Prev %%010d /Root 1 0 R >>\nstartxref\n0\n%%%%%%%%EOF\n", b.offsets[1])
		length := len(fmt.Sprintf(tail, 0))
		second := "2 0 obj\n7\nendobj\n"
		fmt.Fprintf(b, tail, front+length+len(second))
		at := b.here()
		fmt.Fprintf(b, "%sxref\n0 1\n0000000000 65535 f \n2 1\n%010d 00000 n \ntrailer\n<< /Size 3 >>\nstartxref\n%d\n%%%%EOF", second, at, front)
		return bytes.Clone(b.Bytes())
	}()
	table, stream := tableFile(), streamFile()
	twice := updatedCatalog(t, updatedCatalog(t, stream))
	tests := map[string]struct {
		content []byte
		want    []int64
	}{
		"table":                  {table, []int64{int64(len(table) - 1)}},
		"stream":                 {stream, []int64{int64(len(stream) - 1)}},
		"linearized":             {linear, []int64{int64(len(linear))}},
		"other bytes at the end": {append(slices.Clone(table), "\njunk"...), []int64{int64(len(table) - 1)}},
		"no marker":              {bytes.TrimSuffix(table, []byte("%%EOF\n")), nil},
		"two updates": {twice, []int64{int64(len(stream) - 1),
			int64(bytes.Index(twice[len(stream):], []byte("%%EOF")) + len(stream) + len("%%EOF")), int64(len(twice) - 1)}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := mustOpen(t, test.content).Revisions()
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Errorf("error %v\n%s", err, diff)
			}
		})
	}
}
