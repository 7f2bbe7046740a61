package jsonbody

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestWriteBase64(t *testing.T) {
	all := document(blockBuffer * 3)
	const edge = blockBuffer / 4 * 3
	for _, n := range []int{0, 1, 2, 3, 4, 1000, edge - 1, edge, edge + 1, 2 * edge, len(all)} {
		var b strings.Builder
		const prefix, suffix = `{"signedFileB64":"`, `"}`
		if err := WriteBase64(&b, prefix, bytes.NewReader(all), int64(n), suffix); err != nil {
			t.Fatal(err)
		}
		if want := prefix + base64.StdEncoding.EncodeToString(all[:n]) + suffix; b.String() != want {
			t.Errorf("%d bytes were encoded incorrectly", n)
		}
		if got, want := int64(b.Len()), int64(len(prefix))+Base64Len(int64(n))+int64(len(suffix)); got != want {
			t.Errorf("%d bytes: wrote %d, Base64Len %d", n, got, want)
		}
	}
}

func TestWriteBase64Errors(t *testing.T) {
	all := document(blockBuffer)
	err := WriteBase64(io.Discard, "", bytes.NewReader(all), int64(len(all)+1), "")
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("document too short: error %v", err)
	}
	err = WriteBase64(io.Discard, "", bytes.NewReader(nil), 5, "")
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("empty document: error %v", err)
	}
	total := len(`{"`) + int(Base64Len(int64(len(all)))) + len(`"}`)
	for _, size := range []int{0, 1, 2, 100, total - 2, total - 1} {
		err := WriteBase64(&shortWriter{size}, `{"`, bytes.NewReader(all), int64(len(all)), `"}`)
		if !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("writer that accepts %d bytes: error %v", size, err)
		}
	}
	if err := WriteBase64(&shortWriter{total}, `{"`, bytes.NewReader(all), int64(len(all)), `"}`); err != nil {
		t.Error(err)
	}
}

// shortWriter accepts a number of bytes and then fails.
type shortWriter struct{ remaining int }

func (w *shortWriter) Write(p []byte) (int, error) {
	n := min(len(p), w.remaining)
	w.remaining -= n
	if n < len(p) {
		return n, io.ErrClosedPipe
	}
	return n, nil
}
