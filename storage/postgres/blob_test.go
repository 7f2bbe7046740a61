package postgres

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
)

// source is a document from which a windowCache fetches.
type source struct {
	bytes   []byte
	fetched int // times
	fault   error
}

func (s *source) fetch(p []byte, offset int64) error {
	s.fetched++
	copy(p, s.bytes[offset:])
	return s.fault
}

// newCache returns a cache of a document, and the document.
func newCache(size int) (*source, *windowCache) {
	p := make([]byte, size)
	rand.NewChaCha8([32]byte{}).Read(p)
	return &source{bytes: p}, &windowCache{size: int64(size)}
}

func TestCachedReads(t *testing.T) {
	s, w := newCache(9*windowSize + 7)
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		from := random.IntN(len(s.bytes))
		want := s.bytes[from : from+random.IntN(min(3*windowSize, len(s.bytes)-from)+1)]
		got := make([]byte, len(want))
		if err := w.readAt(got, int64(from), s.fetch); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes at %d: %v", len(want), from, err)
		}
		if len(w.windows) > maxWindows {
			t.Fatalf("%d windows are cached", len(w.windows))
		}
	}
}

func TestSmallReadsMakeFewQueries(t *testing.T) {
	s, w := newCache(8 * windowSize)
	piece := make([]byte, 1000)
	for at := 0; at < len(s.bytes); at += len(piece) {
		part := piece[:min(len(piece), len(s.bytes)-at)]
		if err := w.readAt(part, int64(at), s.fetch); err != nil {
			t.Fatal(err)
		}
		if err := w.readAt(part[:1], int64(at/(3*windowSize)), s.fetch); err != nil { // back to the beginning
			t.Fatal(err)
		}
	}
	if s.fetched != 8 {
		t.Errorf("%d queries for 8 windows", s.fetched)
	}
}

func TestFailedFetchIsNotCached(t *testing.T) {
	s, w := newCache(maxWindows * 2 * windowSize)
	got := make([]byte, 1)
	for at := int64(0); at < w.size; at += windowSize {
		s.fault = errors.New("no connection")
		if err := w.readAt(got, at, s.fetch); err != s.fault {
			t.Errorf("the error is %v", err)
		}
		s.fault = nil
		if err := w.readAt(got, at, s.fetch); err != nil || got[0] != s.bytes[at] {
			t.Errorf("at %d: %v", at, err)
		}
	}
}
