//go:build linux || darwin

package pdfium

import "syscall"

// reserve returns address space that cannot be used before commit.
func reserve(size int) ([]byte, error) {
	return syscall.Mmap(-1, 0, size, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
}

// commit makes a part of a reserved area usable, which is zero.
func commit(part []byte) error { return syscall.Mprotect(part, syscall.PROT_READ|syscall.PROT_WRITE) }

// unreserve returns a reserved area to the system.
func unreserve(area []byte) { syscall.Munmap(area) }
