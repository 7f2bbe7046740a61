//go:build !linux && !darwin

package pdfium

// On these systems the memory is in Go's heap, and is returned after a garbage collection.

func reserve(size int) ([]byte, error) { return make([]byte, size), nil }

func commit([]byte) error { return nil }

func unreserve([]byte) {}
