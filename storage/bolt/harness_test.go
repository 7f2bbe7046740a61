package bolt_test

import (
	"io"
	"testing"

	"github.com/innsigli/innsigli/storage/bolt"
)

func open(t testing.TB, path string) *bolt.DB {
	t.Helper()
	return openWith(t, path, bolt.Options{})
}

func openWith(t testing.TB, path string, opts bolt.Options) *bolt.DB {
	t.Helper()
	db, err := bolt.Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// pattern is a document of which each block is another.
type pattern struct{ at, size int64 }

func (p *pattern) Read(b []byte) (int, error) {
	if p.at == p.size {
		return 0, io.EOF
	}
	n := int(min(int64(len(b)), p.size-p.at, 32<<10))
	clear(b[:n])
	b[0], b[n-1] = byte(p.at>>15), byte(p.at>>23)
	p.at += int64(n)
	return n, nil
}
