package pdf

import (
	"bytes"
	"slices"
	"testing"
)

// ISO 32000-2 7.5.2 and table 29, Version: the later of the two.
func TestVersion(t *testing.T) {
	tests := []struct {
		name, before, header, catalog string
		major, minor                  int
	}{
		{"header", "", "1.7", "", 1, 7},
		{"header of PDF 2.0", "", "2.0", "", 2, 0},
		{"catalog later", "", "1.4", "/Version /1.7", 1, 7},
		{"catalog of a later major version", "", "1.7", "/Version /2.0", 2, 0},
		{"catalog earlier", "", "1.7", "/Version /1.4", 1, 7},
		{"catalog indirect", "", "1.4", "/Version 3 0 R", 1, 6},
		{"catalog's is no name", "", "1.4", "/Version (1.7)", 1, 4},
		{"catalog's is no version", "", "1.4", "/Version /PDF", 1, 4},
		{"catalog's is negative", "", "1.4", "/Version /9.-1", 1, 4},
		{"junk before", "HTTP/1.1 200 OK\r\n\r\n", "1.5", "", 1, 5},
		{"header without a version", "", "x.y", "", 0, 0},
		{"header without a version, catalog with one", "", "x.y", "/Version /1.7", 1, 7},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBuilder()
			b.object(1, "<< /Type /Catalog "+tt.catalog+" >>")
			b.object(3, "/1.6")
			content := bytes.Replace(b.table(4, "/Root 1 0 R"), []byte("%PDF-1.7"), []byte("%PDF-"+tt.header), 1)
			f := mustOpen(t, slices.Concat([]byte(tt.before), content))
			if major, minor := f.Version(); major != tt.major || minor != tt.minor {
				t.Errorf("%d.%d, want %d.%d", major, minor, tt.major, tt.minor)
			}
		})
	}
}
