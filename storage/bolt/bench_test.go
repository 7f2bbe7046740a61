package bolt_test

import (
	"crypto"
	"io"
	"testing"
)

const benchSize = 22 << 20

func BenchmarkCreate(b *testing.B) {
	db := openIn(b, b.TempDir())
	b.SetBytes(benchSize)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := db.Documents().Create(b.Context(), &pattern{size: benchSize}, benchSize, crypto.SHA256); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	db := openIn(b, b.TempDir())
	ref, err := db.Documents().Create(b.Context(), &pattern{size: benchSize}, benchSize)
	if err != nil {
		b.Fatal(err)
	}
	blob, err := db.Documents().Open(b.Context(), ref.ID)
	if err != nil {
		b.Fatal(err)
	}
	defer blob.Close()
	buf := make([]byte, 32<<10)
	b.SetBytes(benchSize)
	for b.Loop() {
		for offset := int64(0); offset < benchSize; offset += int64(len(buf)) {
			if _, err := blob.ReadAt(buf, offset); err != nil && err != io.EOF {
				b.Fatal(err)
			}
		}
	}
}
