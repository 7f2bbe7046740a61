package pdf

import (
	"bytes"
	"testing"
)

func TestSpan(t *testing.T) {
	long := "<< /A (" + string(bytes.Repeat([]byte("x"), 5000)) + ") >>" // longer than the first window
	b := newBuilder()
	b.object(1, "  << /Type /Catalog >> % a comment\n")
	b.object(2, long)
	b.table(3, "/Root 1 0 R")
	content := b.Bytes()
	f, err := Open(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	for num, want := range map[uint32]string{1: "<< /Type /Catalog >>", 2: long} {
		start, end, ok, err := f.Span(Ref{Num: num})
		if err != nil || !ok || string(content[start:end]) != want {
			t.Errorf("object %d: %d to %d, %v, %v", num, start, end, ok, err)
		}
	}
	if _, _, ok, err := f.Span(Ref{Num: 9}); ok || err != nil {
		t.Errorf("an object that is not there: %v, %v", ok, err)
	}
}
