package jsonbody

import (
	"encoding/base64"
	"fmt"
	"io"
)

// Base64Len returns the length in bytes of the Base64 of n bytes.
func Base64Len(n int64) int64 {
	return (n + 2) / 3 * 4
}

// WriteBase64 writes prefix, the Base64 (RFC 4648 section 4, padded) of the first
// size bytes of r, and suffix, such as
//
//	{"signedFileB64":"…"}
//
// which together are len(prefix)+Base64Len(size)+len(suffix) bytes. A nil error
// means that w took them all. When r is shorter than size the error is
// io.ErrUnexpectedEOF; errors of r and w are wrapped.
func WriteBase64(w io.Writer, prefix string, r io.ReaderAt, size int64, suffix string) error {
	if _, err := io.WriteString(w, prefix); err != nil {
		return writeError(err)
	}
	if err := encode(w, io.NewSectionReader(r, 0, size), size); err != nil {
		return err
	}
	if _, err := io.WriteString(w, suffix); err != nil {
		return writeError(err)
	}
	return nil
}

// encode works on blocks of whole triples, so that only the last one is padded.
func encode(w io.Writer, r io.Reader, size int64) error {
	const most = blockBuffer / 4 * 3
	block := make([]byte, min(size, most))
	chars := make([]byte, Base64Len(int64(len(block))))
	for size > 0 {
		block = block[:min(size, most)]
		if _, err := io.ReadFull(r, block); err != nil {
			return readError(err)
		}
		size -= int64(len(block))
		base64.StdEncoding.Encode(chars, block)
		if _, err := w.Write(chars[:Base64Len(int64(len(block)))]); err != nil {
			return writeError(err)
		}
	}
	return nil
}

func readError(err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("jsonbody: read document: %w", err)
}

func writeError(err error) error {
	return fmt.Errorf("jsonbody: write: %w", err)
}
