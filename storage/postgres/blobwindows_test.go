package postgres

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
)

// shelf is a document from which windows are fetched.
type shelf struct {
	bytes   []byte
	fetched int // times
	fault   error
}

func (s *shelf) fetch(p []byte, offset int64) error {
	s.fetched++
	copy(p, s.bytes[offset:])
	return s.fault
}

func newShelf(size int) (*shelf, *windows) {
	p := make([]byte, size)
	rand.NewChaCha8([32]byte{}).Read(p)
	return &shelf{bytes: p}, &windows{size: int64(size)}
}

func TestWindowsAreWhatTheDocumentIs(t *testing.T) {
	s, w := newShelf(9*windowSize + 7)
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		from := random.IntN(len(s.bytes))
		want := s.bytes[from : from+random.IntN(min(3*windowSize, len(s.bytes)-from)+1)]
		got := make([]byte, len(want))
		if err := w.at(got, int64(from), s.fetch); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes at %d: %v", len(want), from, err)
		}
		if len(w.kept) > windowsMax {
			t.Fatalf("%d windows are kept", len(w.kept))
		}
	}
}

func TestSmallReadsAreFewQueries(t *testing.T) {
	s, w := newShelf(8 * windowSize)
	piece := make([]byte, 1000)
	for at := 0; at < len(s.bytes); at += len(piece) {
		part := piece[:min(len(piece), len(s.bytes)-at)]
		if err := w.at(part, int64(at), s.fetch); err != nil {
			t.Fatal(err)
		}
		if err := w.at(part[:1], int64(at/(3*windowSize)), s.fetch); err != nil { // back to the beginning
			t.Fatal(err)
		}
	}
	if s.fetched != 8 {
		t.Errorf("%d queries for 8 windows", s.fetched)
	}
}

func TestAWindowThatWasNotReadIsNotKept(t *testing.T) {
	s, w := newShelf(windowsMax * 2 * windowSize)
	got := make([]byte, 1)
	for at := int64(0); at < w.size; at += windowSize {
		s.fault = errors.New("no connection")
		if err := w.at(got, at, s.fetch); err != s.fault {
			t.Errorf("the error is %v", err)
		}
		s.fault = nil
		if err := w.at(got, at, s.fetch); err != nil || got[0] != s.bytes[at] {
			t.Errorf("at %d: %v", at, err)
		}
	}
}
